// Computes, for each device, the peak that would have occurred without torch.compile's own allocations.
#ifndef TOOLS_ANALYZE_SUMMARY_FIGURES_COMPILE_PEAKS_H_
#define TOOLS_ANALYZE_SUMMARY_FIGURES_COMPILE_PEAKS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/analyze/summary/figures/row_table.h"
#include "tools/analyze/summary/figures/summary_figures.h"
#include "tools/model/event/event.h"

namespace memoir {

class CompilePeaks {
 public:
  // Call NoteAllocation, NoteDeallocation and SeeWindowOpen after the table has counted the event.
  void NoteAllocation(const Block& block, const DeviceTable& table, bool in_window) {
    if (!block.compiling && !any_) return;
    DevicePeak& device = At(block.device);
    if (block.compiling) {
      if (!device.any) device.peak_without = PeakBefore(block, table);
      any_ = device.any = true;
      device.live += block.bytes;
      if (block.slot != Block::kNoSlot) {
        if (block.slot >= compiling_.size()) compiling_.resize(block.slot + 1);
        compiling_[block.slot] = true;
      }
    }
    if (in_window) Note(table, device);
  }

  void NoteDeallocation(const Block& block) {
    if (!block.compiling) return;
    const bool slot = block.slot != Block::kNoSlot;
    if (slot && (block.slot >= compiling_.size() || !compiling_[block.slot])) return;  // not followed
    if (slot) compiling_[block.slot] = false;
    At(block.device).live -= block.bytes;
  }

  void SeeWindowOpen(const std::vector<DeviceTable>& tables, ProcessId process) {
    for (std::size_t i = 0; i < devices_.size() && i < tables.size(); ++i) {
      if (devices_[i].any && tables[i].used && tables[i].process == process) Note(tables[i], devices_[i]);
    }
  }

  // Call it after row.peak_allocated_bytes was set.
  void Finish(DeviceId id, DeviceRow& row) const {
    const DevicePeak device = id.value < devices_.size() ? devices_[id.value] : DevicePeak();
    row.compile_bytes_at_peak = device.at_peak;
    row.peak_without_compile_bytes = device.any ? device.peak_without : row.peak_allocated_bytes;
  }

 private:
  struct DevicePeak {
    std::uint64_t at_peak = 0;       // bytes of torch.compile that were live at the device's peak
    std::uint64_t peak_without = 0;  // peak of all other bytes
    std::uint64_t live = 0;          // bytes of torch.compile that are live now
    bool any = false;                // torch.compile allocated on the device
  };

  // Returns the device's peak before the allocation of `block`. If the allocation reached a new peak, returns the live
  // bytes before it.
  static std::uint64_t PeakBefore(const Block& block, const DeviceTable& table) {
    const bool is_peak = table.peaks > 0 && table.live.bytes == table.peak.bytes;
    return is_peak ? table.peak.bytes - block.bytes : table.peak.bytes;
  }
  static void Note(const DeviceTable& table, DevicePeak& device) {
    device.peak_without = std::max(device.peak_without, table.live.bytes - device.live);
    if (table.live.bytes == table.peak.bytes) device.at_peak = device.live;
  }
  DevicePeak& At(DeviceId device) {
    if (device.value >= devices_.size()) devices_.resize(device.value + 1);
    return devices_[device.value];
  }

  std::vector<DevicePeak> devices_;  // by DeviceId
  std::vector<bool> compiling_;      // whether DevicePeak::live includes a block, by Block::slot
  bool any_ = false;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_FIGURES_COMPILE_PEAKS_H_
