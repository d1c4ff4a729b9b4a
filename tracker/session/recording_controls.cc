#include "tracker/session/recording_controls.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "interpose/ring.h"
#include "interpose/ring_use.h"
#include "interpose/tick.h"
#include "tracker/detail/known_steps.h"
#include "tracker/modules/outermost_calls.h"
#include "tracker/session/control_callbacks.h"
#include "tracker/session/control_signals.h"
#include "tracker/session/program_records.h"
#include "tracker/session/terminal_line.h"
#include "tracker/torch/hooks.h"

namespace memoir {
namespace {

// A look at the file may be a round trip to a server, and a job's ranks share one: of more than this, each looks so
// much more seldom.
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
      budget_(options.budget, MonotonicNs(), RingSegmentsWithRanges()),
      speaks_(options.speaks),
      between_looks_ns_(BetweenLooks(options.world_size)),
      file_(options.control_file),
      windows_(options.windows),
      follows_steps_(options.windows.any() || options.detail == Detail::kAuto) {
  Obey(file_.First());
}

constinit Published<RecordingControls> RecordingControls::current_;

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
    EndKnownSteps();  // of a parent, in a forked child
    if (options.detail == Detail::kAuto && !BeginKnownSteps(&OnDeviation)) throw std::bad_alloc();
    FollowOutermostCalls(options.detail == Detail::kAuto ? &OnOutermostCall : nullptr);
    controls->switch_.Begin(controls->Desired());
  } catch (...) {
    controls->End();
    throw;
  }
  return controls;
}

void RecordingControls::GiveUp() noexcept {
  FollowOutermostCalls(nullptr);
  EndKnownSteps();
  switch_.GiveUp();
}

void RecordingControls::End() {
  FollowOutermostCalls(nullptr);
  EndKnownSteps();
  switch_.End();
  WatchUserRanges(nullptr);
  RemoveControlSignals();
}

RecordingLevel RecordingControls::Desired() const {
  const RecordingLevel wanted = wanted_.load(std::memory_order_acquire);
  if (windows_.in_asked()) return called_in_asked_.load(std::memory_order_acquire) ? wanted : RecordingLevel::kAll;
  const bool inside = !options_.windows.any() || windows_.open();
  const bool operators = inside && !spent_.load(std::memory_order_acquire);
  return std::min(
      {wanted, detail_.load(std::memory_order_acquire), operators ? RecordingLevel::kAll : RecordingLevel::kMemory});
}

bool RecordingControls::Want(RecordingLevel level) {
  SetWanted(level);
  return switch_.To(Desired(), OnEmptyPool::kWait);
}

// A step that opens a window lies in it, and so does the one that closes it: views end a window with that event.
void RecordingControls::Apply(const std::optional<Windows::Mark>& mark) {
  if (mark && mark->opens > 0) called_in_asked_.store(false, std::memory_order_release);
  if (mark && options_.detail == Detail::kAuto) FollowStep();
  const RecordingLevel desired = Desired();
  const bool down = desired < switch_.level();
  if (!down) switch_.To(desired, OnEmptyPool::kWait);
  if (mark) RecordMarked(*mark);
  if (down) switch_.To(desired, OnEmptyPool::kWait);
}

// Steps that the program does not count itself are numbered where a recording is made by them; elsewhere readers find
// them by the ranges that are recorded.
void RecordingControls::RecordMarked(const Windows::Mark& mark) {
  const bool by_steps = options_.detail == Detail::kAuto || options_.windows.steps || options_.windows.schedule;
  if (by_steps || mark.source == Windows::StepSource::kProgram) RecordStep(mark.step);
  if (mark.closes) RecordAskedEnd();
  const bool has_number = by_steps || mark.source >= Windows::StepSource::kProfiler;
  if (mark.opens > 0) RecordAskedBegin(mark.opens, has_number ? std::optional(mark.step) : std::nullopt);
}

// Each part of the capture has steps in full of its own.
void RecordingControls::FollowStep() {
  ThreadSlot* slot = RingThread();
  if (slot == nullptr) return;
  const std::uint64_t parts = RingReadCounters().parts;
  if (parts_.exchange(parts, std::memory_order_relaxed) != parts) ForgetKnownSteps();
  const bool wants_all = wanted_.load(std::memory_order_acquire) == RecordingLevel::kAll;
  const bool may_be_full = windows_.in_asked() ? wants_all || !called_in_asked_.load(std::memory_order_acquire)
                                               : wants_all && !spent_.load(std::memory_order_acquire);
  const bool known = KnownStepBegins(slot->thread, may_be_full);
  detail_.store(known ? RecordingLevel::kMemory : RecordingLevel::kAll, std::memory_order_release);
}

// Where another thread switches in this moment, the writer's thread does it with its next look.
void RecordingControls::Deviates() noexcept {
  detail_.store(RecordingLevel::kAll, std::memory_order_release);
  try {
    switch_.TryTo(Desired());
  } catch (...) {  // no memory for torch's list of callbacks: likewise
  }
}

void RecordingControls::Step(std::uint64_t step) { ApplyMark(windows_.StepBegins(step)); }

bool RecordingControls::RangeBegins(const void* range, const char* name) {
  const bool before = switch_.level() == RecordingLevel::kAll;
  ApplyMark(windows_.RangeBegins(range, name));
  return !before && switch_.level() == RecordingLevel::kAll;
}

