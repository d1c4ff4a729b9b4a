#include "tools/analyze/tree/range_tree_analysis.h"

#include <utility>

#include "absl/status/status.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/tree/merged_tree_pass.h"
#include "tools/analyze/tree/tree_cut.h"

namespace memoir {

absl::StatusOr<RangeTree> AnalyzeRangeTree(const Capture& capture, const RangeTreeOptions& options) {
  RangeTree tree;
  MergedTreePass* merged = nullptr;
  MergedTreePass pass(capture, options, options.thread, options.calls,
                      [&](const ReplayState& state) { tree = CutTree(merged->tree(), state, options); });
  merged = &pass;
  ReplayOptions replay = ReplayOptionsFor(options, false, false);
  replay.modules = true;
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, replay);
  if (!report.ok()) return report.status();
  if (!pass.selection_status().ok()) return pass.selection_status();
  if (const absl::Status found = pass.thread().CheckFound(capture.path()); !found.ok()) return found;
  tree.report = *std::move(report);
  return tree;
}

}  // namespace memoir
