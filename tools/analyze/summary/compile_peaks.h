// How high a device's memory would have been without what torch.compile made while it worked.
#ifndef TOOLS_ANALYZE_SUMMARY_COMPILE_PEAKS_H_
#define TOOLS_ANALYZE_SUMMARY_COMPILE_PEAKS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/analyze/summary/row_table.h"
#include "tools/model/event.h"

namespace memoir {

class CompilePeaks {
 public:
  // Each after the table counts it.
  void Allocated(const Block& block, const DeviceTable& table, bool in_window) {
    if (!block.compiling && !any_) return;
    OfDevice& device = At(block.device);
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

  void Deallocated(const Block& block) {
    if (!block.compiling) return;
    const bool slot = block.slot != Block::kNoSlot;
    if (slot && (block.slot >= compiling_.size() || !compiling_[block.slot])) return;  // it is not followed
    if (slot) compiling_[block.slot] = false;
    At(block.device).live -= block.bytes;
  }

  void WindowOpens(const std::vector<DeviceTable>& tables, ProcessId process) {
    for (std::size_t i = 0; i < devices_.size() && i < tables.size(); ++i) {
      if (devices_[i].any && tables[i].used && tables[i].process == process) Note(tables[i], devices_[i]);
    }
  }

  // Once the row knows the device's peak.
  void Finish(DeviceId id, DeviceRow& row) const {
    const OfDevice device = id.value < devices_.size() ? devices_[id.value] : OfDevice();
    row.compile_bytes_at_peak = device.at_peak;
    row.peak_without_compile_bytes = device.any ? device.peak_without : row.peak_allocated_bytes;
  }

 private:
  struct OfDevice {
    std::uint64_t at_peak = 0;       // bytes of torch.compile's that were live at the device's peak
    std::uint64_t peak_without = 0;  // most that was live but for such bytes
    std::uint64_t live = 0;
    bool any = false;  // it made some there
  };

  // The block may have made a new peak, which was `live` less itself a moment ago.
  static std::uint64_t PeakBefore(const Block& block, const DeviceTable& table) {
    const bool is_peak = table.peaks > 0 && table.live.bytes == table.peak.bytes;
    return is_peak ? table.peak.bytes - block.bytes : table.peak.bytes;
  }
  static void Note(const DeviceTable& table, OfDevice& device) {
    device.peak_without = std::max(device.peak_without, table.live.bytes - device.live);
    if (table.live.bytes == table.peak.bytes) device.at_peak = device.live;
  }
  OfDevice& At(DeviceId device) {
    if (device.value >= devices_.size()) devices_.resize(device.value + 1);
    return devices_[device.value];
  }

  std::vector<OfDevice> devices_;  // by DeviceId
  std::vector<bool> compiling_;    // by Block::slot
  bool any_ = false;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_COMPILE_PEAKS_H_
