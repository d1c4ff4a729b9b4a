// Finds the instant that `--at` selects. An instant is stored as a number of changes of a device: one replay counts the
// changes up to the instant, and the next replay collects its figures after as many changes.
#ifndef TOOLS_ANALYZE_PASS_INSTANT_H_
#define TOOLS_ANALYZE_PASS_INSTANT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

// An instant of a device, at `ns`. `after`: the number of changes up to the instant. A change is an event that changes
// the device's live or reserved memory.
struct Instant {
  std::uint64_t after = 0;
  std::uint64_t ns = 0;
};
using Instants = std::map<DeviceId, Instant>;

// Follows the live bytes of each device, and counts the device's changes. All ChangePass objects with the same
// selection count the same changes, so that a number of changes from one replay is valid in the next replay.
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
  // Called after each change of the device, and, when a window opens, once for each device of the process.
  virtual void SeeChange(const Event&, DeviceId, Device&) {}
  // Called when Device::live begins to include the block, and when it no longer includes the block.
  virtual void SeeBlockAdded(const Block&, const Event&) {}
  virtual void SeeBlockRemoved(const Block&) {}

  void SeeWindowOpen(const Event& event) override {
    opens_ = true;
    for (auto& [id, device] : devices_) {
      if (device.process == event.process) SeeChange(event, id, device);
    }
    opens_ = false;
  }
  // For SeeChange: returns true if the change happened in a window, or if SeeChange was called because a window opens.
  bool is_inside() const { return in_window() || opens_; }
  void SeeAllocate(const AllocateEvent& event) override {
    if (!in_window() && selection().forget_before) return;
    Follow(*event.block);
    devices_[event.block->device].live += event.block->bytes;
    SeeBlockAdded(*event.block, event);
    AddChange(event, event.block->device);
  }
  void SeeFreeCompleted(const FreeCompletedEvent& event) override { AddChange(event, event.device); }
  void SeeSegment(const SegmentEvent& event) override { AddChange(event, event.segment->device); }
  void SeeDeallocate(const DeallocateEvent& event) override {
    if (!Unfollow(*event.block)) return;
    devices_[event.block->device].live -= event.block->bytes;
    SeeBlockRemoved(*event.block);
    AddChange(event, event.block->device);
  }
  std::map<DeviceId, Device>& devices() { return devices_; }

 private:
  void AddChange(const Event& event, DeviceId id) {
    Device& device = devices_[id];
    device.process = event.process;
    ++device.changes;
    SeeChange(event, id, device);
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
  // Whether Device::live includes a block, by Block::slot + 1. Index 0 stands for the newest block without a slot.
  std::vector<bool> followed_;
  bool opens_ = false;
};

// Finds the instant of each device in one replay. Returns an error if the recording does not contain the mark, the time
// or the out-of-memory error, or if the instant lies outside of all windows.
Task<absl::StatusOr<Instants>> FindInstants(JointReplays& replays, Selection selection, InstantChoice at);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_INSTANT_H_
