#include "tools/analyze/checkpointing/checkpointing.h"

#include <algorithm>
#include <utility>

#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/checkpointing/block_uses.h"
#include "tools/analyze/checkpointing/checkpoint_pass.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

absl::StatusOr<Checkpointing> AnalyzeCheckpointing(const Capture& capture, const Selection& selection) {
  const auto categories = CategorizeBlocks(capture, ReplayOptionsFor(selection, true, false));
  if (!categories.ok()) return categories.status();
  return AnalyzeCheckpointing(capture, selection, *categories);
}

absl::StatusOr<Checkpointing> AnalyzeCheckpointing(const Capture& capture, const Selection& selection,
                                                   const BlockCategories& categories) {
  ReplayOptions options = ReplayOptionsFor(selection, true, false);
  options.modules = true;
  const absl::StatusOr<BlockUses> uses = FindBlockUses(capture, options);
  if (!uses.ok()) return uses.status();
  CheckpointPass pass(capture, selection, categories, *uses);
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, options);
  if (!report.ok()) return report.status();
  if (!pass.selection_status().ok()) return pass.selection_status();
  Checkpointing checkpointing{pass.Take(), categories.missing, *std::move(report)};
  std::erase_if(checkpointing.devices, [](const CheckpointDevice& device) { return device.peak_bytes == 0; });
  // GPUs before hosts, then largest peak first.
  std::ranges::stable_sort(checkpointing.devices, [](const CheckpointDevice& a, const CheckpointDevice& b) {
    return std::pair(b.caching, b.peak_bytes) < std::pair(a.caching, a.peak_bytes);
  });
  return checkpointing;
}

}  // namespace memoir
