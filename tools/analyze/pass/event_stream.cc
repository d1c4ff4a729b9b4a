#include "tools/analyze/pass/event_stream.h"

#include "tools/analyze/pass/windowed_visitor.h"

namespace memoir {
namespace {

class StreamPass : public WindowedVisitor {
 public:
  StreamPass(const Capture& capture, const Selection& selection, Visitor& visitor)
      : WindowedVisitor(capture, selection), visitor_(visitor) {}

  void OnKeyframe(const KeyframeEvent& event) override {
    if (in_window()) visitor_.OnKeyframe(event);
  }
  void OnSwitch(const SwitchEvent& event) override {
    if (in_window()) visitor_.OnSwitch(event);
  }

 protected:
  void Ends(const ReplayReport& report) override { visitor_.OnEnd(report); }
  void ProcessBegins(const ProcessEvent& event) override {
    if (!std::exchange(started_, true)) visitor_.OnStart(state());
    visitor_.OnProcessBegin(event);
  }
  void ProcessEnds(const ProcessEvent& event) override { visitor_.OnProcessEnd(event); }
  void RangeBegins(const RangeBeginEvent& event) override {
    if (in_window()) visitor_.OnRangeBegin(event);
  }
  void RangeEnds(const RangeEndEvent& event) override {
    if (in_window()) visitor_.OnRangeEnd(event);
  }
  void Allocated(const AllocateEvent& event) override {
    if (in_window()) visitor_.OnAllocate(event);
  }
  void Deallocated(const DeallocateEvent& event) override {
    if (in_window()) visitor_.OnDeallocate(event);
  }
  void FreeCompleted(const FreeCompletedEvent& event) override {
    if (in_window()) visitor_.OnFreeCompleted(event);
  }
  void SegmentChanged(const SegmentEvent& event) override {
    if (in_window()) visitor_.OnSegment(event);
  }
  void RanOutOfMemory(const OutOfMemoryEvent& event) override {
    if (in_window()) visitor_.OnOutOfMemory(event);
  }
  void DeviceCounted(const DeviceStatisticsEvent& event) override {
    if (in_window()) visitor_.OnDeviceStatistics(event);
  }
  void DriverGave(const DriverAllocateEvent& event) override {
    if (in_window()) visitor_.OnDriverAllocate(event);
  }
  void DriverTookBack(const DriverFreeEvent& event) override {
    if (in_window()) visitor_.OnDriverFree(event);
  }
  void DriverRefused(const DriverRefusedEvent& event) override {
    if (in_window()) visitor_.OnDriverRefused(event);
  }
  void DeviceRead(const DeviceReadingEvent& event) override {
    if (in_window()) visitor_.OnDeviceReading(event);
  }
  void FirstSeen(const FirstSeenEvent& event) override {
    if (in_window()) visitor_.OnFirstSeen(event);
  }
  void Marked(const MarkEvent& event) override {
    if (in_window()) visitor_.OnMark(event);
  }
  void Stepped(const StepEvent& event) override {
    if (in_window()) visitor_.OnStep(event);
  }
  void ModuleEnters(const ModuleEvent& event) override {
    if (in_window()) visitor_.OnModuleEnter(event);
  }
  void ModuleExits(const ModuleEvent& event) override {
    if (in_window()) visitor_.OnModuleExit(event);
  }
  void Holds(const HoldsEvent& event) override {
    if (in_window()) visitor_.OnHolds(event);
  }
  void Lost(const LostEvent& event) override {
    if (in_window()) visitor_.OnLost(event);
  }

 private:
  Visitor& visitor_;
  bool started_ = false;
};

}  // namespace

absl::StatusOr<ReplayReport> StreamEvents(const Capture& capture, const EventStreamOptions& options, Visitor& visitor) {
  StreamPass pass(capture, options, visitor);
  ReplayOptions replay = ReplayOptionsFor(options, options.tensors, true);
  replay.modules = true;
  replay.go_on = options.go_on;
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, replay);
  if (report.ok() && !pass.found().ok()) return pass.found();
  return report;
}

}  // namespace memoir
