#include "tools/view/picture/outline_font.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

// The external code causes these warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include "stb/stb_truetype.h"
#pragma GCC diagnostic pop

namespace memoir {

extern const unsigned char kFontFile[];  // Generated from font/DejaVuSans.ttf by the build

namespace {

constexpr double kCapital = 0.729;  // height of a capital letter, as a part of the font's size
constexpr std::uint32_t kReplacement = 0xfffd;

const stbtt_fontinfo& Face() {
  static const stbtt_fontinfo face = [] {
    stbtt_fontinfo info{};
    stbtt_InitFont(&info, kFontFile, 0);
    return info;
  }();
  return face;
}

float ScaleFor(double height) {
  return stbtt_ScaleForMappingEmToPixels(&Face(), static_cast<float>(height / kCapital));
}

// Removes the next letter from `text`, which must not be empty, and returns it.
std::uint32_t NextLetter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
  if (size == 0 || size > text.size()) {
    text.remove_prefix(1);
    return kReplacement;
  }
  std::uint32_t letter = size == 1 ? first : first & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) letter = letter << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  text.remove_prefix(size);
  return letter;
}

int GlyphOf(std::uint32_t letter) {
  const int glyph = stbtt_FindGlyphIndex(&Face(), static_cast<int>(letter));
  return glyph != 0 ? glyph : stbtt_FindGlyphIndex(&Face(), static_cast<int>(kReplacement));
}

double AdvanceOf(int glyph, float scale) {
  int advance = 0, bearing = 0;
  stbtt_GetGlyphHMetrics(&Face(), glyph, &advance, &bearing);
  return advance * static_cast<double>(scale);
}

struct FreeBitmap {
  void operator()(unsigned char* bitmap) const { stbtt_FreeBitmap(bitmap, nullptr); }
};

}  // namespace

double WidthOfText(std::string_view text, double height) {
  const float scale = ScaleFor(height);
  double width = 0;
  while (!text.empty()) width += AdvanceOf(GlyphOf(NextLetter(text)), scale);
  return width;
}

void DrawText(double x, double baseline, std::string_view text, double height,
              const std::function<void(int x, int y, double share)>& cover) {
  const float scale = ScaleFor(height);
  while (!text.empty()) {
    const int glyph = GlyphOf(NextLetter(text));
    const double column = std::floor(x), row = std::floor(baseline);
    int width = 0, rows = 0, left = 0, top = 0;
    const std::unique_ptr<unsigned char, FreeBitmap> bitmap(
        stbtt_GetGlyphBitmapSubpixel(&Face(), scale, scale, static_cast<float>(x - column),
                                     static_cast<float>(baseline - row), glyph, &width, &rows, &left, &top));
    for (int i = 0; bitmap != nullptr && i < width * rows; ++i)
      cover(static_cast<int>(column) + left + i % width, static_cast<int>(row) + top + i / width,
            bitmap.get()[i] / 255.0);
    x += AdvanceOf(glyph, scale);
  }
}

}  // namespace memoir
