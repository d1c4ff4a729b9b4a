// Peak against value as a picture.
#ifndef TOOLS_VIEW_FIT_FIT_CURVE_PNG_H_
#define TOOLS_VIEW_FIT_FIT_CURVE_PNG_H_

#include <string>

#include "tools/analyze/fit/fit_curve.h"

namespace memoir {

// A PNG file's bytes; 1200 by 750 pixels. Says that it is simulated, as the text does.
std::string FitCurvePng(const FitCurve& curve, const std::string& what);

}  // namespace memoir

#endif  // TOOLS_VIEW_FIT_FIT_CURVE_PNG_H_
