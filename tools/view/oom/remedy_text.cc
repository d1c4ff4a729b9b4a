#include "tools/view/oom/remedy_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
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
  const std::string modules = Named(row.name) + " (" + FormatCounted(row.modules, "module", "modules") + ")";
  const std::string freed = FormatBytes(static_cast<std::uint64_t>(row.freed_bytes));
  return row.cut_off
             ? fmt::format("checkpointing {}: {} less by then (an estimate; the forward had not ended)", modules, freed)
             : fmt::format("checkpointing {}: up to {} less at the peak (an estimate)", modules, freed);
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
  return fmt::format("a smaller batch ({} grow with it): memoir fit --vary", FormatBytes(of_batch));
}

// Of torch's caching allocator. That the request would have fitted does not say that the rest of the forward does.
std::string SettingHelps(const OutOfMemory& error) {
  const Room& room = error.room;
  if (error.refusal) return "";
  if (room.cause == OutOfMemoryCause::kLimit) return "a larger fraction in torch.cuda.set_per_process_memory_fraction";
  if (room.cause != OutOfMemoryCause::kFragmentation) return "";
  const std::uint64_t free = room.own_free + error.device_free;
  const std::string text = fmt::format(
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, which makes one piece of free memory ({})", FormatBytes(free));
  if (error.phase != Phase::kForward || free < error.asked_bytes) return text;
  return text + fmt::format(": it leaves {} for the rest of the step", FormatBytes(free - error.asked_bytes));
}

}  // namespace

std::string WhatHelps(const OutOfMemory& error, const Summary& summary) {
  if (error.refusal && error.refusal->of_host) return "";
  std::vector<std::string> ways = {SettingHelps(error), CheckpointingHelps(error, summary), SmallerBatchHelps(error)};
  // A forward that had layers to go needs more than the one request.
  if (error.phase == Phase::kForward) std::ranges::rotate(ways, ways.begin() + 1);
  std::erase(ways, "");
  return fmt::format("{}", fmt::join(ways, "; "));
}

}  // namespace memoir
