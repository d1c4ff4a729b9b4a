#include "tools/analyze/pass/windowed_visitor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memoir {
namespace {

constexpr std::size_t kNamesInMessage = 8;
constexpr std::size_t kMaxNames = 1000;

std::string ListOf(const std::set<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.end());
  const bool more = shown.size() > kNamesInMessage;
  if (more) shown.resize(kNamesInMessage);
  return absl::StrCat(absl::StrJoin(shown, ", "), more ? ", ..." : "");
}

}  // namespace

ReplayOptions ReplayOptionsFor(const Selection& selection, bool tensors, bool first_seen) {
  ReplayOptions options;
  options.tensors = tensors;
  options.first_seen = first_seen;
  options.rank = selection.rank;
  options.progress = selection.progress;
  return options;
}

void WindowedVisitor::OnStart(const ReplayState& state) { state_ = &state; }

void WindowedVisitor::OnEnd(const ReplayReport& report) {
  found_ = CheckFound();
  if (found_.ok()) Ends(report);
}

void WindowedVisitor::OnProcessBegin(const ProcessEvent& event) {
  occurrence_ = 0;
  spans_.Clear();
  ProcessBegins(event);
  if (selection_.window.kind == Window::Kind::kAll) Open(event);
  FollowTime(event);
}

void WindowedVisitor::OnProcessEnd(const ProcessEvent& event) {
  open_calls_.clear();
  if (depth_ > 0) {
    depth_ = 1;
    Close(event);
  }
  spans_.Merge();
  ProcessEnds(event);
}

void WindowedVisitor::Open(const Event& event) {
  if (depth_ == 0) {
    opened_ns_ = Nanoseconds(event);
    WindowOpens(event);
  }
  ++windows_;
  ++depth_;
}

void WindowedVisitor::Close(const Event& event) {
  if (--depth_ > 0) return;
  spans_.Add({opened_ns_, std::max(opened_ns_, Nanoseconds(event))});  // a clock reading since may have moved it
  WindowCloses(event);
}

void WindowedVisitor::CompareTime(const Event& event) {
  const std::uint64_t ns = Nanoseconds(event);
  const bool inside = ns >= selection_.window.begin_ns && ns < selection_.window.end_ns;
  if (inside && depth_ == 0) Open(event);
  if (!inside && depth_ > 0 && ns >= selection_.window.end_ns) Close(event);
}

