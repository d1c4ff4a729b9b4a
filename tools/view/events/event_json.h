// Writes events as JSON lines (docs/json.md), one object for each event, in bounded memory.
#ifndef TOOLS_VIEW_EVENTS_EVENT_JSON_H_
#define TOOLS_VIEW_EVENTS_EVENT_JSON_H_

#include <functional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"
#include "tools/view/events/event_lines.h"

namespace memoir {

// Pass an object of this class to StreamEvents. `write` receives whole lines, some thousand at a time. Call Flush at
// the end.
class EventJsonWriter : public Visitor {
 public:
  EventJsonWriter(const Capture& capture, std::function<void(std::string_view)> write)
      : capture_(capture), line_(std::move(write)) {}
  void Flush() { line_.Flush(); }

  void OnStart(const ReplayState& state) override {
    state_ = &state;
    line_.SetState(state);
  }
  void OnProcessBegin(const ProcessEvent& event) override;
  void OnProcessEnd(const ProcessEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override;
  void OnRangeEnd(const RangeEndEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override;
  void OnFreeCompleted(const FreeCompletedEvent& event) override;
  void OnSegment(const SegmentEvent& event) override;
  void OnOutOfMemory(const OutOfMemoryEvent& event) override;
  void OnDeviceStatistics(const DeviceStatisticsEvent& event) override;
  void OnDriverAllocate(const DriverAllocateEvent& event) override;
  void OnDriverFree(const DriverFreeEvent& event) override;
  void OnDriverRefused(const DriverRefusedEvent& event) override;
  void OnDeviceSample(const DeviceSampleEvent& event) override;
  void OnHostReading(const HostReadingEvent& event) override;
  void OnDeviceCall(const DeviceCallEvent& event) override;
  void OnKernelRun(const KernelRunEvent& event) override;
  void OnFirstSeen(const FirstSeenEvent& event) override;
  void OnMark(const MarkEvent& event) override;
  void OnStep(const StepEvent& event) override;
  void OnSwitch(const LevelChangeEvent& event) override;
  void OnModuleEnter(const ModuleEvent& event) override { AddModuleEvent("module_enter", event); }
  void OnStack(const StackEvent& event) override;
  void OnCallBegin(const CallEvent& event) override;
  void OnCallEnd(const CallEvent& event) override;
  void OnHolds(const HeldTensorsEvent& event) override;
  void OnModuleExit(const ModuleEvent& event) override { AddModuleEvent("module_exit", event); }
  void OnLost(const LostEvent& event) override;
  void OnKeyframe(const KeyframeEvent& event) override;

 private:
  void AddLaunch(const DeviceCallEvent& event);
  void AddModuleEvent(std::string_view kind, const ModuleEvent& event);

  const Capture& capture_;
  const ReplayState* state_ = nullptr;
  EventLines line_;
  absl::flat_hash_set<StackId> stacks_shown_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_EVENTS_EVENT_JSON_H_
