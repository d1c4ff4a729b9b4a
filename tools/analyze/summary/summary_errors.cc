#include "tools/analyze/summary/summary_errors.h"

#include <algorithm>
#include <utility>

#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/summary/endings.h"

namespace memoir {

absl::Status AddCheckpointing(const Capture& capture, const Selection& selection, const BlockCategories& categories,
                              Summary& summary) {
  const auto checkpointing = AnalyzeCheckpointing(capture, selection, categories);
  if (!checkpointing.ok()) return checkpointing.status();
  for (DeviceRow& row : summary.devices) {
    for (const CheckpointDevice& device : checkpointing->devices) {
      const bool same = device.process == row.process && device.name == row.name && !row.peak_is_evicted;
      if (const CheckpointRow* best = same ? device.best() : nullptr) row.checkpointing = *best;
    }
  }
  return absl::OkStatus();
}

absl::Status AddCheckpointing(const Capture& capture, const Selection& selection, Summary& summary) {
  const auto categories = CategorizeBlocks(capture, ReplayOptionsFor(selection, true, false));
  if (!categories.ok()) return categories.status();
  return AddCheckpointing(capture, selection, *categories, summary);
}

bool RanOutOfMemory(const Summary& summary) {
  const auto ran_out = [](const DeviceRow& device) { return device.num_ooms > 0; };
  return summary.refusals > 0 || std::ranges::any_of(summary.devices, ran_out);
}

absl::Status AddEndings(const Capture& capture, const Selection& selection, Summary& summary) {
  auto endings = AnalyzeEndings(capture, selection, summary.report);
  if (!endings.ok()) return endings.status();
  summary.endings = *std::move(endings);
  return absl::OkStatus();
}

absl::Status AddOutOfMemory(const Capture& capture, const Selection& selection, Summary& summary) {
  if (!RanOutOfMemory(summary)) return absl::OkStatus();
  auto errors = AnalyzeOutOfMemory(capture, selection);
  if (!errors.ok()) return errors.status();
  summary.out_of_memory = *std::move(errors);
  return absl::OkStatus();
}

}  // namespace memoir
