// Finds, for each device, the instant at which the owners of its memory are summed. One replay finds the instants; a
// second replay sums the owners at these instants.
#ifndef TOOLS_ANALYZE_ACCOUNTING_BALANCE_INSTANTS_H_
#define TOOLS_ANALYZE_ACCOUNTING_BALANCE_INSTANTS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

// Counts the changes of each CUDA device: allocations and frees of blocks and of driver memory, segments, refused
// requests, and device samples. Two passes with the same selection count the same changes, so the number of a change
// identifies an instant in both.
class DeviceChangePass : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;

 protected:
  struct Device {
    ProcessId process;
    std::uint64_t changes = 0;
  };
  // Called after each change. `reading`: the device sample, or nullptr if the change is not a sample.
  virtual void SeeChange(const Event&, DeviceId, const Device&, const DeviceSampleEvent* /*reading*/) {}
  virtual void ReadBefore(const DeviceSampleEvent&) {}  // called for each sample of an evicted part
  const std::map<DeviceId, Device>& devices() const { return devices_; }

  void SeeAllocate(const AllocateEvent& event) override { Count(event, event.block->device); }
  void SeeDeallocate(const DeallocateEvent& event) override { Count(event, event.block->device); }
  void SeeFreeCompleted(const FreeCompletedEvent& event) override { Count(event, event.device); }
  void SeeSegment(const SegmentEvent& event) override { Count(event, event.segment->device); }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override { Count(event, event.asked->device); }
  void SeeDriverAllocate(const DriverAllocateEvent& event) override { Count(event, event.block->device); }
  void SeeDriverFree(const DriverFreeEvent& event) override { Count(event, event.device); }
  void SeeDriverRefused(const DriverRefusedEvent& event) override { Count(event, event.asked->device); }
  void SeeDeviceSample(const DeviceSampleEvent& event) override {
    if (!IsCuda(event.device)) return;
    if (event.before) return ReadBefore(event);
    Count(event, event.device, &event);
  }

 private:
  bool IsCuda(DeviceId id);
  void Count(const Event& event, DeviceId id, const DeviceSampleEvent* reading = nullptr) {
    if (!IsCuda(id)) return;
    Device& device = devices_[id];
    device.process = event.process;
    ++device.changes;
    SeeChange(event, id, device, reading);
  }
  std::map<DeviceId, Device> devices_;
  std::vector<std::int8_t> is_cuda_;  // by DeviceId; -1: not looked up yet
};

struct BalanceInstant {
  std::uint64_t after = 0;  // number of the device's changes up to the instant
  std::uint64_t ns = 0;
  // Bytes of other processes. Only the few samples that use NVML contain them. The value comes from the newest such
  // sample up to the instant. If there is no such sample, the value comes from the first later sample that contains it.
  std::optional<std::uint64_t> other_processes;
  // Number of the change that is the first sample of the recording, or the first sample after a pause of the recording.
  // 0: no sample.
  std::uint64_t first_reading = 0;
  bool went_on = false;                       // recording was off at first, or paused, before this instant
  std::optional<std::uint64_t> evicted_used;  // the largest used bytes in the samples of evicted parts
  std::uint64_t evicted_ns = 0;
};
using BalanceInstants = std::map<DeviceId, BalanceInstant>;

// Returns the used bytes of a device sample. nullopt if the sample lacks the total or the free bytes, or if it has more
// free bytes than total bytes.
std::optional<std::uint64_t> UsedBytes(const DeviceSampleEvent& reading);

// Needs one replay.
Task<absl::StatusOr<BalanceInstants>> FindBalanceInstants(JointReplays& replays, Selection selection, InstantChoice at);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_ACCOUNTING_BALANCE_INSTANTS_H_
