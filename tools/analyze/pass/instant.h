// The instant that `--at` means, as a count of each device's changes: one replay finds it, the next stops at it.
#ifndef TOOLS_ANALYZE_PASS_INSTANT_H_
#define TOOLS_ANALYZE_PASS_INSTANT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/at.h"
#include "tools/analyze/pass/windowed_visitor.h"

namespace memoir {

// An instant of a device: after how many of its events in the replay that change what it holds.
struct Instant {
  std::uint64_t after = 0;
  std::uint64_t ns = 0;
};
using Instants = std::map<DeviceId, Instant>;

// Follows live bytes per device and counts its changes; all passes of a selection see the same changes.
class ChangePass : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;

 protected:
  struct Device {
    ProcessId process;
    std::uint64_t live = 0;
    std::uint64_t peak = 0;
    std::uint64_t changes = 0;
  };
  // After a change of `device`, or when the window opens.
  virtual void Changed(const Event&, DeviceId, Device&) {}
  virtual void Added(const Block&, const Event&) {}
  virtual void Removed(const Block&) {}

  void WindowOpens(const Event& event) override {
    opens_ = true;
    for (auto& [id, device] : devices_) {
      if (device.process == event.process) Changed(event, id, device);
    }
    opens_ = false;
  }
  // Of the change in hand: a window opens with what is live then.
  bool is_inside() const { return in_window() || opens_; }
  void SeeAllocate(const AllocateEvent& event) override {
    if (!in_window() && selection().forget_before) return;
    Follow(*event.block);
    devices_[event.block->device].live += event.block->bytes;
    Added(*event.block, event);
    AddChange(event, event.block->device);
  }
  void SeeFreeCompleted(const FreeCompletedEvent& event) override { AddChange(event, event.device); }
  void SeeSegment(const SegmentEvent& event) override { AddChange(event, event.segment->device); }
  void SeeDeallocate(const DeallocateEvent& event) override {
    if (!Unfollow(*event.block)) return;
    devices_[event.block->device].live -= event.block->bytes;
    Removed(*event.block);
    AddChange(event, event.block->device);
  }
  std::map<DeviceId, Device>& devices() { return devices_; }

 private:
  void AddChange(const Event& event, DeviceId id) {
    Device& device = devices_[id];
    device.process = event.process;
    ++device.changes;
    Changed(event, id, device);
  }
  void Follow(const Block& block) {
    const std::size_t at = block.slot == Block::kNoSlot ? 0 : block.slot + std::size_t{1};
    if (at >= followed_.size()) followed_.resize(at + 1);
    followed_[at] = true;
  }
  bool Unfollow(const Block& block) {
    const std::size_t at = block.slot == Block::kNoSlot ? 0 : block.slot + std::size_t{1};
    if (at >= followed_.size() || !followed_[at]) return false;
    followed_[at] = false;
    return true;
  }
  std::map<DeviceId, Device> devices_;
  std::vector<bool> followed_;  // by slot + 1; 0: the late block
  bool opens_ = false;
};

// Where `at` is on each device. Errors name what there is instead: no such mark, no such time, no out-of-memory error.
absl::StatusOr<Instants> FindInstants(const Capture& capture, const Selection& selection, const At& at);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_INSTANT_H_
