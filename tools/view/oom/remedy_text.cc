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
  const std::string checkpointing = CheckpointingHelps(error, summary);
  return text + (text.empty() || checkpointing.empty() ? "" : "; ") + checkpointing;
}

}  // namespace memoir
