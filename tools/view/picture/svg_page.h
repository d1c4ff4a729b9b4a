// A picture with the shapes of a Canvas except discs, as SVG, which browsers and editors show sharp at any size. The
// file loads and runs nothing, and all text in it is escaped.
#ifndef TOOLS_VIEW_PICTURE_SVG_PAGE_H_
#define TOOLS_VIEW_PICTURE_SVG_PAGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/view/picture/canvas.h"

namespace memoir {

class SvgPage {
 public:
  SvgPage(int width, int height, Pigment paper = {255, 255, 255});

  // These functions have the same arguments and effects as the functions of Canvas.
  void Fill(double left, double top, double right, double bottom, Pigment pigment);
  void Line(double from_x, double from_y, double to_x, double to_y, double thickness, Pigment pigment);
  void Curve(const std::vector<std::pair<double, double>>& points, double thickness, Pigment pigment);
  void Text(double x, double y, std::string_view text, double scale, Pigment pigment,
            Canvas::Anchor anchor = Canvas::Anchor::kLeft);

  std::string Svg() const { return shapes_ + "</svg>\n"; }

 private:
  std::string shapes_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_PICTURE_SVG_PAGE_H_
