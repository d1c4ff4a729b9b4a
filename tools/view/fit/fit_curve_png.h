// Draws the peak as a function of the varied value.
#ifndef TOOLS_VIEW_FIT_FIT_CURVE_PNG_H_
#define TOOLS_VIEW_FIT_FIT_CURVE_PNG_H_

#include <string>

#include "tools/analyze/fit/fit_curve.h"

namespace memoir {

// Returns the bytes of a PNG file of 1200 by 750 pixels. The picture states that it is simulated, as the text does.
std::string FitCurvePng(const FitCurve& curve, const std::string& what);

}  // namespace memoir

#endif  // TOOLS_VIEW_FIT_FIT_CURVE_PNG_H_
