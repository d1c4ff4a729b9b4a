#include "tracker/session/control/recording_windows.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace memoir {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep#";
constexpr std::string_view kOptimizerStep = "Optimizer.step#";

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint64_t* FieldOf(WindowOptions::Schedule& schedule, std::string_view name) {
  if (name == "skip_first") return &schedule.skip_first;
  if (name == "wait") return &schedule.wait;
  if (name == "warmup") return &schedule.warmup;
  if (name == "active") return &schedule.active;
  if (name == "repeat") return &schedule.repeat;
  return nullptr;
}

// Decides like torch.profiler.schedule, except that warm-up steps are not recorded, because Memoir needs no warm-up.
bool IsActive(WindowOptions::Schedule schedule, std::uint64_t step) {
  if (step < schedule.skip_first) return false;
  step -= schedule.skip_first;
  const std::uint64_t cycle = schedule.wait + schedule.warmup + schedule.active;
  if (schedule.repeat != 0 && step / cycle >= schedule.repeat) return false;
  return step % cycle >= schedule.wait + schedule.warmup;
}

}  // namespace

std::optional<WindowOptions::Steps> ParseSteps(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto first = Number(std::string_view(text).substr(0, colon));
  const auto last = Number(std::string_view(text).substr(colon + 1));
  if (!first || !last || *last <= *first) return std::nullopt;
  return WindowOptions::Steps{*first, *last};
}

WindowOptions::Range ParseRange(const std::string& text) {
  const std::size_t hash = text.rfind('#');
  if (hash != std::string::npos) {
    if (const auto occurrence = Number(std::string_view(text).substr(hash + 1)))
      return {text.substr(0, hash), occurrence};
  }
  return {text, std::nullopt};
}

std::optional<WindowOptions::Schedule> ParseSchedule(const std::string& text) {
  constexpr std::uint64_t kMost = 1'000'000'000;  // so that no sum of these numbers overflows
  WindowOptions::Schedule schedule;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view field = rest.substr(0, rest.find(','));
    rest.remove_prefix(field.size() == rest.size() ? field.size() : field.size() + 1);
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    std::uint64_t* place = FieldOf(schedule, field.substr(0, equals));
    const auto number = Number(field.substr(equals + 1));
    if (place == nullptr || !number || *number > kMost) return std::nullopt;
    *place = *number;
  }
  if (schedule.active == 0) return std::nullopt;
  return schedule;
}

// Events before the first mark belong to step 0, so the window may be open before any mark. In a program whose steps
// are calls of its optimizer, the first mark begins step 1, and step 0 has no mark.
RecordingWindows::RecordingWindows(const WindowOptions& options)
    : options_(options), open_((options.steps || options.schedule) && IsInside(0)) {}

bool RecordingWindows::is_open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

bool RecordingWindows::IsInside(std::uint64_t step) const {
  if (options_.steps) return step >= options_.steps->first && step < options_.steps->last;
  return options_.schedule && IsActive(*options_.schedule, step);
}

// Called under the lock. Returns nullopt if a better source, with a greater StepSource, has already marked a step.
std::optional<RecordingWindows::StepMark> RecordingWindows::Step(std::uint64_t step, StepSource source) {
  if (source < source_) return std::nullopt;
  source_ = source;
  if (!options_.range) open_ = IsInside(step);
  StepMark mark{.step = step, .source = source};
  std::uint64_t left = left_.load(std::memory_order_relaxed);
  mark.closes = left == 1 || (left > 0 && requested_ > 0);
  left = requested_ > 0 ? requested_ : left - std::min<std::uint64_t>(left, 1);
  mark.opens = std::exchange(requested_, 0);
  left_.store(left, std::memory_order_release);
  return mark;
}

std::optional<RecordingWindows::StepMark> RecordingWindows::BeginStep(std::uint64_t step) {
  const std::lock_guard lock(mutex_);
  return Step(step, StepSource::kProgram);
}

// If requested steps are running when steps are requested again, the next step ends the earlier request.
void RecordingWindows::RequestSteps(std::uint64_t steps) {
  const std::lock_guard lock(mutex_);
  requested_ = steps;
  if (steps == 0) left_.store(0, std::memory_order_release);
}

bool RecordingWindows::is_waiting() const {
  const std::lock_guard lock(mutex_);
  return requested_ > 0;
}

// Several ranges of the same name may be open at the same time, on several threads or inside of each other.
std::optional<RecordingWindows::StepMark> RecordingWindows::BeginRange(const void* range, std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (options_.range && name == options_.range->name) {
    const std::uint64_t number = occurrence_++;
    if (!options_.range->occurrence || *options_.range->occurrence == number) opening_.push_back(range);
    open_ = !opening_.empty();
  }
  if (name.starts_with(kProfilerStep)) {
    if (const auto step = Number(name.substr(kProfilerStep.size()))) return Step(*step, StepSource::kProfiler);
  }
  return std::nullopt;
}

std::optional<RecordingWindows::StepMark> RecordingWindows::EndRange(const void* range, std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto wanted = std::find(opening_.begin(), opening_.end(), range); wanted != opening_.end()) {
    opening_.erase(wanted);
    open_ = !opening_.empty();
  }
  if (name.starts_with(kOptimizerStep)) {
    if (optimizer_.empty()) optimizer_ = name;
    if (optimizer_ == name) return Step(++steps_behind_, StepSource::kOptimizer);
  }
  return std::nullopt;
}

std::optional<RecordingWindows::StepMark> RecordingWindows::NoteModuleCall(std::uint64_t module) {
  const std::lock_guard lock(mutex_);
  if (source_ > StepSource::kModule) return std::nullopt;
  const auto step = step_module_.NoteCall(module);
  return step ? Step(*step, StepSource::kModule) : std::nullopt;
}

}  // namespace memoir
