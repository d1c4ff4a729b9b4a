#include "tools/analyze/segments/allocator_trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

// The CUDA devices of each process: torch's index of the device, and its id in the recording.
using DevicesOfProcess = std::map<ProcessId, std::set<std::pair<std::uint32_t, DeviceId>>>;

// Finds the CUDA devices.
class DeviceIndexPass : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;
  DevicesOfProcess devices;

 protected:
  void SeeAllocate(const AllocateEvent& event) override { Note(event.process, event.block->device); }
  void SeeSegment(const SegmentEvent& event) override { Note(event.process, event.segment->device); }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override { Note(event.process, event.asked->device); }

 private:
  void Note(ProcessId process, DeviceId device) {
    if (device == last_) return;
    last_ = device;
    const DeviceInfo& info = state().dictionary().device(device);
    if (info.type == "cuda") devices[process].insert({info.index, device});
  }
  DeviceId last_;
};

TraceAction ActionOf(SegmentAction action) {
  switch (action) {
    case SegmentAction::kAllocate:
    case SegmentAction::kFound:
      return TraceAction::kSegmentAlloc;
    case SegmentAction::kFree:
      return TraceAction::kSegmentFree;
    case SegmentAction::kMap:
      return TraceAction::kSegmentMap;
    case SegmentAction::kUnmap:
      return TraceAction::kSegmentUnmap;
  }
  return TraceAction::kSegmentAlloc;
}

class TracePass : public WindowedVisitor {
 public:
  // Called at the end of the process, unless the function is empty. The second argument is a function that marks, in a
  // map, the blocks that the selection leaves out, and returns this map.
  using AtEnd = std::function<void(const ReplayState&, const std::function<SegmentMap(SegmentMap)>&)>;

  TracePass(const Capture& capture, const Selection& selection, ProcessId process, DeviceId device,
            AllocatorTraceVisitor& visitor, AtEnd at_end)
      : WindowedVisitor(capture, selection),
        process_(process),
        device_(device),
        visitor_(visitor),
        at_end_(std::move(at_end)) {}

 protected:
  void SeeAllocate(const AllocateEvent& event) override {
    const Block& block = *event.block;
    if (event.before || block.origin != BlockOrigin::kRecorded) return;
    Show(event, TraceAction::kAlloc, block.device, block.address, RequestedBytes(block), &block, true);
  }
  void SeeDeallocate(const DeallocateEvent& event) override {
    const Block& block = *event.block;
    if (selects_blocks()) freeing_.insert({block.device, block.address});
    Show(event, TraceAction::kFreeRequested, block.device, block.address, RequestedBytes(block), &block, false);
    // If the free was not recorded, no FreeCompletedEvent reports its completion.
    if (event.cause != DeallocateCause::kRecorded)
      Show(event, TraceAction::kFreeCompleted, block.device, block.address, RequestedBytes(block), &block, false);
  }
  void SeeFreeCompleted(const FreeCompletedEvent& event) override {
    if (selects_blocks() && freeing_.erase({event.device, event.address}) == 0) return;
    const std::uint64_t bytes = event.requested_bytes != 0 ? event.requested_bytes : event.bytes;
    Show(event, TraceAction::kFreeCompleted, event.device, event.address, bytes, nullptr, false);
  }
  void SeeSegment(const SegmentEvent& event) override {
    const Block& segment = *event.segment;
    if (event.action != SegmentAction::kFound)
      Show(event, ActionOf(event.action), segment.device, segment.address, segment.bytes, &segment, true);
  }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override {
    device_free_ = event.device_free;
    Show(event, TraceAction::kOutOfMemory, event.asked->device, 0, event.asked->bytes, event.asked, true);
  }
  void SeeProcessEnd(const ProcessEvent& event) override {
    if (event.process != process_ || !at_end_) return;
    at_end_(state(), [this](SegmentMap map) {
      for (MappedSegment& segment : map.segments) {
        for (SegmentBlock& there : segment.blocks) there.left_out = !there.waiting && !IsSelected(there.block);
      }
      return map;
    });
  }

 private:
  static std::uint64_t RequestedBytes(const Block& block) {
    return block.requested_bytes != 0 ? block.requested_bytes : block.bytes;
  }
  void Show(const Event& event, TraceAction action, DeviceId device, std::uint64_t address, std::uint64_t bytes,
            const Block* block, bool made_here) {
    if (event.process != process_ || device != device_) return;
    if (block != nullptr) stream_ = block->stream;
    visitor_.See({action, Nanoseconds(event), address, bytes, stream_, device_free_, block, made_here}, state());
  }

  const ProcessId process_;
  const DeviceId device_;
  AllocatorTraceVisitor& visitor_;
  const AtEnd at_end_;
  std::set<std::pair<DeviceId, std::uint64_t>> freeing_;  // selected blocks whose free is not complete
  std::uint64_t device_free_ = 0;
  std::uint64_t stream_ = 0;
};

absl::StatusOr<ReplayReport> Replay(const Capture& capture, const Selection& selection, WindowedVisitor& pass) {
  ReplayOptions options = ReplayOptionsFor(selection, false, false);
  options.modules = true;
  return capture.Replay(pass, options);
}

}  // namespace

absl::StatusOr<AllocatorTraceResult> StreamAllocatorTrace(const Capture& capture, const Selection& selection,
                                                          AllocatorTraceVisitor& visitor) {
  const Capture::SharedDecoding shared(capture);
  Selection whole = selection;
  whole.window = SelectionWindow::All();
  DeviceIndexPass found(capture, whole);
  absl::StatusOr<ReplayReport> report = Replay(capture, whole, found);
  if (!report.ok()) return report.status();
  if (!found.selection_status().ok()) return found.selection_status();
  if (found.devices.empty()) return absl::NotFoundError(capture.path() + ": no CUDA memory was recorded there");
  const auto& [process, devices] = *found.devices.begin();
  std::uint32_t next = 0;
  for (const auto& [index, device] : devices) {
    for (; next < index; ++next) {
      visitor.BeginDevice(next);
      visitor.EndDevice();
    }
    visitor.BeginDevice(next++);
    const bool last = device == devices.rbegin()->second;
    const auto at_end = [&](const ReplayState& state, const std::function<SegmentMap(SegmentMap)>& marked) {
      visitor.EndDevice();
      for (const auto& [number, id] : devices) visitor.SeeSegments(number, marked(MapSegments(state, id)), state);
    };
    TracePass pass(capture, whole, process, device, visitor, last ? TracePass::AtEnd(at_end) : nullptr);
    report = Replay(capture, whole, pass);
    if (!report.ok()) return report.status();
    if (!last) visitor.EndDevice();
  }
  return AllocatorTraceResult{found.devices.size() - 1, *std::move(report)};
}

}  // namespace memoir
