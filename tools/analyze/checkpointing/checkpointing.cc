#include "tools/analyze/checkpointing/checkpointing.h"

#include <algorithm>
#include <utility>

#include "tools/analyze/checkpointing/block_uses.h"
#include "tools/analyze/checkpointing/checkpoint_pass.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

Task<absl::StatusOr<Checkpointing>> AnalyzeCheckpointing(SharedCategories& shared, Selection selection) {
  JointReplays& replays = shared.replays();
  shared.Find();  // begins to find the categories, in the same replay as the uses
  const Task<absl::StatusOr<BlockUses>> find_uses = FindBlockUses(replays);
  const absl::StatusOr<BlockUses>& uses = co_await find_uses;
  const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
  if (!uses.ok()) co_return uses.status();
  if (!categories.ok()) co_return categories.status();
  CheckpointPass pass(replays.capture(), selection, **categories, *uses);
  absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, {.tensors = true, .modules = true});
  if (!report.ok()) co_return report.status();
  if (!pass.selection_status().ok()) co_return pass.selection_status();
  Checkpointing checkpointing{pass.Take(), (*categories)->missing, *std::move(report)};
  std::erase_if(checkpointing.devices, [](const CheckpointDevice& device) { return device.peak_bytes == 0; });
  // GPUs before hosts, then largest peak first.
  std::ranges::stable_sort(checkpointing.devices, [](const CheckpointDevice& a, const CheckpointDevice& b) {
    return std::pair(b.caching, b.peak_bytes) < std::pair(a.caching, a.peak_bytes);
  });
  co_return checkpointing;
}

absl::StatusOr<Checkpointing> AnalyzeCheckpointing(const Capture& capture, const Selection& selection) {
  JointReplays replays(capture, selection);
  SharedCategories categories(replays);
  return replays.Finish(AnalyzeCheckpointing(categories, selection));
}

}  // namespace memoir
