#include "tools/cli/export/export_tree.h"

#include <utility>
#include <vector>

#include "tools/analyze/calls/device_call_summary.h"
#include "tools/analyze/data_flow/tree_builder.h"
#include "tools/analyze/tree/tree_stream.h"
#include "tools/cli/export/export_trace.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/view/torch_profiler/profiler_tree.h"
#include "tools/view/tree/tree_json.h"

namespace memoir {
namespace {

absl::StatusOr<ReplayReport> ExportAsTorch(const Capture& capture, const TreeExport& asked, Selection selection,
                                           const std::function<void(std::string_view)>& write) {
  selection.forget_before = true;  // torch.profiler shows nothing from before its start
  // Includes CUDA calls if launches were recorded, as torch.profiler does with the activity CUDA.
  const EventTreeOptions options{.parameters = false, .calls = true, .device_calls = LaunchesAreRecorded(capture)};
  absl::StatusOr<EventTree> tree = BuildEventTree(capture, selection, options);
  if (!tree.ok()) return tree.status();
  WriteProfilerTree(*tree, !asked.no_memory, write);
  return std::move(tree->report);
}

}  // namespace

std::string ComplaintAbout(const TreeExport& asked, std::string_view what) {
  if (what != "tree") {
    if (!asked.thread.empty() && !IsTraceExport(what)) return "--thread works only with tree, perfetto and chrome";
    return asked.no_memory || !asked.format.empty() ? "--format and --no-memory work only with tree" : "";
  }
  const std::vector<std::string> formats = {"json", "torch"};
  if (!asked.format.empty() && asked.format != "json" && asked.format != "torch")
    return "--format " + asked.format + ": not one of json, torch" + DidYouMean(asked.format, formats);
  return asked.format == "torch" && !asked.thread.empty() ? "--thread works only with --format json" : "";
}

absl::StatusOr<ReplayReport> ExportTree(const Capture& capture, const TreeExport& asked, const Selection& selection,
                                        const std::function<void(std::string_view)>& write) {
  if (asked.format == "torch") return ExportAsTorch(capture, asked, selection, write);
  TreeStreamOptions options;
  static_cast<Selection&>(options) = selection;
  options.thread = asked.thread;
  options.memory = !asked.no_memory;
  options.go_on = asked.go_on;
  TreeJsonWriter writer(write);
  absl::StatusOr<ReplayReport> report = StreamTree(
      capture, options, [&](const StreamedNode& node, const ReplayState& state) { writer.Add(node, state); });
  if (report.ok()) writer.Flush();
  return report;
}

}  // namespace memoir
