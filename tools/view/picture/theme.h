// The colours of pictures, light and dark. The page of `memoir report` has the same colours (tools/web/src/style.css).
#ifndef TOOLS_VIEW_PICTURE_THEME_H_
#define TOOLS_VIEW_PICTURE_THEME_H_

#include "tools/view/picture/canvas.h"

namespace memoir {

struct Theme {
  Pigment paper, ink, soft;  // soft: secondary text
  Pigment grid, quiet;       // quiet: time without events
  Pigment step_even, step_odd;
  Pigment forward, backward, optimizer;
  Pigment allocated, active, reserved;
};

inline constexpr Theme kLight = {.paper = {255, 255, 255},
                                 .ink = {22, 24, 29},
                                 .soft = {90, 98, 112},
                                 .grid = {226, 229, 234},
                                 .quiet = {240, 242, 245},
                                 .step_even = {218, 223, 230},
                                 .step_odd = {236, 239, 243},
                                 .forward = {168, 203, 232},
                                 .backward = {230, 179, 166},
                                 .optimizer = {188, 216, 169},
                                 .allocated = {31, 119, 180},
                                 .active = {22, 24, 29},
                                 .reserved = {44, 130, 44}};
inline constexpr Theme kDark = {.paper = {22, 25, 30},
                                .ink = {233, 236, 241},
                                .soft = {155, 164, 178},
                                .grid = {50, 56, 66},
                                .quiet = {33, 37, 44},
                                .step_even = {58, 66, 78},
                                .step_odd = {44, 50, 60},
                                .forward = {127, 169, 203},
                                .backward = {200, 141, 126},
                                .optimizer = {147, 179, 125},
                                .allocated = {88, 160, 220},
                                .active = {233, 236, 241},
                                .reserved = {110, 200, 110}};

}  // namespace memoir

#endif  // TOOLS_VIEW_PICTURE_THEME_H_
