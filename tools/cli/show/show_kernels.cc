#include "tools/analyze/calls/device_call_summary.h"
#include "tools/cli/show/show_view.h"
#include "tools/view/calls/device_calls_view.h"

namespace memoir {
namespace {

ShownText Show(const ShowRequest& request) {
  const auto calls = AnalyzeDeviceCalls(request.capture, request.selection);
  if (!calls.ok()) return calls.status();
  if (request.arguments.json) return ToText(DeviceCallsJson(request.capture, *calls, request.top(0)));
  return RenderDeviceCalls(request.capture, *calls, request.top(10), request.terminal);
}

}  // namespace

const ShowView kShowKernels = {
    .by = "kernel",
    .by_help = "launches of CUDA kernels, copies, waits and CUDA graphs",
    .refuses_at = "--by kernel is about a whole window; leave out --at",
    .show = Show,
};

}  // namespace memoir