void RecordingControls::RangeEnds(const void* range, const char* name) { ApplyMark(windows_.RangeEnds(range, name)); }

// A program that marks its steps has no others.
void RecordingControls::ApplyMark(const std::optional<Windows::Mark>& mark) {
  if (mark) FollowOutermostCalls(nullptr);
  Apply(mark);
}

void RecordingControls::ModuleBegins(std::uint64_t module) {
  if (const auto mark = windows_.ModuleBegins(module)) Apply(mark);
}

// On the writer's thread. What begins steps is followed from now on, where it was not. They are asked for at last: the
// mark of one that begins meanwhile would be passed over.
void RecordingControls::AskForSteps(std::uint64_t steps) {
  try {
    if (!std::exchange(follows_steps_, true)) {
      WatchUserRanges(&kControlsWatcher);
      FollowOutermostCalls(&OnOutermostCall);
    }
  } catch (...) {  // no memory: memoir.step() alone begins steps
  }
  windows_.Ask(steps);
  asked_ns_ = MonotonicNs();
}

// What is not recorded meanwhile is missing in the step: it can neither be learned nor be known.
void RecordingControls::SetWanted(RecordingLevel level) {
  called_in_asked_.store(true, std::memory_order_release);
  if (wanted_.exchange(level, std::memory_order_acq_rel) == level || options_.detail != Detail::kAuto) return;
  PassKnownStep();
  detail_.store(RecordingLevel::kAll, std::memory_order_release);
}

void RecordingControls::Toggle() {
  const RecordingLevel rest =
      options_.start == RecordingLevel::kMemory ? RecordingLevel::kMemory : RecordingLevel::kOff;
  windows_.Ask(0);
  SetWanted(wanted_.load(std::memory_order_relaxed) == RecordingLevel::kAll ? rest : RecordingLevel::kAll);
}

void RecordingControls::Obey(const Control& control) {
  switch (control.word) {
    case ControlWord::kOff:
      windows_.Ask(0);
      return SetWanted(RecordingLevel::kOff);
    case ControlWord::kMemory:
      windows_.Ask(0);
      return SetWanted(RecordingLevel::kMemory);
    case ControlWord::kOn:
      return SetWanted(RecordingLevel::kAll);
    case ControlWord::kToggle:
      return Toggle();
    case ControlWord::kSteps:
      return AskForSteps(control.steps);
    case ControlWord::kUnknown:
      if (!speaks_.load(std::memory_order_relaxed)) return;
      SayLine("%s contains none of on, off, memory, snapshot and steps N; recording is unchanged",
              file_.path().c_str());
      return;
    case ControlWord::kSnapshot:
      snapshot_asked_ = "control file";
      return;
    case ControlWord::kNone:
      return;
  }
}

void RecordingControls::SetJob(bool speaks, std::uint32_t world_size) {
  speaks_.store(speaks, std::memory_order_relaxed);
  between_looks_ns_.store(BetweenLooks(world_size), std::memory_order_relaxed);
}

// A step in which operators go, or come again, is neither learned nor expected to be known.
void RecordingControls::LookAtDetail(std::uint64_t now_ns) {
  const bool speaks = speaks_.load(std::memory_order_relaxed);
  if (KnownStepsAreFull() && !std::exchange(said_full_, true) && speaks)
    SayLine(
        "detail=auto: %llu different allocations were recorded with their operators, and steps still bring new ones; "
        "until the next part of the capture blocks alone are recorded",
        static_cast<unsigned long long>(kMostKnownAllocations));
  const bool spent = budget_.IsSpent(now_ns, RingSegmentsWithRanges());
  if (spent_.exchange(spent, std::memory_order_acq_rel) == spent) return;
  PassKnownStep();
  if (spent && !std::exchange(said_spent_, true) && speaks)
    SayLine(
        "detail=auto: steps still bring new allocations, and to record their operators takes more than %g %% of the "
        "program's time; as long as it does, blocks alone are recorded",
        100 * options_.budget.share);
}

void RecordingControls::LookAtAsked(std::uint64_t now_ns) {
  if (asked_ns_ == 0 || now_ns < asked_ns_ + options_.patience_ns) return;
  asked_ns_ = 0;
  if (windows_.waits() && speaks_.load(std::memory_order_relaxed))
    SayLine(
        "%s asks for steps in full, and no step has begun since; they are recorded when one does, with memoir.step(), "
        "torch.profiler's step, the first optimizer's, or the 16th call of a module",
        file_.path().c_str());
}

// What cannot be switched now, for another thread switches or the ring is full, is tried again at the next look.
void RecordingControls::Look() {
  if (!switch_.active()) return;
  for (std::uint32_t toggles = TakeSignals(ControlSignal::kToggle); toggles > 0; --toggles) Toggle();
  if (TakeSignals(ControlSignal::kSnapshot) > 0) snapshot_asked_ = "signal";
  const std::uint64_t now = MonotonicNs();
  if (now >= next_look_ns_) {
    next_look_ns_ = now + between_looks_ns_.load(std::memory_order_relaxed);
    Obey(file_.Look());
  }
  LookAtAsked(now);
  if (options_.detail == Detail::kAuto) LookAtDetail(now);
  try {
    if (Desired() != switch_.level()) switch_.TryTo(Desired());
  } catch (...) {  // no memory for torch's list of callbacks: likewise
  }
}

}  // namespace memoir
