#include "tracker/session/control/recording_controls.h"

#include <algorithm>
#include <memory>
#include <new>

#include "interpose/ring/ring.h"
#include "interpose/ring/ring_extent_count.h"
#include "interpose/system/tick.h"
#include "tracker/modules/outermost_calls.h"
#include "tracker/repeated_steps/repeated_steps.h"
#include "tracker/session/control/control_callbacks.h"
#include "tracker/session/control/program_records.h"
#include "tracker/session/process/terminal_line.h"
#include "tracker/torch/hooks.h"

namespace memoir {
namespace {

// All ranks may read the control file from one server. With more than kRanksThatLook ranks, each reads less often.
constexpr std::uint64_t kFileLookNs = 200'000'000;
constexpr std::uint32_t kRanksThatLook = 64;

std::uint64_t BetweenLooks(std::uint32_t world_size) {
  return kFileLookNs * std::max(world_size, kRanksThatLook) / kRanksThatLook;
}

}  // namespace

RecordingControls::RecordingControls(const ControlOptions& options)
    : options_(options),
      wanted_(options.start),
      detail_(options.detail == Detail::kBlocks ? RecordingLevel::kMemory : RecordingLevel::kAll),
      budget_(options.budget, MonotonicNs(), RingExtentsWithRanges()),
      is_reporting_(options.is_reporting),
      between_looks_ns_(BetweenLooks(options.world_size)),
      file_(options.control_file),
      windows_(options.windows),
      follows_steps_(options.windows.any() || options.detail == Detail::kAuto) {
  Obey(file_.ReadFirst());
}

constinit PublishedObject<RecordingControls> RecordingControls::current_;

RecordingControls* RecordingControls::Begin(const ControlOptions& options, std::string* warning) {
  std::unique_ptr<RecordingControls> fresh(new RecordingControls(options));
  RecordingControls* controls = fresh.get();
  current_.Put(std::move(fresh));
  try {
    if (options.toggle_signal) InstallControlSignal(ControlSignal::kToggle, *options.toggle_signal, warning);
    std::string second;
    if (options.snapshot_signal) InstallControlSignal(ControlSignal::kSnapshot, *options.snapshot_signal, &second);
    *warning += (warning->empty() || second.empty() ? "" : "; ") + second;
    WatchUserRanges(controls->follows_steps_ ? &kControlsWatcher : nullptr);
    EndRepeatedSteps();  // a forked child stops following the parent's steps
    if (options.detail == Detail::kAuto && !BeginRepeatedSteps(&OnDeviation)) throw std::bad_alloc();
    FollowOutermostCalls(options.detail == Detail::kAuto ? &OnOutermostCall : nullptr);
    controls->switch_.Begin(controls->DesiredLevel());
  } catch (...) {
    controls->End();
    throw;
  }
  return controls;
}

void RecordingControls::GiveUp() noexcept {
  FollowOutermostCalls(nullptr);
  EndRepeatedSteps();
  switch_.GiveUp();
}

void RecordingControls::End() {
  FollowOutermostCalls(nullptr);
  EndRepeatedSteps();
  switch_.End();
  WatchUserRanges(nullptr);
  RemoveControlSignals();
}

RecordingLevel RecordingControls::DesiredLevel() const {
  const RecordingLevel wanted = wanted_.load(std::memory_order_acquire);
  if (windows_.in_request()) return called_in_request_.load(std::memory_order_acquire) ? wanted : RecordingLevel::kAll;
  const bool operators = (!options_.windows.any() || windows_.is_open()) && !spent_.load(std::memory_order_acquire);
  return std::min(
      {wanted, detail_.load(std::memory_order_acquire), operators ? RecordingLevel::kAll : RecordingLevel::kMemory});
}

bool RecordingControls::RequestLevel(RecordingLevel level) {
  SetWanted(level);
  return switch_.SwitchTo(DesiredLevel(), OnEmptyPool::kWait);
}

// Records the mark at the higher of the old and the new level, so that a window contains its first and last mark.
void RecordingControls::Apply(const std::optional<RecordingWindows::StepMark>& mark) {
  if (mark && mark->opens > 0) called_in_request_.store(false, std::memory_order_release);
  if (mark && options_.detail == Detail::kAuto) FollowStep();
  const RecordingLevel desired = DesiredLevel();
  const bool down = desired < switch_.level();
  if (!down) switch_.SwitchTo(desired, OnEmptyPool::kWait);
  if (mark) RecordStepMark(*mark);
  if (down) switch_.SwitchTo(desired, OnEmptyPool::kWait);
}

// A step without memoir.step() is recorded only if steps determine the level. Otherwise readers derive it from ranges.
void RecordingControls::RecordStepMark(const RecordingWindows::StepMark& mark) {
  const bool by_steps = options_.detail == Detail::kAuto || options_.windows.steps || options_.windows.schedule;
  if (by_steps || mark.source == RecordingWindows::StepSource::kProgram) RecordStep(mark.step);
  if (mark.closes) RecordRequestEnd();
  const bool has_number = by_steps || mark.source >= RecordingWindows::StepSource::kProfiler;
  if (mark.opens > 0) RecordRequestBegin(mark.opens, has_number ? std::optional(mark.step) : std::nullopt);
}

// Forgets reference steps when a new part begins, so that the part begins with steps that have all their operators.
void RecordingControls::FollowStep() {
  ThreadSlot* slot = RingThread();
  if (slot == nullptr) return;
  const std::uint64_t parts = RingReadCounters().parts;
  if (parts_.exchange(parts, std::memory_order_relaxed) != parts) ForgetReferenceSteps();
  const bool wants_all = wanted_.load(std::memory_order_acquire) == RecordingLevel::kAll;
  const bool may_be_full = windows_.in_request() ? wants_all || !called_in_request_.load(std::memory_order_acquire)
                                                 : wants_all && !spent_.load(std::memory_order_acquire);
  const bool known = BeginFollowedStep(slot->thread, may_be_full);
  detail_.store(known ? RecordingLevel::kMemory : RecordingLevel::kAll, std::memory_order_release);
}

// If another thread is switching now, the writer's thread switches when it next calls Look.
void RecordingControls::NoteDeviation() noexcept {
  detail_.store(RecordingLevel::kAll, std::memory_order_release);
  try {
    switch_.TrySwitchTo(DesiredLevel());
  } catch (...) {  // no memory for torch's list of callbacks: the writer's thread switches later
  }
}

void RecordingControls::Step(std::uint64_t step) { ApplyMark(windows_.BeginStep(step)); }

bool RecordingControls::BeginRange(const void* range, const char* name) {
  const bool before = switch_.level() == RecordingLevel::kAll;
  ApplyMark(windows_.BeginRange(range, name));
  return !before && switch_.level() == RecordingLevel::kAll;
}

void RecordingControls::EndRange(const void* range, const char* name) { ApplyMark(windows_.EndRange(range, name)); }

// If `mark` is set, the program has a better source of steps, so calls of modules no longer begin steps.
void RecordingControls::ApplyMark(const std::optional<RecordingWindows::StepMark>& mark) {
  if (mark) FollowOutermostCalls(nullptr);
  Apply(mark);
}

void RecordingControls::NoteModuleCall(std::uint64_t module) {
  if (const auto mark = windows_.NoteModuleCall(module)) Apply(mark);
}

// Called on the writer's thread. First starts to watch the events that begin steps, and then requests the steps. In the
// other order, the mark of a step that begins in between would be missed.
void RecordingControls::RequestSteps(std::uint64_t steps) {
  try {
    if (!std::exchange(follows_steps_, true)) {
      WatchUserRanges(&kControlsWatcher);
      FollowOutermostCalls(&OnOutermostCall);
    }
  } catch (...) {  // no memory: only memoir.step() begins steps
  }
  windows_.RequestSteps(steps);
  requested_ns_ = MonotonicNs();
}

// This switch may lose events of the current step, so the step is neither a reference step nor expected to repeat.
void RecordingControls::SetWanted(RecordingLevel level) {
  called_in_request_.store(true, std::memory_order_release);
  if (wanted_.exchange(level, std::memory_order_acq_rel) == level || options_.detail != Detail::kAuto) return;
  IgnoreFollowedStep();
  detail_.store(RecordingLevel::kAll, std::memory_order_release);
}

void RecordingControls::Toggle() {
  const RecordingLevel rest =
      options_.start == RecordingLevel::kMemory ? RecordingLevel::kMemory : RecordingLevel::kOff;
  windows_.RequestSteps(0);
  SetWanted(wanted_.load(std::memory_order_relaxed) == RecordingLevel::kAll ? rest : RecordingLevel::kAll);
}

void RecordingControls::Obey(const ControlRequest& control) {
  if (const std::string line = file_.TakeRefusal(); !line.empty() && is_reporting_) PrintLine("%s", line.c_str());
  switch (control.word) {
    case ControlWord::kOff:
    case ControlWord::kMemory:
      windows_.RequestSteps(0);
      return SetWanted(control.word == ControlWord::kOff ? RecordingLevel::kOff : RecordingLevel::kMemory);
    case ControlWord::kOn:
      return SetWanted(RecordingLevel::kAll);
    case ControlWord::kToggle:
      return Toggle();
    case ControlWord::kSteps:
      return RequestSteps(control.steps);
    case ControlWord::kUnknown:
      if (!is_reporting_.load(std::memory_order_relaxed)) return;
      PrintLine("%s contains none of on, off, memory, snapshot and steps N; recording is unchanged",
                file_.path().c_str());
      return;
    case ControlWord::kSnapshot:
      snapshot_request_ = "control file";
      return;
    case ControlWord::kNone:
      return;
  }
}

void RecordingControls::SetJob(bool is_reporting, std::uint32_t world_size) {
  is_reporting_.store(is_reporting, std::memory_order_relaxed);
  between_looks_ns_.store(BetweenLooks(world_size), std::memory_order_relaxed);
}

// A step in which the recording of operators stops or resumes is neither a reference step nor expected to repeat.
void RecordingControls::CheckDetail(std::uint64_t now_ns) {
  const bool is_reporting = is_reporting_.load(std::memory_order_relaxed);
  if (ReferenceStepsAreFull() && !std::exchange(printed_full_, true) && is_reporting)
    PrintLine(
        "detail=auto: %llu different allocations were recorded with their operators, and steps still bring new ones; "
        "until the next part of the capture blocks alone are recorded",
        static_cast<unsigned long long>(kMostReferenceAllocations));
  const bool spent = budget_.IsSpent(now_ns, RingExtentsWithRanges());
  if (spent_.exchange(spent, std::memory_order_acq_rel) == spent) return;
  IgnoreFollowedStep();
  if (spent && !std::exchange(printed_spent_, true) && is_reporting)
    PrintLine(
        "detail=auto: steps still bring new allocations, and to record their operators takes more than %g %% of the "
        "program's time; as long as it does, blocks alone are recorded",
        100 * options_.budget.share);
}

void RecordingControls::CheckRequestedSteps(std::uint64_t now_ns) {
  if (requested_ns_ == 0 || now_ns < requested_ns_ + options_.patience_ns) return;
  requested_ns_ = 0;
  if (windows_.is_waiting() && is_reporting_.load(std::memory_order_relaxed))
    PrintLine(
        "%s requests steps in full, but no step has begun since; recording starts with the next one: memoir.step(), "
        "torch.profiler's step, the first optimizer's, or the 16th call of a module",
        file_.path().c_str());
}

// If a switch fails now, because another thread is switching or the ring is full, the next call of Look tries again.
void RecordingControls::Look() {
  if (!switch_.active()) return;
  for (std::uint32_t toggles = TakeSignals(ControlSignal::kToggle); toggles > 0; --toggles) Toggle();
  if (TakeSignals(ControlSignal::kSnapshot) > 0) snapshot_request_ = "signal";
  const std::uint64_t now = MonotonicNs();
  if (now >= next_look_ns_) {
    next_look_ns_ = now + between_looks_ns_.load(std::memory_order_relaxed);
    Obey(file_.Look());
  }
  CheckRequestedSteps(now);
  if (options_.detail == Detail::kAuto) CheckDetail(now);
  try {
    if (DesiredLevel() != switch_.level()) switch_.TrySwitchTo(DesiredLevel());
  } catch (...) {  // no memory for torch's list of callbacks: the next call tries again
  }
}

}  // namespace memoir
