#include "tools/view/picture/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

// The external code causes these warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include "stb/stb_image_write.h"
#pragma GCC diagnostic pop

#include "tools/view/picture/outline_font.h"

namespace memoir {
namespace {

constexpr int kMostPixels = 4096;

constexpr double kLetterHeight = 7;

// Replaces characters other than printable ASCII by '?', because a text chunk of PNG cannot contain UTF-8.
std::string Printable(std::string_view text) {
  std::string plain;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if ((code & 0xc0) == 0x80) continue;  // the rest of a character that has become '?'
    plain += code >= 32 && code < 127 ? letter : '?';
  }
  return plain;
}

void Append(void* to, void* data, int size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

std::string BigEndian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

// The checksum of PNG: polynomial 0xedb88320, inverted before and after.
std::uint32_t Checksum(std::string_view bytes) {
  std::uint32_t sum = ~0u;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
  }
  return ~sum;
}

std::string TextChunk(std::string_view description) {
  std::string body = "tEXtDescription";
  body += '\0';
  body += description;
  return BigEndian(static_cast<std::uint32_t>(body.size() - 4)) + body + BigEndian(Checksum(body));
}

}  // namespace

Canvas::Canvas(int width, int height, Pigment paper)
    : width_(std::clamp(width, 1, kMostPixels)), height_(std::clamp(height, 1, kMostPixels)) {
  const std::size_t pixels = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  pixels_.reserve(pixels * 3);
  for (std::size_t i = 0; i < pixels; ++i) pixels_.insert(pixels_.end(), {paper.red, paper.green, paper.blue});
}

void Canvas::Blend(int x, int y, double share, Pigment pigment) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_ || share <= 0) return;
  share = std::min(share, 1.0);
  const std::array<std::uint8_t, 3> colors = {pigment.red, pigment.green, pigment.blue};
  std::uint8_t* const pixel =
      &pixels_[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)) * 3];
  for (std::size_t i = 0; i < 3; ++i)
    pixel[i] = static_cast<std::uint8_t>(std::lround(pixel[i] * (1 - share) + colors[i] * share));
}

void Canvas::Fill(double left, double top, double right, double bottom, Pigment pigment) {
  for (int y = static_cast<int>(std::floor(top)); y < bottom && y < height_; ++y) {
    const double rows = std::min<double>(y + 1, bottom) - std::max<double>(y, top);
    for (int x = static_cast<int>(std::floor(left)); x < right && x < width_; ++x)
      Blend(x, y, rows * (std::min<double>(x + 1, right) - std::max<double>(x, left)), pigment);
  }
}

// Colours each pixel by its distance from the line, for smooth edges.
void Canvas::Line(double from_x, double from_y, double to_x, double to_y, double thickness, Pigment pigment) {
  const double across = to_x - from_x, down = to_y - from_y;
  const double squared = across * across + down * down;
  const int left = static_cast<int>(std::min(from_x, to_x) - thickness - 1);
  const int right = static_cast<int>(std::max(from_x, to_x) + thickness + 1);
  const int top = static_cast<int>(std::min(from_y, to_y) - thickness - 1);
  const int bottom = static_cast<int>(std::max(from_y, to_y) + thickness + 1);
  for (int y = std::max(top, 0); y <= std::min(bottom, height_ - 1); ++y) {
    for (int x = std::max(left, 0); x <= std::min(right, width_ - 1); ++x) {
      const double along = squared == 0 ? 0 : ((x + 0.5 - from_x) * across + (y + 0.5 - from_y) * down) / squared;
      const double at = std::clamp(along, 0.0, 1.0);
      const double distance = std::hypot(x + 0.5 - from_x - at * across, y + 0.5 - from_y - at * down);
      Blend(x, y, thickness / 2 + 0.5 - distance, pigment);
    }
  }
}

void Canvas::Curve(const std::vector<std::pair<double, double>>& points, double thickness, Pigment pigment) {
  for (std::size_t i = 1; i < points.size(); ++i)
    Line(points[i - 1].first, points[i - 1].second, points[i].first, points[i].second, thickness, pigment);
}

void Canvas::Disc(double x, double y, double radius, Pigment pigment) { Line(x, y, x, y, radius * 2, pigment); }

double Canvas::TextWidth(std::string_view text, double scale) { return WidthOfText(text, kLetterHeight * scale); }

void Canvas::Text(double x, double y, std::string_view text, double scale, Pigment pigment, Anchor anchor) {
  const double height = kLetterHeight * scale;
  if (anchor != Anchor::kLeft) x -= TextWidth(text, scale) / (anchor == Anchor::kMiddle ? 2 : 1);
  DrawText(x, y + height, text, height, [&](int column, int row, double share) { Blend(column, row, share, pigment); });
}

std::string Canvas::Png(std::string_view description) const {
  constexpr std::size_t kBehindHeader = 8 + 25;  // the signature and the IHDR chunk
  std::string bytes;
  stbi_write_png_to_func(&Append, &bytes, width_, height_, 3, pixels_.data(), width_ * 3);
  if (!description.empty() && bytes.size() > kBehindHeader)
    bytes.insert(kBehindHeader, TextChunk(Printable(description)));
  return bytes;
}

}  // namespace memoir
