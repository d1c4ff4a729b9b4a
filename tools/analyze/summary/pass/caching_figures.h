// Active and reserved bytes, retries and out-of-memory errors of devices with a caching allocator. Also counts, for any
// device, the allocations in regions that torch.compile made.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_CACHING_FIGURES_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_CACHING_FIGURES_H_

#include <cstdint>
#include <map>

#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/analyze/summary/pass/window_steps.h"
#include "tools/model/event/event.h"

namespace memoir {

// A number of allocations in regions that torch.compile made, and their bytes.
struct CompiledSums {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
  bool operator==(const CompiledSums&) const = default;
};

class CachingFigures {
 public:
  CachingFigures(SharedSummaryState& shared, WindowSteps& steps) : shared_(shared), steps_(steps) {}

  // Call it when a window opens, after the table has opened it: the bytes at the begin may be the window's peak.
  void OpenWindow(const Event& event);
  void CloseWindow(const Event& event);
  // Call it after every event that changes the memory of the device's allocator.
  void NoteMemory(const Event& event, DeviceId id);
  // Call it when the allocated bytes of the device reach a new peak.
  void NoteAtPeak(DeviceId id);
  // Counts a block of a region that torch.compile made, unless the operation that allocated the block is known.
  void CountCompiled(const Block& block) {
    if (block.in_compiled_region && shared_.dictionary().origins(block.callstack).empty()) AddCompiled(block);
  }
  // Gives the device a row, even if no block was allocated on it.
  void NoteOutOfMemory(const OutOfMemoryEvent& event);
  // Gives the device a row, even if no block was allocated on it.
  void NoteStatistics(const DeviceStatisticsEvent& event);
  void FillRow(DeviceId id, const DeviceTable& table, DeviceRow& row) const;

  // Returns true if a device has a caching allocator.
  bool has_device() const { return has_device_; }
  // The allocations in compiled regions so far, for each device that has figures.
  std::map<DeviceId, CompiledSums> compiled() const;
  void set_compiled(const std::map<DeviceId, CompiledSums>& compiled);

 private:
  // Figures of one device inside the window. All but `compiled` need a caching allocator.
  struct Figures {
    bool caching = false;
    std::uint64_t peak_active = 0;
    Tick peak_active_tick = 0;
    std::uint64_t peak_reserved = 0;
    Tick peak_reserved_tick = 0;
    std::uint64_t active_at_end = 0;
    std::uint64_t reserved_at_end = 0;
    std::uint64_t active_at_peak = 0;
    std::uint64_t requested_at_peak = 0;  // requested bytes of active blocks
    std::uint64_t reserved_at_peak = 0;
    std::uint64_t retries = 0;  // number of retries in closed windows
    std::uint64_t ooms = 0;
    std::uint64_t retries_at_begin = 0;  // number of retries of the allocator before the open window began
    std::uint64_t ooms_at_begin = 0;
    CompiledSums compiled;
  };
  void NotePeaks(const Event& event, DeviceId id);
  void AddCompiled(const Block& block);
  const DeviceMemory& MemoryOf(DeviceId id) const { return shared_.replay().memory(id); }

  SharedSummaryState& shared_;
  WindowSteps& steps_;
  bool has_device_ = false;
  std::map<DeviceId, Figures> figures_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_CACHING_FIGURES_H_
