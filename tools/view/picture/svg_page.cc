#include "tools/view/picture/svg_page.h"

#include "fmt/format.h"
#include "tools/model/event/dictionary.h"

namespace memoir {
namespace {

std::string ColorOf(Pigment pigment) {
  return fmt::format("#{:02x}{:02x}{:02x}", pigment.red, pigment.green, pigment.blue);
}

// Characters that XML does not allow even as entities become U+FFFD.
std::string XmlText(std::string_view text) {
  std::string escaped;
  for (const char letter : ToUtf8(text)) {
    if (letter == '&') {
      escaped += "&amp;";
    } else if (letter == '<') {
      escaped += "&lt;";
    } else if (letter == '>') {
      escaped += "&gt;";
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      escaped += "\xef\xbf\xbd";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

const char* AnchorName(Canvas::Anchor anchor) {
  switch (anchor) {
    case Canvas::Anchor::kLeft:
      return "start";
    case Canvas::Anchor::kMiddle:
      return "middle";
    case Canvas::Anchor::kRight:
      return "end";
  }
  return "start";
}

}  // namespace

SvgPage::SvgPage(int width, int height, Pigment paper)
    : shapes_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                          "viewBox=\"0 0 {0} {1}\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n"
                          "<rect width=\"{0}\" height=\"{1}\" fill=\"{2}\"/>\n",
                          width, height, ColorOf(paper))) {}

void SvgPage::Fill(double left, double top, double right, double bottom, Pigment pigment) {
  shapes_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", left,
                         top, right - left, bottom - top, ColorOf(pigment));
}

void SvgPage::Line(double from_x, double from_y, double to_x, double to_y, double thickness, Pigment pigment) {
  shapes_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{:.1f}\"/>\n", from_x,
      from_y, to_x, to_y, ColorOf(pigment), thickness);
}

void SvgPage::Curve(const std::vector<std::pair<double, double>>& points, double thickness, Pigment pigment) {
  shapes_ +=
      fmt::format("<polyline fill=\"none\" stroke-linejoin=\"round\" stroke=\"{}\" stroke-width=\"{:.1f}\" points=\"",
                  ColorOf(pigment), thickness);
  for (const auto& [x, y] : points) shapes_ += fmt::format("{:.1f},{:.1f} ", x, y);
  shapes_ += "\"/>\n";
}

void SvgPage::Text(double x, double y, std::string_view text, double scale, Pigment pigment, Canvas::Anchor anchor) {
  constexpr double kLetter = 7;  // height of a Canvas's letters; `y` is their top, but SVG needs their base line
  shapes_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\" fill=\"{}\" text-anchor=\"{}\">{}</text>\n", x,
                  y + kLetter * scale, kLetter * scale * 1.37, ColorOf(pigment), AnchorName(anchor), XmlText(text));
}

}  // namespace memoir
