#include "tools/view/oom/remedy_text.h"

#include <algorithm>
#include <cstdint>

#include "fmt/format.h"
#include "tools/view/oom/holder_lists.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Of the device's peak: what was live when memory was refused is seldom less.
std::string CheckpointingHelps(const OutOfMemory& error, const Summary& summary) {
  const auto device = std::ranges::find_if(summary.devices, [&](const DeviceRow& row) {
    return row.name == error.device && row.process == error.process && row.checkpointing.has_value();
  });
  if (device == summary.devices.end()) return "";
  const CheckpointRow& row = *device->checkpointing;
  return fmt::format("checkpointing {} ({}): up to {} less at the peak (an estimate)", Named(row.name),
                     FormatCounted(row.modules, "module", "modules"),
                     FormatBytes(static_cast<std::uint64_t>(row.freed_bytes)));
}

// How far the batch has to shrink is known where steps before had inputs of several sizes: the step that failed has not
// shown all that it needs. What backward never came for does not grow with a batch alone, it is kept.
std::string SmallerBatchHelps(const OutOfMemory& error) {
  if (error.fitting_input) {
    const FittingInput& input = *error.fitting_input;
    return fmt::format("a smaller batch: inputs of about {} would fit, these had {} (an estimate from {} steps)",
                       FormatBytes(input.fitting_bytes), FormatBytes(input.input_bytes), FormatCount(input.steps));
  }
  constexpr std::uint64_t kSmallestPart = 4;
  std::uint64_t all = 0, of_batch = 0;
  for (const Holder& holder : error.by_category) {
    all += holder.bytes;
    if (holder.name == "activation" || holder.name == "input") of_batch += holder.bytes;
  }
  if (of_batch == 0 || of_batch < all / kSmallestPart) return "";
  return fmt::format("a smaller batch (with it {} grow): memoir fit --vary", FormatBytes(of_batch));
}

}  // namespace

std::string WhatHelps(const OutOfMemory& error, const Summary& summary) {
  if (error.refusal && error.refusal->of_host) return "";
  const Room& room = error.room;
  std::string text;
  if (!error.refusal && room.cause == OutOfMemoryCause::kFragmentation) {
    text = fmt::format("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, which makes one piece of free memory ({})",
                       FormatBytes(room.own_free + error.device_free));
  }
  if (!error.refusal && room.cause == OutOfMemoryCause::kLimit)
    text = "a larger fraction in torch.cuda.set_per_process_memory_fraction";
  for (const std::string& more : {CheckpointingHelps(error, summary), SmallerBatchHelps(error)})
    text += (text.empty() || more.empty() ? "" : "; ") + more;
  return text;
}

}  // namespace memoir
