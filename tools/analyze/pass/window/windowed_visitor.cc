#include "tools/analyze/pass/window/windowed_visitor.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr std::size_t kMaxNames = 1000;

template <class EventType>
DeviceId DeviceOf(const EventType& event) {
  return event.device;
}
DeviceId DeviceOf(const SegmentEvent& event) { return event.segment->device; }
DeviceId DeviceOf(const OutOfMemoryEvent& event) { return event.asked->device; }
DeviceId DeviceOf(const DriverAllocateEvent& event) { return event.block->device; }
DeviceId DeviceOf(const DriverRefusedEvent& event) { return event.asked->device; }

}  // namespace

ReplayOptions ReplayOptionsFor(const Selection& selection, bool tensors, bool first_seen) {
  ReplayOptions options;
  options.tensors = tensors;
  options.first_seen = first_seen;
  options.rank = selection.rank;
  options.modules = !selection.module.empty();
  options.progress = selection.progress;
  return options;
}

void WindowedVisitor::OnStart(const ReplayState& state) { state_ = &state; }

void WindowedVisitor::OnEnd(const ReplayReport& report) {
  found_ = CheckFound();
  if (found_.ok()) SeeEnd(report);
}

void WindowedVisitor::OnProcessBegin(const ProcessEvent& event) {
  occurrence_ = 0;
  steps_ = {};
  spans_.Clear();
  SeeProcessBegin(event);
  const SelectionWindow& window = selection_.window;
  const bool step_0 = window.kind == SelectionWindow::Kind::kSteps && window.first_step == 0;
  if (window.kind == SelectionWindow::Kind::kAll || (step_0 && StepsOf(event.process).first_is_before)) Open(event);
  FollowTime(event);
}

void WindowedVisitor::OnProcessEnd(const ProcessEvent& event) {
  open_calls_.clear();
  best_source_ = std::max(best_source_, steps_.source());
  newest_step_ = std::max(newest_step_, steps_.newest(steps_.source()));
  if (depth_ > 0) {
    depth_ = 1;
    Close(event);
  }
  spans_.Merge();
  SeeProcessEnd(event);
}

void WindowedVisitor::Open(const Event& event) {
  if (depth_ == 0) {
    opened_ns_ = Nanoseconds(event);
    SeeWindowOpen(event);
  }
  ++windows_;
  ++depth_;
}

void WindowedVisitor::Close(const Event& event) {
  if (--depth_ > 0) return;
  // A clock sample after the begin may change the conversion of ticks, so that the end seems earlier than the begin.
  spans_.Add({opened_ns_, std::max(opened_ns_, Nanoseconds(event))});
  SeeWindowClose(event);
}

void WindowedVisitor::CompareTime(const Event& event) {
  const std::uint64_t ns = Nanoseconds(event);
  first_ns_ = std::min(first_ns_, ns);
  last_ns_ = std::max(last_ns_, ns);
  const bool inside = ns >= selection_.window.begin_ns && ns < selection_.window.end_ns;
  if (inside && depth_ == 0) Open(event);
  if (!inside && depth_ > 0 && ns >= selection_.window.end_ns) Close(event);
}

ProcessSteps WindowedVisitor::StepsOf(ProcessId process) const {
  return process.value < selection_.steps.size() ? selection_.steps[process.value] : ProcessSteps();
}

void WindowedVisitor::FollowSteps(StepSource source, const Event& event) {
  const SelectionWindow& window = selection_.window;
  if (window.kind != SelectionWindow::Kind::kSteps || source != StepsOf(event.process).source) return;
  const std::uint64_t step = steps_.newest(source);
  const bool inside = step >= window.first_step && step < window.last_step;
  if (inside && depth_ == 0) Open(event);
  if (!inside && depth_ > 0) Close(event);
}

