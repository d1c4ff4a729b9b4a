// Writes the comparison of two captures as JSON (docs/json.md).
#ifndef TOOLS_VIEW_COMPARE_COMPARE_JSON_H_
#define TOOLS_VIEW_COMPARE_COMPARE_JSON_H_

#include <string>

#include "tools/analyze/compare/comparison.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"

namespace memoir {

// `at`: the value of --at. `headline`: the result of Headline().
Json CompareJson(const Capture& a, const Capture& b, const Comparison& comparison, const std::string& at,
                 const std::string& headline);

}  // namespace memoir

#endif  // TOOLS_VIEW_COMPARE_COMPARE_JSON_H_
