#include "tools/view/live/live_words.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "fmt/format.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::uint64_t Nanoseconds(double seconds) { return static_cast<std::uint64_t>(std::max(0.0, seconds) * 1e9); }

// Formats a duration in whole seconds.
std::string LongDuration(double seconds) {
  if (seconds >= 60) return FormatDuration(Nanoseconds(std::floor(seconds)));
  return fmt::format("{:.0f} s", seconds);
}

std::string Rate(double per_second) {
  return per_second >= 10 ? fmt::format("{:.0f}", per_second) : fmt::format("{:.2g}", per_second);
}

}  // namespace

std::string LiveName(const LiveProcess& process) {
  if (!process.rank) return fmt::format("pid {}", process.pid);
  const std::string restart = process.restart == 0 ? "" : fmt::format(" restart {}", process.restart);
  return fmt::format("rank {}{} (pid {})", *process.rank, restart, process.pid);
}

std::string LiveStateText(const LiveProcess& process) {
  const std::string runs = LongDuration(process.runs_s);
  switch (process.state) {
    case LiveState::kRuns:
      return "running for " + runs;
    case LiveState::kSilent:
      return "silent for " + LongDuration(process.age_s);
    case LiveState::kEnded:
      return "ended after " + runs + (process.end.empty() ? "" : ": " + Escaped(process.end));
    case LiveState::kDied:
      return "died after " + runs;
    case LiveState::kFileGone:
      return "its files were removed after " + runs;
  }
  return "";
}

std::string LiveStepText(const LiveProcess& process) {
  if (process.step_source == StepSource::kNone) return "";
  const std::string step = fmt::format("step {}", FormatCount(process.step));
  if (process.step_seconds <= 0) return step;
  if (process.step_seconds >= 1) return fmt::format("{}, {:.1f} s each", step, process.step_seconds);
  return fmt::format("{}, {} a second", step, Rate(1 / process.step_seconds));
}

std::string LiveLevelText(const LiveProcess& process) {
  if (process.level == v1::LEVEL_OFF) return "recording is off";
  if (process.level == v1::LEVEL_MEMORY && process.collapses_repeated_steps)
    return IsRunning(process.state) ? "a repeated step, without operators" : "";
  if (process.level == v1::LEVEL_MEMORY) return "operators are not recorded";
  if (!process.asked.open) return "";
  return fmt::format("step {} of {} in full", FormatCount(process.asked.begun), FormatCount(process.asked.steps));
}

std::string LiveOutlook(const LiveMemory& device) {
  if (!device.steps_left) return "";
  const std::string steps =
      fmt::format("{} steps", FormatCount(static_cast<std::uint64_t>(std::min(*device.steps_left, 1e15))));
  // A time that is more than a year away is not printed.
  constexpr double kFar = 365.0 * 86400;
  if (device.seconds_left && *device.seconds_left > kFar) return "";
  std::string when = steps;
  if (device.seconds_left) {
    const std::string time = *device.seconds_left < 1 ? "less than 1 s" : LongDuration(*device.seconds_left);
    when = time + " (" + steps + ")";
  }
  return "memory runs out in " + when + " if it goes on like this";
}

std::vector<LiveFinding> LiveFindings(const LiveProcess& process) {
  std::vector<LiveFinding> found;
  if (process.state == LiveState::kDied) {
    const std::string rest = process.is_whole ? "" : "; the next memoir command adds its newest events";
    found.push_back({"died", "died", "ended without stopping (killed, or crashed)" + rest});
  }
  if (process.oom_count > 0) {
    const LiveOutOfMemory& last = process.ooms.back();
    std::string text = fmt::format("out of memory: {} requested on {}", FormatBytes(last.asked), Escaped(last.device));
    if (process.step_source != StepSource::kNone) text += fmt::format(" in step {}", FormatCount(last.step));
    if (process.oom_count > 1) text += fmt::format("; {} errors so far", FormatCount(process.oom_count));
    found.push_back({"out_of_memory", fmt::format("oom {}", process.oom_count), text});
  }
  for (const LiveMemory& device : process.devices) {
    if (device.growth) {
      std::string text = fmt::format("{} grows by {} a step since step {}", Escaped(device.name),
                                     FormatBytes(static_cast<std::uint64_t>(device.growth->bytes_per_step)),
                                     FormatCount(device.growth->since_step));
      if (const std::string outlook = LiveOutlook(device); !outlook.empty()) text += "; " + outlook;
      found.push_back({"growth", "growth " + device.name, text});
    }
    if (device.retries > 0) {
      found.push_back({"retries", fmt::format("retries {} {}", device.name, device.retries),
                       fmt::format("{}: the allocator emptied its cache and tried again {} times", Escaped(device.name),
                                   FormatCount(device.retries))});
    }
  }
  if (process.lost_events > 0)
    found.push_back(
        {"lost_events", "lost", FormatCount(process.lost_events) + " events were lost: figures are too low"});
  if (!process.write_error.empty()) found.push_back({"disk", "disk", Escaped(process.write_error)});
  if (!process.damage.empty()) found.push_back({"damage", "damage", Escaped(process.damage)});
  return found;
}

std::vector<const LiveMemory*> DevicesInFocus(const LiveProcess& process) {
  std::vector<const LiveMemory*> all, caching;
  for (const LiveMemory& device : process.devices) {
    all.push_back(&device);
    if (device.caching) caching.push_back(&device);
  }
  return caching.empty() ? all : caching;
}

std::vector<const LiveProcess*> ProcessesWorstFirst(const LiveFigures& figures) {
  std::vector<const LiveProcess*> processes;
  for (const LiveProcess& process : figures.processes) processes.push_back(&process);
  const auto badness = [](const LiveProcess* process) {
    double left = 1;
    std::uint64_t most = 0;
    for (const LiveMemory* device : DevicesInFocus(*process)) {
      if (device->headroom && device->total && *device->total > 0)
        left = std::min(left, static_cast<double>(*device->headroom) / static_cast<double>(*device->total));
      most = std::max(most, device->allocated);
    }
    const bool trouble = process->state == LiveState::kDied || process->oom_count > 0;
    const bool found = !LiveFindings(*process).empty();
    const bool over = process->state == LiveState::kEnded || process->state == LiveState::kFileGone;
    return std::tuple(!trouble, !found, over, left, ~most, process->rank.value_or(~0u), process->pid);
  };
  std::ranges::stable_sort(processes, {}, badness);
  return processes;
}

}  // namespace memoir
