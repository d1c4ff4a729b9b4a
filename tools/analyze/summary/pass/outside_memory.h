// Memory of GPUs outside of torch's caching allocator: driver allocations, refused requests, and free bytes.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_OUTSIDE_MEMORY_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_OUTSIDE_MEMORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/model/event/event.h"

namespace memoir {

class OutsideMemory {
 public:
  explicit OutsideMemory(SharedSummaryState& shared) : shared_(shared) {}

  // Adds the driver allocations that are live when a window opens.
  void OpenWindow(const Event& event);
  void NoteAllocation(const DriverAllocateEvent& event);
  void CountRefusal(const DriverRefusedEvent& event);
  void NoteSample(const DeviceSampleEvent& event);
  void FillRow(DeviceId id, DeviceRow& row) const;

 private:
  // Figures of one device inside the window.
  struct Figures {
    std::uint64_t bytes = 0;                  // maximum of the driver allocations
    std::vector<HoldingRow> holders;          // owners of these bytes
    std::optional<std::uint64_t> least_free;  // fewest free bytes in a device sample
    std::uint64_t total = 0;                  // capacity of the device
  };
  bool IsGpu(DeviceId id) const { return shared_.dictionary().device(id).type == "cuda"; }
  void NoteBytes(DeviceId id);

  SharedSummaryState& shared_;
  std::map<DeviceId, Figures> figures_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_OUTSIDE_MEMORY_H_
