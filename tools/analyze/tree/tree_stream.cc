#include "tools/analyze/tree/tree_stream.h"

#include <deque>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/analyze/tree/tree_stream_pass.h"

namespace memoir {

absl::StatusOr<ReplayReport> StreamTree(const Capture& capture, const TreeStreamOptions& options,
                                        const NodeFunction& see) {
  const Capture::SharedDecoding decoded(capture);
  std::deque<NodeOutcome> outcomes;
  absl::StatusOr<ReplayReport> report;
  for (const NodeFunction* seen : {static_cast<const NodeFunction*>(nullptr), &see}) {
    TreeStreamPass pass(capture, options, outcomes, seen);
    ReplayOptions replay = ReplayOptionsFor(options, false, false);
    replay.modules = true;
    if (options.progress)
      replay.progress = [&](double done) { options.progress(seen == nullptr ? done / 2 : 0.5 + done / 2); };
    replay.go_on = [&] { return !pass.is_full() && (!options.go_on || options.go_on()); };
    report = capture.Replay(pass, replay);
    if (!report.ok()) return report.status();
    if (pass.is_full())
      return absl::ResourceExhaustedError(
          absl::StrCat(capture.path(), " has more than ", TreeStreamOptions::kMostNodes,
                       " ranges and calls of modules there; choose a part: --from and --to, --steps or --range"));
    if (!pass.selection_status().ok()) return pass.selection_status();
    if (const absl::Status found = pass.thread().CheckFound(capture.path()); !found.ok()) return found;
  }
  return report;
}

}  // namespace memoir