void WindowedVisitor::OnRangeBegin(const RangeBeginEvent& event) {
  FollowTime(event);
  if (const StepSource source = steps_.SeeRangeBegin(event, state_->dictionary()); source != StepSource::kNone) {
    FollowSteps(source, event);
    SeeStepBegin(source, event);
  }
  const SelectionWindow& window = selection_.window;
  if (window.kind == SelectionWindow::Kind::kRange && IsUserRange(event.range->source)) {
    const std::string_view name = state_->dictionary().text(event.range->name);
    if (name == window.range) {
      const std::uint64_t occurrence = occurrence_++;
      if (!window.occurrence || *window.occurrence == occurrence) {
        Open(event);
        open_calls_.push_back(event.range->call);
      }
    } else if (range_names_.size() < kMaxNames) {
      range_names_.emplace(name);
    }
  }
  SeeRangeBegin(event);
}

void WindowedVisitor::OnRangeEnd(const RangeEndEvent& event) {
  FollowTime(event);
  SeeRangeEnd(event);
  if (const StepSource source = steps_.SeeRangeEnd(event, state_->dictionary()); source != StepSource::kNone) {
    SeeStepBegin(source, event);
    FollowSteps(source, event);
  }
  if (open_calls_.empty()) return;
  const auto opened = std::find(open_calls_.begin(), open_calls_.end(), event.range->call);
  if (opened == open_calls_.end()) return;
  open_calls_.erase(opened);
  Close(event);
}

void WindowedVisitor::OnStep(const StepEvent& event) {
  FollowTime(event);
  const StepSource source = steps_.SeeStep(event);
  FollowSteps(source, event);
  SeeStep(event);
  SeeStepBegin(source, event);
}

void WindowedVisitor::OnAllocate(const AllocateEvent& event) {
  FollowTime(event);
  if (IsSelected(event.block->device)) IsChosen(*event.block) ? SeeAllocate(event) : SeeOtherAllocate(event);
}

void WindowedVisitor::OnDeallocate(const DeallocateEvent& event) {
  FollowTime(event);
  if (IsSelected(event.block->device)) IsChosen(*event.block) ? SeeDeallocate(event) : SeeOtherDeallocate(event);
}

void WindowedVisitor::OnDeviceSample(const DeviceSampleEvent& event) {
  if (!event.before) FollowTime(event);
  if (IsSelected(event.device)) SeeDeviceSample(event);
}

void WindowedVisitor::OnHostReading(const HostReadingEvent& event) {
  if (!event.before) FollowTime(event);
  SeeHostReading(event);
}

void WindowedVisitor::OnFirstSeen(const FirstSeenEvent& event) {
  if (IsSelected(event.tensor->device)) SeeFirstSeen(event);
}

void WindowedVisitor::OnModuleEnter(const ModuleEvent& event) {
  FollowTime(event);
  if (const StepSource source = steps_.SeeModuleEnter(event, state_->stack(event.thread));
      source != StepSource::kNone) {
    FollowSteps(source, event);
    SeeStepBegin(source, event);
  }
  SeeModuleEnter(event);
}

void WindowedVisitor::OnLost(const LostEvent& event) { SeeLost(event); }

#define MEMOIR_ON_Own(Name, EventType)
#define MEMOIR_ON_Timed(Name, EventType)                   \
  void WindowedVisitor::On##Name(const EventType& event) { \
    FollowTime(event);                                     \
    See##Name(event);                                      \
  }
#define MEMOIR_ON_OnDevice(Name, EventType)                \
  void WindowedVisitor::On##Name(const EventType& event) { \
    FollowTime(event);                                     \
    if (IsSelected(DeviceOf(event))) See##Name(event);     \
  }
#define MEMOIR_VISITED(Name, EventType, who, how) MEMOIR_ON_##how(Name, EventType)
#include "tools/model/event/visited.def"
#undef MEMOIR_ON_Own
#undef MEMOIR_ON_Timed
#undef MEMOIR_ON_OnDevice

bool WindowedVisitor::IsSelected(DeviceId device) {
  if (!selection_.device) return true;
  if (device.value >= device_selected_.size()) device_selected_.resize(device.value + 1, -1);
  std::int8_t& selected = device_selected_[device.value];
  if (selected < 0) {
    selected = ToString(state_->dictionary().device(device)) == *selection_.device;
    any_device_ = any_device_ || selected == 1;
  }
  return selected == 1;
}

}  // namespace memoir
