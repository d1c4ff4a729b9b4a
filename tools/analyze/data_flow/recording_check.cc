#include "tools/analyze/data_flow/recording_check.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "tools/model/import_source.h"

namespace memoir {
namespace {

bool IsRecorded(const Capture& capture, ProcessId process, std::string_view what) {
  const auto& sources = capture.processes()[process.value].info.sources();
  return std::find(sources.begin(), sources.end(), what) != sources.end();
}

absl::Status Missing(const Capture& capture, std::string_view what) {
  return absl::FailedPreconditionError(capture.path() + ": " + std::string(what));
}

}  // namespace

absl::Status CheckTreeIsRecorded(const Capture& capture, const EventTree& tree, bool parameters) {
  if (!tree.process.valid()) return absl::OkStatus();
  if (IsImported(capture)) {
    return Missing(capture, DescribeImport(ImportSourceOf(capture)) +
                                " has no tensors, which torch.profiler's rules are about: record with memoir run");
  }
  if (IsRecorded(capture, tree.process, "dispatch")) {
    return Missing(capture,
                   "its operators are those below autograd, and torch.profiler's rules are for those above: record "
                   "without --ops dispatch");
  }
  if (parameters && !IsRecorded(capture, tree.process, "modules")) {
    return Missing(capture,
                   "modules were not recorded, and torch.profiler's rules know parameters by them: record without "
                   "--modules off");
  }
  const bool switched =
      tree.process.value < tree.report.processes.size() && tree.report.processes[tree.process.value].gap_count > 0;
  const auto is_range = [](const TreeNode& node) { return node.kind == TreeNode::Kind::kRange; };
  if (switched && !tree.nodes.empty() && std::ranges::none_of(tree.nodes, is_range)) {
    return Missing(capture,
                   "no operators were recorded there, which torch.profiler's rules are about: record without --start "
                   "memory, or choose a window in which recording was on");
  }
  return absl::OkStatus();
}

}  // namespace memoir
