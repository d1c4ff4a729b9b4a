#include "tools/analyze/time/operator_curve.h"
#include "tools/cli/show/show_view.h"
#include "tools/view/time/operator_curve_view.h"

namespace memoir {
namespace {

ShownText Show(const ShowRequest& request) {
  const auto curve = AnalyzeOperatorCurve(request.capture, request.selection);
  if (!curve.ok()) return curve.status();
  if (request.arguments.json) return ToText(OperatorCurveJson(request.capture, *curve, request.top(0)));
  return RenderOperatorCurve(request.capture, *curve, request.top(10), request.terminal);
}

bool IsChosen(const ShowArguments& arguments) { return arguments.over == "operators"; }

}  // namespace

const ShowView kShowOverOperators = {
    .is_chosen = IsChosen,
    .show = Show,
};

}  // namespace memoir
