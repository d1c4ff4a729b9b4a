#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/cli/show/show_view.h"
#include "tools/view/segments/fragmentation_view.h"

namespace memoir {
namespace {

ShownText Show(const ShowRequest& request) {
  const auto maps = MapSegments(request.capture, request.selection, *ParseInstantChoice(request.arguments.at));
  if (!maps.ok()) return maps.status();
  if (request.arguments.json) return ToText(SegmentsJson(request.capture, *maps, request.arguments.at));
  constexpr std::uint32_t kSegments = 40;
  return RenderSegments(request.capture, *maps, InstantName(request.arguments.at), request.top(kSegments),
                        request.terminal);
}

std::string Complaint(const ShowArguments& arguments) {
  return arguments.at.empty() ? "--by segment shows one instant: add --at peak, or a time" : "";
}

}  // namespace

const ShowView kShowSegments = {
    .by = "segment",
    .by_help = "with --at, the map of a GPU's reserved memory",
    .complaint = Complaint,
    .show = Show,
};

}  // namespace memoir
