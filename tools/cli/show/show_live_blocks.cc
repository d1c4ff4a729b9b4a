#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/time/live_block_table.h"
#include "tools/cli/show/show_view.h"
#include "tools/view/time/live_block_table_view.h"

namespace memoir {
namespace {

ShownText Show(const ShowRequest& request) {
  LiveBlockTableOptions options;
  static_cast<Selection&>(options) = request.selection;
  options.at = *ParseInstantChoice(request.arguments.at);
  options.by = *ParseGroupBy(request.arguments.by);
  const auto live = AnalyzeLiveBlockTable(request.capture, options);
  if (!live.ok()) return live.status();
  if (request.arguments.json)
    return ToText(LiveBlockTableJson(request.capture, *live, request.arguments.at, request.top(0)));
  return ChosenBlocksLine(request.selection) + RenderLiveBlockTable(request.capture, *live,
                                                                    InstantName(request.arguments.at), request.top(10),
                                                                    request.terminal);
}

bool IsChosen(const ShowArguments& arguments) { return !arguments.at.empty(); }

}  // namespace

const ShowView kShowLiveBlocks = {
    .is_chosen = IsChosen,
    .shows_blocks = true,
    .show = Show,
};

}  // namespace memoir