void WindowedVisitor::OnRangeBegin(const RangeBeginEvent& event) {
  FollowTime(event);
  const Window& window = selection_.window;
  if (window.kind == Window::Kind::kRange && event.range->source == RangeSource::kUser) {
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
  RangeBegins(event);
}

void WindowedVisitor::OnRangeEnd(const RangeEndEvent& event) {
  FollowTime(event);
  RangeEnds(event);
  if (open_calls_.empty()) return;
  const auto opened = std::find(open_calls_.begin(), open_calls_.end(), event.range->call);
  if (opened == open_calls_.end()) return;
  open_calls_.erase(opened);
  Close(event);
}

void WindowedVisitor::OnStep(const StepEvent& event) {
  FollowTime(event);
  const Window& window = selection_.window;
  if (window.kind == Window::Kind::kSteps) {
    const bool inside = event.step >= window.first_step && event.step < window.last_step;
    if (inside && depth_ == 0) Open(event);
    if (!inside && depth_ > 0) Close(event);
  }
  Stepped(event);
}

void WindowedVisitor::OnAllocate(const AllocateEvent& event) {
  FollowTime(event);
  if (IsSelected(event.block->device)) Allocated(event);
}

void WindowedVisitor::OnDeallocate(const DeallocateEvent& event) {
  FollowTime(event);
  if (IsSelected(event.block->device)) Deallocated(event);
}

void WindowedVisitor::OnFreeCompleted(const FreeCompletedEvent& event) {
  FollowTime(event);
  if (IsSelected(event.device)) FreeCompleted(event);
}

void WindowedVisitor::OnSegment(const SegmentEvent& event) {
  FollowTime(event);
  if (IsSelected(event.segment->device)) SegmentChanged(event);
}

void WindowedVisitor::OnOutOfMemory(const OutOfMemoryEvent& event) {
  FollowTime(event);
  if (IsSelected(event.asked->device)) RanOutOfMemory(event);
}

void WindowedVisitor::OnDeviceStatistics(const DeviceStatisticsEvent& event) {
  FollowTime(event);
  if (IsSelected(event.device)) DeviceCounted(event);
}

void WindowedVisitor::OnDriverAllocate(const DriverAllocateEvent& event) {
  FollowTime(event);
  if (IsSelected(event.block->device)) DriverGave(event);
}

void WindowedVisitor::OnDriverFree(const DriverFreeEvent& event) {
  FollowTime(event);
  if (IsSelected(event.device)) DriverTookBack(event);
}

void WindowedVisitor::OnDriverRefused(const DriverRefusedEvent& event) {
  FollowTime(event);
  if (IsSelected(event.asked->device)) DriverRefused(event);
}

void WindowedVisitor::OnDeviceReading(const DeviceReadingEvent& event) {
  if (!event.before) FollowTime(event);
  if (IsSelected(event.device)) DeviceRead(event);
}

void WindowedVisitor::OnFirstSeen(const FirstSeenEvent& event) {
  if (IsSelected(event.tensor->device)) FirstSeen(event);
}

void WindowedVisitor::OnMark(const MarkEvent& event) {
  FollowTime(event);
  Marked(event);
}

void WindowedVisitor::OnModuleEnter(const ModuleEvent& event) {
  FollowTime(event);
  ModuleEnters(event);
}

void WindowedVisitor::OnModuleExit(const ModuleEvent& event) {
  FollowTime(event);
  ModuleExits(event);
}

void WindowedVisitor::OnHolds(const HoldsEvent& event) {
  FollowTime(event);
  Holds(event);
}

void WindowedVisitor::OnLost(const LostEvent& event) { Lost(event); }

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

absl::Status WindowedVisitor::WindowNotFound() const {
  const Window& window = selection_.window;
  if (window.kind == Window::Kind::kSteps) {
    return absl::NotFoundError(absl::StrCat(capture_.path(), ": no step from ", window.first_step, " to below ",
                                            window.last_step, "; the program must call memoir.step()"));
  }
  if (window.kind == Window::Kind::kTime) {
    return absl::NotFoundError(absl::StrCat(capture_.path(), ": no event in that span of time"));
  }
  if (occurrence_ > 0) {
    return absl::NotFoundError(absl::StrCat(capture_.path(), ": range '", window.range, "' occurs ", occurrence_,
                                            " times, counted from 0; there is no #", *window.occurrence));
  }
  return absl::NotFoundError(absl::StrCat(
      capture_.path(), ": no user range is named '", window.range, "'; ",
      range_names_.empty() ? std::string("the program has none (torch.profiler.record_function makes them)")
                           : "there are: " + ListOf(range_names_)));
}

absl::Status WindowedVisitor::CheckFound() const {
  const std::vector<ProcessSummary>& processes = capture_.processes();
  if (selection_.rank) {
    std::set<std::string> ranks;
    for (const ProcessSummary& process : processes) {
      if (process.is_rank) ranks.insert(std::to_string(process.info.rank()));
    }
    if (ranks.count(std::to_string(*selection_.rank)) == 0) {
      return absl::NotFoundError(
          absl::StrCat(capture_.path(), ": no rank ", *selection_.rank, "; there are: ", ListOf(ranks)));
    }
  }
  if (selection_.device && !any_device_) {
    std::set<std::string> devices;
    for (std::size_t i = 0; i < state_->dictionary().devices(); ++i) {
      devices.insert(ToString(state_->dictionary().device(DeviceId{static_cast<std::uint32_t>(i)})));
    }
    if (devices.count(*selection_.device) == 0) {
      return absl::NotFoundError(
          absl::StrCat(capture_.path(), ": no device '", *selection_.device, "'; there are: ", ListOf(devices)));
    }
  }
  return windows_ == 0 ? WindowNotFound() : absl::OkStatus();
}

}  // namespace memoir
