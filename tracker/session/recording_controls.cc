#include "tracker/session/recording_controls.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "interpose/tick.h"
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

// Called by torch: nothing may leave.
bool OnRangeBegins(const void* range, const char* name) {
  try {
    return RecordingControls::WithCurrent([=](RecordingControls& own) { return own.RangeBegins(range, name); }, false);
  } catch (...) {
    return false;
  }
}

void OnRangeEnds(const void* range, const char* name) {
  const auto end = [=](RecordingControls& own) {
    own.RangeEnds(range, name);
    return true;
  };
  try {
    RecordingControls::WithCurrent(end, false);
  } catch (...) {  // out of memory: the window stays as it is
  }
}

constexpr RangeWatcher kWatcher{&OnRangeBegins, &OnRangeEnds};

}  // namespace

RecordingControls::RecordingControls(const ControlOptions& options)
    : options_(options),
      wanted_(options.start),
      speaks_(options.speaks),
      between_looks_ns_(BetweenLooks(options.world_size)),
      file_(options.control_file) {
  if (options.windows.any()) windows_.emplace(options.windows);
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
    WatchUserRanges(controls->windows_ ? &kWatcher : nullptr);
    controls->switch_.Begin(controls->Desired());
  } catch (...) {
    controls->End();
    throw;
  }
  return controls;
}

void RecordingControls::GiveUp() noexcept { switch_.GiveUp(); }

void RecordingControls::End() {
  switch_.End();
  WatchUserRanges(nullptr);
  RemoveControlSignals();
}

RecordingLevel RecordingControls::Desired() const {
  const bool inside = !windows_ || windows_->open();
  return std::min(wanted_.load(std::memory_order_acquire), inside ? RecordingLevel::kAll : RecordingLevel::kMemory);
}

bool RecordingControls::Want(RecordingLevel level) {
  wanted_.store(level, std::memory_order_release);
  return switch_.To(Desired(), OnEmptyPool::kWait);
}

// A step that opens a window lies in it, and so does the one that closes it: views end a window with that event.
void RecordingControls::Apply(std::optional<std::uint64_t> new_step) {
  const RecordingLevel desired = Desired();
  const bool down = desired < switch_.level();
  if (!down) switch_.To(desired, OnEmptyPool::kWait);
  if (new_step) RecordStep(*new_step);
  if (down) switch_.To(desired, OnEmptyPool::kWait);
}

void RecordingControls::Step(std::uint64_t step) {
  if (!windows_) return RecordStep(step);
  windows_->StepBegins(step);
  Apply(step);
}

bool RecordingControls::RangeBegins(const void* range, const char* name) {
  const bool before = switch_.level() == RecordingLevel::kAll;
  Apply(windows_->RangeBegins(range, name));
  return !before && switch_.level() == RecordingLevel::kAll;
}

void RecordingControls::RangeEnds(const void* range, const char* name) { Apply(windows_->RangeEnds(range, name)); }

void RecordingControls::Toggle() {
  const RecordingLevel rest =
      options_.start == RecordingLevel::kMemory ? RecordingLevel::kMemory : RecordingLevel::kOff;
  wanted_.store(wanted_.load(std::memory_order_relaxed) == RecordingLevel::kAll ? rest : RecordingLevel::kAll,
                std::memory_order_release);
}

void RecordingControls::Obey(ControlWord word) {
  switch (word) {
    case ControlWord::kOff:
      return wanted_.store(RecordingLevel::kOff, std::memory_order_release);
    case ControlWord::kMemory:
      return wanted_.store(RecordingLevel::kMemory, std::memory_order_release);
    case ControlWord::kOn:
      return wanted_.store(RecordingLevel::kAll, std::memory_order_release);
    case ControlWord::kToggle:
      return Toggle();
    case ControlWord::kUnknown:
      if (!speaks_.load(std::memory_order_relaxed)) return;
      SayLine("%s contains none of on, off, memory and snapshot; recording is unchanged", file_.path().c_str());
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

// What cannot be switched now, for another thread switches or the ring is full, is tried again at the next look.
void RecordingControls::Look() {
  if (!switch_.active()) return;
  for (std::uint32_t toggles = TakeSignals(ControlSignal::kToggle); toggles > 0; --toggles) Toggle();
  if (TakeSignals(ControlSignal::kSnapshot) > 0) snapshot_asked_ = "signal";
  if (const std::uint64_t now = MonotonicNs(); now >= next_look_ns_) {
    next_look_ns_ = now + between_looks_ns_.load(std::memory_order_relaxed);
    Obey(file_.Look());
  }
  try {
    if (Desired() != switch_.level()) switch_.TryTo(Desired());
  } catch (...) {  // no memory for torch's list of callbacks: likewise
  }
}

}  // namespace memoir
