// The most that each device had in every step, in at most kMostWindows windows of as many steps as that takes.
//
//     steps    0 1 2 3 4 5 6 7 8 …        a window more than there is room for: two become one
//     windows  [0 1][2 3][4 5][6 7] …     their numbers are multiples of their length, so that those of ranks are alike
#ifndef TOOLS_ANALYZE_RANKS_STEP_WINDOWS_H_
#define TOOLS_ANALYZE_RANKS_STEP_WINDOWS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memoir/v1/summary.pb.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/steps.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

struct StepLevels {
  std::uint64_t allocated = 0, active = 0, reserved = 0;
  std::uint64_t used = 0;  // of the device, by all processes; 0: not sampled
  // The larger of each.
  void Raise(const StepLevels& other);
  bool operator==(const StepLevels&) const = default;
};

// Windows of `steps`, of which `wider` is a multiple, as windows of `wider`.
template <class Window>
std::map<std::uint64_t, Window> Widened(const std::map<std::uint64_t, Window>& windows, std::uint64_t steps,
                                        std::uint64_t wider) {
  std::map<std::uint64_t, Window> wide;
  for (const auto& [number, window] : windows) {
    const auto [known, added] = wide.try_emplace(number / (wider / steps), window);
    if (!added) known->second.Raise(window);
  }
  return wide;
}

class StepWindows {
 public:
  static constexpr std::size_t kMostWindows = 128;

  // What is noted from here on is of that step, and so are the levels that are left from before.
  void Begin(std::uint64_t step, const StepLevels& now);
  void Note(const StepLevels& now) { current().Raise(now); }
  // What counts as a step is another thing from here on: all so far was before the first, which is `step`.
  void Restart(std::uint64_t step);

  std::uint64_t window_steps() const { return steps_; }
  const std::map<std::uint64_t, StepLevels>& windows() const { return windows_; }  // by first step / window_steps()

 private:
  StepLevels& current() { return windows_[step_ / steps_]; }

  std::uint64_t steps_ = 1, step_ = 0;
  std::map<std::uint64_t, StepLevels> windows_;
};

// Windows of several processes, and their errors for want of memory.
class StepWindowsPass : public Visitor {
 public:
  static constexpr std::size_t kMostRefused = 4;  // of a process
  struct Device {
    StepWindows windows;
    StepLevels now;
    std::uint64_t most_used = 0;
    bool known = false;
  };
  struct Process {
    StepSource source = StepSource::kNone;
    std::uint64_t steps = 0;                  // that have begun
    std::map<std::string, DeviceId> devices;  // by name
    std::vector<v1::RefusedSummary> refused;  // the newest
  };
  // After the replay. By DeviceId, and by ProcessId.
  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<Process>& processes() const { return processes_; }

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnProcessBegin(const ProcessEvent& event) override;
  void OnProcessEnd(const ProcessEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override { Note(event.block->device); }
  void OnDeallocate(const DeallocateEvent& event) override { Note(event.block->device); }
  void OnFreeCompleted(const FreeCompletedEvent& event) override { Note(event.device); }
  void OnSegment(const SegmentEvent& event) override { Note(event.segment->device); }
  void OnDeviceReading(const DeviceReadingEvent& event) override;
  void OnOutOfMemory(const OutOfMemoryEvent& event) override;
  void OnStep(const StepEvent& event) override { Stepped(steps_.Stepped(event)); }
  void OnRangeBegin(const RangeBeginEvent& event) override {
    if (event.range->source == RangeSource::kUser) Stepped(steps_.RangeBegins(event, state_->dictionary()));
  }
  void OnRangeEnd(const RangeEndEvent& event) override {
    if (event.range->source == RangeSource::kUser) Stepped(steps_.RangeEnds(event, state_->dictionary()));
  }
  void OnModuleEnter(const ModuleEvent& event) override {
    Stepped(steps_.ModuleEnters(event, state_->stack(event.thread)));
  }

 private:
  Device& Of(DeviceId id);
  void Note(DeviceId id);
  void Stepped(StepSource source);

  const ReplayState* state_ = nullptr;
  SourceLines lines_;
  StepCounter steps_;  // as the next two of the process in hand
  StepSource source_ = StepSource::kNone;
  std::vector<Device> devices_;
  std::vector<DeviceId> own_;  // devices of the process in hand
  std::vector<Process> processes_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_STEP_WINDOWS_H_
