#include "tools/analyze/summary/summary.h"
#include "tools/cli/show/show_view.h"
#include "tools/view/summary/summary_json.h"
#include "tools/view/summary/summary_text.h"

namespace memoir {
namespace {

ShownText Show(const ShowRequest& request) {
  SummaryOptions options;
  static_cast<Selection&>(options) = request.selection;
  options.by = *ParseGroupBy(request.arguments.by);
  options.checkpointing = options.endings = !request.arguments.json;  // in JSON, checkpointing is a separate view
  const auto summary = AnalyzeSummary(request.capture, options);
  if (!summary.ok()) return summary.status();
  if (request.arguments.json) return ToText(SummaryJson(request.capture, *summary, request.top(0)));
  const bool windowed = request.selection.window.kind != SelectionWindow::Kind::kAll;
  return ChosenBlocksLine(request.selection) +
         RenderSummary(request.capture, *summary, {.top = request.top(10), .windowed = windowed}, request.terminal);
}

bool IsChosen(const ShowArguments& /*arguments*/) { return true; }

}  // namespace

const ShowView kShowSummary = {
    .is_chosen = IsChosen,
    .shows_blocks = true,
    .show = Show,
};

}  // namespace memoir
