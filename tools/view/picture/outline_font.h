// The face of pictures: DejaVu Sans, reduced to Latin, Greek, Cyrillic and a few signs; it lies in the program
// (tools/view/picture/font).
//
// Text is UTF-8; a letter that the face lacks is drawn as its replacement sign.
#ifndef TOOLS_VIEW_PICTURE_OUTLINE_FONT_H_
#define TOOLS_VIEW_PICTURE_OUTLINE_FONT_H_

#include <functional>
#include <string_view>

namespace memoir {

// `height`: of a capital letter, in pixels, as in the functions below.
double WidthOfText(std::string_view text, double height);

// `cover(x, y, share)` for each pixel of the text, `share` of which is inked; `y` of the line it stands on counts down.
void DrawText(double x, double baseline, std::string_view text, double height,
              const std::function<void(int x, int y, double share)>& cover);

}  // namespace memoir

#endif  // TOOLS_VIEW_PICTURE_OUTLINE_FONT_H_
