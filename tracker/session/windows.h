// In which windows operators are recorded: steps, a user range, or a schedule as torch.profiler's; and the next steps
// that somebody asks for while the program runs. Decides; switches nothing.
//
// Where a step begins: at memoir.step(); where the program calls none, at torch.profiler's ProfilerStep ranges, else
// behind each call of the first optimizer seen; else, with detail=auto or where steps are asked for, at calls of a
// module. Any thread.
#ifndef TRACKER_SESSION_WINDOWS_H_
#define TRACKER_SESSION_WINDOWS_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracker/detail/step_module.h"

namespace memoir {

struct WindowOptions {
  struct Steps {
    std::uint64_t first = 0, last = 0;  // `last` is the first one outside
  };
  struct Range {
    std::string name;
    std::optional<std::uint64_t> occurrence;  // from 0; none: all of them
  };
  struct Schedule {
    std::uint64_t skip_first = 0, wait = 0, warmup = 0, active = 0;
    std::uint64_t repeat = 0;  // 0: without end
  };
  std::optional<Steps> steps;
  std::optional<Range> range;
  std::optional<Schedule> schedule;
  bool any() const { return steps || range || schedule; }
};

// "10:12", "NAME" or "NAME#3", "wait=1,warmup=1,active=3,repeat=2". Nothing for what is none.
std::optional<WindowOptions::Steps> ParseSteps(const std::string& text);
WindowOptions::Range ParseRange(const std::string& text);
std::optional<WindowOptions::Schedule> ParseSchedule(const std::string& text);

class Windows {
 public:
  enum class StepSource : std::uint8_t { kNone, kModule, kOptimizer, kProfiler, kProgram };
  // A step began.
  struct Mark {
    std::uint64_t step = 0;
    StepSource source = StepSource::kNone;
    bool closes = false;      // the steps that were asked for are over
    std::uint64_t opens = 0;  // it is the first of so many that were asked for
  };
  explicit Windows(const WindowOptions& options);

  std::optional<Mark> StepBegins(std::uint64_t step);  // memoir.step()
  // Return the step that began with the event, one that the program did not name itself. `range` is any address that is
  // the range's own while it is open.
  std::optional<Mark> RangeBegins(const void* range, std::string_view name);
  std::optional<Mark> RangeEnds(const void* range, std::string_view name);
  // Likewise, of a call of a module with none around it.
  std::optional<Mark> ModuleBegins(std::uint64_t module);
  bool open() const;

  // The next `steps`, whatever the options are; instead of those that were asked for before. 0: none any more.
  void Ask(std::uint64_t steps);
  // One of them runs.
  bool in_asked() const { return left_.load(std::memory_order_acquire) > 0; }
  // None of them has begun.
  bool waits() const;

 private:
  bool IsInside(std::uint64_t step) const;
  std::optional<Mark> Step(std::uint64_t step, StepSource source);

  const WindowOptions options_;
  mutable std::mutex mutex_;
  bool open_;
  StepSource source_ = StepSource::kNone;
  std::string optimizer_;           // the range of the one that counts steps
  std::uint64_t steps_behind_ = 0;  // its calls
  StepModule step_module_;
  std::uint64_t occurrence_ = 0;        // of the range, so far
  std::vector<const void*> opening_;    // the ranges that are open and wanted
  std::uint64_t asked_ = 0;             // steps, from the next one on
  std::atomic<std::uint64_t> left_{0};  // of the steps asked for, with the one that runs; written under the lock
};

}  // namespace memoir

#endif  // TRACKER_SESSION_WINDOWS_H_
