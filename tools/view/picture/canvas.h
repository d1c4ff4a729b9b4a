// A picture for simple charts: rectangles, lines, points and text. Makes PNG files.
//
// Text is UTF-8, in the font of outline_font.h.
#ifndef TOOLS_VIEW_PICTURE_CANVAS_H_
#define TOOLS_VIEW_PICTURE_CANVAS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memoir {

// A colour.
struct Pigment {
  std::uint8_t red = 0, green = 0, blue = 0;
};

class Canvas {
 public:
  // At most 4,096 pixels on each side.
  Canvas(int width, int height, Pigment paper = {255, 255, 255});

  int width() const { return width_; }
  int height() const { return height_; }

  // Parts outside of the canvas are not drawn. Coordinates are pixels from the upper left corner.
  void Fill(double left, double top, double right, double bottom, Pigment pigment);
  void Line(double from_x, double from_y, double to_x, double to_y, double thickness, Pigment pigment);
  // Draws straight lines from point to point.
  void Curve(const std::vector<std::pair<double, double>>& points, double thickness, Pigment pigment);
  void Disc(double x, double y, double radius, Pigment pigment);

  enum class Anchor : std::uint8_t { kLeft, kMiddle, kRight };
  // At scale 1, capital letters are 7 pixels high. `y` is the top of capital letters.
  void Text(double x, double y, std::string_view text, double scale, Pigment pigment, Anchor anchor = Anchor::kLeft);
  static double TextWidth(std::string_view text, double scale);

  // `description`: ASCII text that is stored in the file, for programs that read it. Empty: no text.
  std::string Png(std::string_view description = "") const;

 private:
  void Blend(int x, int y, double share, Pigment pigment);

  const int width_, height_;
  std::vector<std::uint8_t> pixels_;  // red, green, blue
};

}  // namespace memoir

#endif  // TOOLS_VIEW_PICTURE_CANVAS_H_
