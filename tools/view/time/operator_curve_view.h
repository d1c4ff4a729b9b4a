// Prints the bytes of a device after each operator call, the calls that added most, and the markers of every iteration
// (fw_start, fw_bw_boundary and so on), as text and JSON.
#ifndef TOOLS_VIEW_TIME_OPERATOR_CURVE_VIEW_H_
#define TOOLS_VIEW_TIME_OPERATOR_CURVE_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/time/operator_curve.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Prints the `top` calls that added most, and as many iterations. 0: all calls in their order, and all iterations.
std::string RenderOperatorCurve(const Capture& capture, const OperatorCurve& curve, std::size_t top,
                                const Terminal& terminal);
// Contains the `top` calls that added most; 0: all calls. The calls are in the order of time.
Json OperatorCurveJson(const Capture& capture, const OperatorCurve& curve, std::size_t top);

// Returns "fw_start": {"call": 3, "time_ns": 17}, ... for the existing markers.
Json MarkersJson(const std::vector<Iteration>& iterations);

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_OPERATOR_CURVE_VIEW_H_
