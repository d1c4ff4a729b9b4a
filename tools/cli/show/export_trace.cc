#include "tools/cli/show/export_trace.h"

#include <cstdint>
#include <memory>

#include "tools/analyze/tree/tree_stream.h"
#include "tools/view/trace/chrome_trace.h"
#include "tools/view/trace/perfetto_trace.h"
#include "tools/view/trace/trace_feed.h"

namespace memoir {

bool IsTraceExport(std::string_view what) { return what == "perfetto" || what == "chrome"; }

absl::StatusOr<ReplayReport> ExportTrace(const Capture& capture, const TraceExport& asked, const Selection& selection,
                                         const std::function<void(std::string_view)>& write) {
  std::unique_ptr<TraceSink> sink;
  if (asked.what == "chrome") {
    sink = std::make_unique<ChromeTrace>(write);
  } else {
    sink = std::make_unique<PerfettoTrace>(write);
  }
  TraceFeed feed(capture, *sink);
  TreeStreamOptions options;
  static_cast<Selection&>(options) = selection;
  options.thread = asked.thread;
  options.go_on = asked.go_on;
  options.see_change = [&](const Event& event, DeviceId device, std::uint64_t live, const ReplayState& state) {
    feed.Changed(event, device, live, state);
  };
  options.see_run = [&](const KernelRunEvent& event, const ReplayState& state) { feed.Ran(event, state); };
  absl::StatusOr<ReplayReport> report =
      StreamTree(capture, options, [&](const StreamedNode& node, const ReplayState& state) { feed.Add(node, state); });
  if (report.ok()) feed.Finish();
  return report;
}

}  // namespace memoir
