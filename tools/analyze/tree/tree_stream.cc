#include "tools/analyze/tree/tree_stream.h"

#include <deque>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/analyze/tree/tree_stream_pass.h"

namespace memoir {
namespace {

// Runs one of the two replays. Fills `outcomes` if `see` is nullptr; otherwise calls `see` for each node.
Task<absl::StatusOr<ReplayReport>> StreamOnce(JointReplays& replays, const TreeStreamOptions& options,
                                              std::deque<NodeOutcome>& outcomes, const NodeFunction* see) {
  const std::string& path = replays.capture().path();
  TreeStreamPass pass(replays.capture(), options, outcomes, see);
  ReplayNeeds needs = {.modules = true, .stops_all = true};
  needs.go_on = [&] { return !pass.is_full() && (!options.go_on || options.go_on()); };
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, needs);
  if (!report.ok()) co_return report.status();
  if (pass.is_full())
    co_return absl::ResourceExhaustedError(
        absl::StrCat(path, " has more than ", TreeStreamOptions::kMostNodes,
                     " ranges and calls of modules there; choose a part: --from and --to, --steps or --range"));
  if (!pass.selection_status().ok()) co_return pass.selection_status();
  if (const absl::Status found = pass.thread().CheckFound(path); !found.ok()) co_return found;
  co_return report;
}

}  // namespace

Task<absl::StatusOr<ReplayReport>> StreamTree(JointReplays& replays, TreeStreamOptions options, NodeFunction see) {
  std::deque<NodeOutcome> outcomes;
  const absl::StatusOr<ReplayReport> found = co_await StreamOnce(replays, options, outcomes, nullptr);
  if (!found.ok()) co_return found.status();
  co_return co_await StreamOnce(replays, options, outcomes, &see);
}

absl::StatusOr<ReplayReport> StreamTree(const Capture& capture, const TreeStreamOptions& options,
                                        const NodeFunction& see) {
  JointReplays replays(capture, options);
  return replays.Finish(StreamTree(replays, options, see));
}

}  // namespace memoir
