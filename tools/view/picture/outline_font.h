// The font of pictures: DejaVu Sans, reduced to Latin, Greek, Cyrillic and a few signs. It is part of the program
// (tools/view/picture/font).
//
// Text is UTF-8. A letter that the font lacks is drawn as the replacement sign.
#ifndef TOOLS_VIEW_PICTURE_OUTLINE_FONT_H_
#define TOOLS_VIEW_PICTURE_OUTLINE_FONT_H_

#include <functional>
#include <string_view>

namespace memoir {

// Returns the width of the text in pixels. `height`: height of a capital letter in pixels, here and below.
double WidthOfText(std::string_view text, double height);

// Calls `cover(x, y, share)` for each pixel of the text, where `share` is the inked part of the pixel. `baseline` is
// the y of the line on which letters stand; y grows downwards.
void DrawText(double x, double baseline, std::string_view text, double height,
              const std::function<void(int x, int y, double share)>& cover);

}  // namespace memoir

#endif  // TOOLS_VIEW_PICTURE_OUTLINE_FONT_H_
