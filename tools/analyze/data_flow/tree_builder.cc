#include "tools/analyze/data_flow/tree_builder.h"

#include <utility>

#include "absl/status/status.h"
#include "tools/analyze/data_flow/event_tree_pass.h"
#include "tools/analyze/data_flow/recorded_enough.h"
#include "tools/analyze/pass/block_filter.h"

namespace memoir {

absl::StatusOr<EventTree> BuildEventTree(const Capture& capture, const Selection& selection,
                                         const EventTreeOptions& asked) {
  const Selection whole = selection.OfAllBlocks();
  BlockFilter filter(selection);
  EventTreePass pass(capture, whole, filter, asked);
  ReplayOptions options = ReplayOptionsFor(selection, true, false);
  options.modules = true;  // which of a module's enters are of a gradient
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, options);
  if (!report.ok()) return report.status();
  if (!pass.found().ok()) return pass.found();
  if (const absl::Status found = filter.Found(capture.path()); !found.ok()) return found;
  EventTree tree = pass.Take();
  tree.report = *std::move(report);
  if (const absl::Status enough = RecordedEnough(capture, tree, asked.parameters); !enough.ok()) return enough;
  return tree;
}

}  // namespace memoir
