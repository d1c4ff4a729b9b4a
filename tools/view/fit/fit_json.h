// The results of `memoir fit --json` (docs/json.md), with exact bytes and every run. Keys are stable.
#ifndef TOOLS_VIEW_FIT_FIT_JSON_H_
#define TOOLS_VIEW_FIT_FIT_JSON_H_

#include <string>
#include <vector>

#include "tools/analyze/fit/fit.h"
#include "tools/analyze/fit/fit_curve.h"
#include "tools/view/json/json.h"

namespace memoir {

Json FitJson(const std::vector<FitCard>& cards, const std::vector<std::string>& command);
Json FitCurveJson(const FitCurve& curve, const std::vector<std::string>& command);

}  // namespace memoir

#endif  // TOOLS_VIEW_FIT_FIT_JSON_H_
