#include "tools/view/oom/remedy_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/oom/holder_lists.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kNameInLine = 40;

// What would go on growing, whatever else is done.
std::string LeakHelps(const OutOfMemory& error) {
  if (!error.leaking) return "";
  const Leaking& leaking = *error.leaking;
  const std::string named =
      leaking.operator_name.empty() ? "code outside of any operator" : Named(leaking.operator_name);
  const std::string largest = leaking.line.known() ? ShownPlace(leaking.line, kNameInLine) : named;
  return fmt::format("fix the leak at {}{}: {} so far, {} more in every step (memoir check leaks)",
                     leaking.places == 1 ? "" : fmt::format("{} places, the largest ", leaking.places), largest,
                     FormatBytes(leaking.bytes), FormatBytes(leaking.bytes_per_step));
}

// Less than this part of what was allocated is not why memory ran out.
bool LeakIsWhy(const OutOfMemory& error) {
  constexpr std::uint64_t kSmallestPart = 10;
  return error.leaking && error.leaking->bytes >= error.allocated_bytes / kSmallestPart;
}

// Of the device's peak, so only where what was live when memory was refused was not much less.
std::string CheckpointingHelps(const OutOfMemory& error, const Summary& summary) {
  const auto device = std::ranges::find_if(summary.devices, [&](const DeviceRow& row) {
    return row.name == error.device && row.process == error.process && row.checkpointing.has_value();
  });
  if (device == summary.devices.end()) return "";
  if (LeakIsWhy(error)) return "";  // what it would free is kept of many steps
  if (error.allocated_bytes + error.asked_bytes < device->peak_allocated_bytes / 10 * 9) return "";
  const CheckpointRow& row = *device->checkpointing;
  const std::string modules = Named(row.name) + " (" + FormatCounted(row.modules, "module", "modules") +
                              (row.cut_off ? " called so far)" : ")");
  const std::string freed = FormatBytes(static_cast<std::uint64_t>(row.freed_bytes));
  return row.cut_off
             ? fmt::format("checkpointing {}: {} less by then (an estimate; the forward had not ended)", modules, freed)
             : fmt::format("checkpointing {}: up to {} less at the peak (an estimate)", modules, freed);
}

// How far the batch has to shrink is known where steps before had inputs of several sizes: the step that failed has not
// shown all that it needs. What backward never came for does not grow with a batch alone, it is kept.
std::string SmallerBatchHelps(const OutOfMemory& error) {
  // Of what is kept, inputs among it, a smaller batch only makes less.
  if (LeakIsWhy(error)) return "";
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
  ways.insert(LeakIsWhy(error) ? ways.begin() : ways.end(), LeakHelps(error));
  std::erase(ways, "");
  return fmt::format("{}", fmt::join(ways, "; "));
}

}  // namespace memoir
