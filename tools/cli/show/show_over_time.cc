#include "tools/analyze/time/wider_buckets.h"
#include "tools/cli/show/drawn_over_time.h"
#include "tools/cli/show/show_view.h"
#include "tools/view/time/over_time_picture.h"
#include "tools/view/time/over_time_view.h"

namespace memoir {
namespace {

// A picture has more points than a line of text. One analysis is used for both: the picture's number of points is a
// multiple of the text's number.
ShownText Show(const ShowRequest& request) {
  const bool drawn = request.arguments.draws();
  constexpr std::size_t kJsonBuckets = 100;  // the same on every terminal
  std::size_t shown = request.arguments.json ? kJsonBuckets : ChartColumns(request.terminal);
  while (drawn && kPictureBuckets % shown != 0) --shown;
  OverTimeOptions options;
  static_cast<Selection&>(options) = request.selection;
  options.buckets = drawn ? kPictureBuckets : shown;
  options.categories = request.arguments.by == "category";
  constexpr double kMostStartUp = 0.2;  // of the columns
  if (!request.arguments.json) options.most_start_up = kMostStartUp;
  const auto analyzed = AnalyzeOverTime(request.capture, options);
  if (!analyzed.ok()) return analyzed.status();
  if (drawn) {
    const absl::Status status = DrawOverTime(request.capture, *analyzed,
                                             {request.arguments.png, request.arguments.svg, request.arguments.dark});
    if (!status.ok()) return status;
  }
  const OverTimeCurves over_time = WithBuckets(*analyzed, shown);
  return request.arguments.json
             ? ToText(OverTimeJson(request.capture, over_time))
             : ChosenBlocksLine(request.selection) + RenderOverTime(request.capture, over_time, request.terminal);
}

bool IsChosen(const ShowArguments& arguments) { return arguments.over == "time"; }

}  // namespace

const ShowView kShowOverTime = {
    .is_chosen = IsChosen,
    .shows_blocks = true,
    .show = Show,
};

}  // namespace memoir
