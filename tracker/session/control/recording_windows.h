// Decides when operators are recorded: in selected steps, in a user range, by a schedule like torch.profiler's, and in
// steps that are requested while the program runs. RecordingControls then switches the level.
//
// Steps come from one of these sources. If a program has several, the first in this list is used:
//   calls of memoir.step()
//   torch.profiler's ProfilerStep ranges
//   the ends of the calls of one optimizer: the first optimizer that is called
//   calls of a module (only with detail=auto or requested steps)
//
// Any thread.
#ifndef TRACKER_SESSION_CONTROL_RECORDING_WINDOWS_H_
#define TRACKER_SESSION_CONTROL_RECORDING_WINDOWS_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracker/repeated_steps/step_module.h"

namespace memoir {

struct WindowOptions {
  struct Steps {
    std::uint64_t first = 0, last = 0;  // `last` is the first step after the window
  };
  struct Range {
    std::string name;
    std::optional<std::uint64_t> occurrence;  // number of one range, counted from 0; nullopt: all ranges of this name
  };
  struct Schedule {  // fields as in torch.profiler.schedule
    std::uint64_t skip_first = 0, wait = 0, warmup = 0, active = 0;
    std::uint64_t repeat = 0;  // 0: without end
  };
  std::optional<Steps> steps;
  std::optional<Range> range;
  std::optional<Schedule> schedule;
  bool any() const { return steps || range || schedule; }
};

// Parse an option: ParseSteps "10:12", ParseRange "NAME" or "NAME#3", ParseSchedule
// "wait=1,warmup=1,active=3,repeat=2". nullopt if the text is invalid.
std::optional<WindowOptions::Steps> ParseSteps(const std::string& text);
WindowOptions::Range ParseRange(const std::string& text);
std::optional<WindowOptions::Schedule> ParseSchedule(const std::string& text);

class RecordingWindows {
 public:
  enum class StepSource : std::uint8_t { kNone, kModule, kOptimizer, kProfiler, kProgram };
  // The begin of a step.
  struct StepMark {
    std::uint64_t step = 0;
    StepSource source = StepSource::kNone;
    bool closes = false;      // the requested steps have ended with the previous step
    std::uint64_t opens = 0;  // if this is the first requested step: the number of requested steps; else 0
  };
  explicit RecordingWindows(const WindowOptions& options);

  std::optional<StepMark> BeginStep(std::uint64_t step);  // called by memoir.step()
  // Return the step that begins when a range begins or ends. nullopt if no step begins, or if a better source marks the
  // steps. `range` is any address that belongs to the range alone while the range is open.
  std::optional<StepMark> BeginRange(const void* range, std::string_view name);
  std::optional<StepMark> EndRange(const void* range, std::string_view name);
  // Returns the step that begins with an outermost module call; nullopt if no step begins.
  std::optional<StepMark> NoteModuleCall(std::uint64_t module);
  bool is_open() const;  // true while the program is inside of the window

  // Requests that the next `steps` steps are recorded with all operators, even outside of the window. Replaces an
  // earlier request. 0: withdraws the request.
  void RequestSteps(std::uint64_t steps);
  // Returns true while a requested step runs.
  bool in_request() const { return left_.load(std::memory_order_acquire) > 0; }
  // Returns true if steps are requested and the first of them has not begun.
  bool is_waiting() const;

 private:
  bool IsInside(std::uint64_t step) const;
  std::optional<StepMark> Step(std::uint64_t step, StepSource source);

  const WindowOptions options_;
  mutable std::mutex mutex_;
  bool open_;
  StepSource source_ = StepSource::kNone;
  std::string optimizer_;           // name of the ranges of the optimizer whose calls are steps
  std::uint64_t steps_behind_ = 0;  // number of calls of this optimizer that have ended
  StepModule step_module_;
  std::uint64_t occurrence_ = 0;      // number of ranges of the window's name that have begun
  std::vector<const void*> opening_;  // open ranges that hold the window open
  std::uint64_t requested_ = 0;       // number of steps requested since the newest step began; 0: none
  // Number of requested steps left, including the running step; written under the lock.
  std::atomic<std::uint64_t> left_{0};
};

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_RECORDING_WINDOWS_H_
