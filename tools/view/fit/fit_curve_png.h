// Draws the device's peak over the values that `memoir fit --vary` tried.
#ifndef TOOLS_VIEW_FIT_FIT_CURVE_PNG_H_
#define TOOLS_VIEW_FIT_FIT_CURVE_PNG_H_

#include <string>

#include "tools/analyze/fit/fit_curve.h"

namespace memoir {

// Returns a PNG file of 1200 by 750 pixels, which states that its figures are simulated. `what`: the program's name.
std::string FitCurvePng(const FitCurve& curve, const std::string& what);

}  // namespace memoir

#endif  // TOOLS_VIEW_FIT_FIT_CURVE_PNG_H_
