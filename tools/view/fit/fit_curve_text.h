// Prints the device's peak for the values that `memoir fit --vary` tried: a bar for each value, and the card's memory
// as a line across the bars.
#ifndef TOOLS_VIEW_FIT_FIT_CURVE_TEXT_H_
#define TOOLS_VIEW_FIT_FIT_CURVE_TEXT_H_

#include <string>

#include "tools/analyze/fit/fit_curve.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Returns "the largest BATCH that fits is 96": one line without a newline.
std::string CurveAnswer(const FitCurve& curve);
std::string RenderFitCurve(const FitCurve& curve, const std::string& what, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_FIT_FIT_CURVE_TEXT_H_
