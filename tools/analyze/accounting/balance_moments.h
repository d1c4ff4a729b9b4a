// The moment of each device that memory accounting is done for: one replay finds it, the next stops at it.
#ifndef TOOLS_ANALYZE_ACCOUNTING_BALANCE_MOMENTS_H_
#define TOOLS_ANALYZE_ACCOUNTING_BALANCE_MOMENTS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/at.h"
#include "tools/analyze/pass/windowed_visitor.h"

namespace memoir {

// Counts what happens on each CUDA device, readings included; all passes of a selection count alike.
class DevicePass : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;

 protected:
  struct Device {
    ProcessId process;
    std::uint64_t changes = 0;
  };
  // After a change; `reading` where it is one.
  virtual void Changed(const Event&, DeviceId, const Device&, const DeviceReadingEvent* /*reading*/) {}
  virtual void ReadBefore(const DeviceReadingEvent&) {}  // of parts that are gone
  const std::map<DeviceId, Device>& devices() const { return devices_; }

  void SeeAllocate(const AllocateEvent& event) override { Count(event, event.block->device); }
  void SeeDeallocate(const DeallocateEvent& event) override { Count(event, event.block->device); }
  void SeeFreeCompleted(const FreeCompletedEvent& event) override { Count(event, event.device); }
  void SeeSegment(const SegmentEvent& event) override { Count(event, event.segment->device); }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override { Count(event, event.asked->device); }
  void SeeDriverAllocate(const DriverAllocateEvent& event) override { Count(event, event.block->device); }
  void SeeDriverFree(const DriverFreeEvent& event) override { Count(event, event.device); }
  void SeeDriverRefused(const DriverRefusedEvent& event) override { Count(event, event.asked->device); }
  void SeeDeviceReading(const DeviceReadingEvent& event) override {
    if (!IsCuda(event.device)) return;
    if (event.before) return ReadBefore(event);
    Count(event, event.device, &event);
  }

 private:
  bool IsCuda(DeviceId id);
  void Count(const Event& event, DeviceId id, const DeviceReadingEvent* reading = nullptr) {
    if (!IsCuda(id)) return;
    Device& device = devices_[id];
    device.process = event.process;
    ++device.changes;
    Changed(event, id, device, reading);
  }
  std::map<DeviceId, Device> devices_;
  std::vector<std::int8_t> is_cuda_;  // by DeviceId; -1: not looked up yet
};

struct BalanceMoment {
  std::uint64_t after = 0;  // changes of the device
  std::uint64_t ns = 0;
  // Of other processes, by the newest reading before that knows it; else by the first after. Few ask NVML.
  std::optional<std::uint64_t> other_processes;
  // After as many changes came the first reading, of the recording or since it went on before this moment; 0: none.
  std::uint64_t first_reading = 0;
  bool went_on = false;                      // it was off before
  std::optional<std::uint64_t> folded_used;  // the fullest reading of parts that are gone
  std::uint64_t folded_ns = 0;
};
using BalanceMoments = std::map<DeviceId, BalanceMoment>;

// What a reading says is used; empty: it does not.
std::optional<std::uint64_t> UsedBytes(const DeviceReadingEvent& reading);

absl::StatusOr<BalanceMoments> FindBalanceMoments(const Capture& capture, const Selection& selection, const At& at);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_ACCOUNTING_BALANCE_MOMENTS_H_
