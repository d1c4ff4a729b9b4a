#include "tools/analyze/data_flow/tree_builder.h"

#include <utility>

#include "absl/status/status.h"
#include "tools/analyze/data_flow/event_tree_pass.h"
#include "tools/analyze/data_flow/recording_check.h"
#include "tools/analyze/pass/window/block_filter.h"

namespace memoir {

absl::StatusOr<EventTree> BuildEventTree(const Capture& capture, const Selection& selection,
                                         const EventTreeOptions& asked) {
  const Selection whole = selection.WithAllBlocks();
  BlockFilter filter(selection);
  EventTreePass pass(capture, whole, filter, asked);
  ReplayOptions options = ReplayOptionsFor(selection, true, false);
  options.modules = true;  // ModuleEvent::of_gradient needs this option
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, options);
  if (!report.ok()) return report.status();
  if (!pass.selection_status().ok()) return pass.selection_status();
  if (const absl::Status found = filter.CheckFound(capture.path()); !found.ok()) return found;
  EventTree tree = pass.Take();
  tree.report = *std::move(report);
  if (const absl::Status enough = CheckTreeIsRecorded(capture, tree, asked.parameters); !enough.ok()) return enough;
  return tree;
}

}  // namespace memoir
