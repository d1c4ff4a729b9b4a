#include "tools/cli/live/live_keys.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::uint64_t kSteps = 3;  // number of steps if no number is typed
constexpr std::size_t kMostDigits = 6;

// Returns true if operators are recorded. With --detail auto, the level LEVEL_MEMORY may only mean a repeated step.
bool RecordsOperators(const LiveFigures& figures) {
  const LiveProcess& process = figures.processes.front();
  return process.level == v1::LEVEL_ALL || (process.collapses_repeated_steps && process.level == v1::LEVEL_MEMORY);
}

std::string StepsText(std::uint64_t steps) { return steps == 1 ? "1 step" : FormatCount(steps) + " steps"; }

// Returns a text such as "; begun in 3 of 8 processes". "" if there is only one process.
std::string InProcesses(std::string_view what, std::size_t some, std::size_t all) {
  return all == 1 ? "" : fmt::format("; {} in {} of {} processes", what, FormatCount(some), FormatCount(all));
}

// Returns the number of steps in the typed digits; kSteps without digits.
std::uint64_t StepsOf(const std::string& digits) {
  std::uint64_t steps = kSteps;
  return digits.empty() || !absl::SimpleAtoi(digits, &steps) ? kSteps : steps;
}

std::string OverText(const LiveFigures& figures, const FullStepRequest& of) {
  const std::string which =
      of.begun == 1 ? fmt::format("step {} was", FormatCount(of.first))
                    : fmt::format("steps {} to {} were", FormatCount(of.first), FormatCount(of.first + of.begun - 1));
  const std::string words =
      fmt::format("show --steps {}:{} {}", of.first, of.first + of.begun, TypedPath(figures.folder));
  return fmt::format("{} recorded in full: {}", which, PrintedCommand(words));
}

}  // namespace

std::string NoSnapshotCame(const std::string& control) {
  return "no snapshot came within 10 s: no process of the recording looks at " + control;
}

bool IsAnyRunning(const LiveFigures& figures) {
  return std::ranges::any_of(figures.processes, IsRunning, &LiveProcess::state);
}

std::string ControlFileOf(const LiveFigures& figures) {
  return ControlFileOf(figures.folder, figures.processes.empty() ? 0 : figures.processes.front().pid);
}

std::string LiveKeys::Line(const LiveFigures& figures) const {
  if (!IsAnyRunning(figures)) return "q quit";
  const bool all = RecordsOperators(figures);
  return (all ? "q quit  s snapshot  o recording off  m memory only  " : "q quit  s snapshot  o recording on  ") +
         fmt::format("w {} in full", StepsText(StepsOf(digits_)));
}

void LiveKeys::Press(char key, const LiveFigures& figures) {
  if (!IsAnyRunning(figures)) return;
  if (key >= '0' && key <= '9') {
    if (digits_.size() < kMostDigits && (key != '0' || !digits_.empty())) digits_ += key;
    return;
  }
  control_ = ControlFileOf(figures);
  const bool all = RecordsOperators(figures);
  if (key == 's') {
    request_.emplace(figures.folder);
    Ask("snapshot", "a snapshot is requested");
  } else if (key == 'o') {
    Ask(all ? "off" : "on", all ? "recording is switched off" : "recording is switched on");
  } else if (key == 'm' && all) {
    Ask("memory", "only memory is recorded from now on, no operators");
  } else if (key == 'w') {
    AskForSteps(figures);
  }
  digits_.clear();
}

void LiveKeys::Ask(const std::string& word, std::string said) {
  asked_.reset();
  const absl::Status asked = WriteControl(control_, word);
  message_ = asked.ok() ? std::move(said) : std::string(asked.message());
  if (!asked.ok()) request_.reset();
}

void LiveKeys::AskForSteps(const LiveFigures& figures) {
  StepRequest wish{StepsOf(digits_), {}};
  for (const LiveProcess& process : figures.processes) wish.times_before[process.pid] = process.asked.times;
  const absl::Status asked = WriteControl(control_, fmt::format("steps {}", wish.steps));
  request_.reset();
  asked_.reset();
  message_ = std::string(asked.message());
  if (!asked.ok()) return;
  asked_ = std::move(wish);
  LookForSteps(figures);
}

void LiveKeys::CheckRequests(const LiveFigures& figures) {
  LookForSnapshot();
  LookForSteps(figures);
}

void LiveKeys::LookForSnapshot() {
  if (!request_) return;
  if (const auto folder = request_->Find()) {
    message_ = "snapshot: " + *folder;
    request_.reset();
  } else if (request_->age() > kSnapshotPatience) {
    message_ = NoSnapshotCame(control_);
    request_.reset();
  }
}

// Updates the message about requested steps. The message describes the first process that has begun to record them,
// because the ranks of a job are in nearly the same step.
void LiveKeys::LookForSteps(const LiveFigures& figures) {
  if (!asked_) return;
  std::size_t running = 0, begun = 0, open = 0;
  const LiveProcess* described = nullptr;
  const auto has_steps = [](const LiveProcess& process) { return process.step_source != StepSource::kNone; };
  const bool any_has_steps = std::ranges::any_of(figures.processes, has_steps);
  for (const LiveProcess& process : figures.processes) {
    const bool has_begun = process.asked.times > asked_->times_before[process.pid];
    if (!has_begun && (!IsRunning(process.state) || (any_has_steps && !has_steps(process)))) continue;
    ++running;
    begun += has_begun;
    open += has_begun && process.asked.open;
    if (has_begun && (described == nullptr || (process.asked.open && !described->asked.open))) described = &process;
  }
  const std::string steps = StepsText(asked_->steps);
  if (running == 0) {
    message_ = "the program ended before a step began; none was recorded in full";
    asked_.reset();
  } else if (begun < running) {
    message_ = fmt::format("{} in full {} asked for, from the next step on{}", steps, asked_->steps == 1 ? "is" : "are",
                           InProcesses("begun", begun, running));
    if (!any_has_steps)
      message_ = fmt::format(
          "{} in full {} asked for, but no step has begun so far; waiting for memoir.step() "
          "or an optimizer's step",
          steps, asked_->steps == 1 ? "is" : "are");
  } else if (open > 0) {
    message_ = fmt::format("step {} of {} in full{}", FormatCount(described->asked.begun), FormatCount(asked_->steps),
                           InProcesses("so", open, running));
  } else {
    message_ = OverText(figures, described->asked);
    asked_.reset();
  }
}

}  // namespace memoir
