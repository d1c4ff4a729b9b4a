#include "tools/analyze/pass/event_stream.h"

#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

class StreamPass : public WindowedVisitor {
 public:
  StreamPass(const Capture& capture, const Selection& selection, Visitor& visitor)
      : WindowedVisitor(capture, selection), visitor_(visitor) {}

  void OnKeyframe(const KeyframeEvent& event) override {
    if (in_window()) visitor_.OnKeyframe(event);
  }
  void OnSwitch(const LevelChangeEvent& event) override {
    if (in_window()) visitor_.OnSwitch(event);
  }

 protected:
  void SeeEnd(const ReplayReport& report) override { visitor_.OnEnd(report); }
  void SeeProcessBegin(const ProcessEvent& event) override {
    if (!std::exchange(started_, true)) visitor_.OnStart(state());
    visitor_.OnProcessBegin(event);
  }
  void SeeProcessEnd(const ProcessEvent& event) override { visitor_.OnProcessEnd(event); }
#define MEMOIR_STREAMED_Process(Name, EventType)
#define MEMOIR_STREAMED_Whole(Name, EventType)
#define MEMOIR_STREAMED_Windowed(Name, EventType)   \
  void See##Name(const EventType& event) override { \
    if (in_window()) visitor_.On##Name(event);      \
  }
#define MEMOIR_VISITED(Name, EventType, who, how) MEMOIR_STREAMED_##who(Name, EventType)
#include "tools/model/event/visited.def"
#undef MEMOIR_STREAMED_Process
#undef MEMOIR_STREAMED_Whole
#undef MEMOIR_STREAMED_Windowed

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
  if (report.ok() && !pass.selection_status().ok()) return pass.selection_status();
  return report;
}

}  // namespace memoir
