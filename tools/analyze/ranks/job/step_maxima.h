// The maxima of each device's bytes in windows of one or more steps. There are at most kMostWindows windows; each
// covers as many steps as needed.
//
//     steps    0 1 2 3 4 5 6 7 8 …        if there are more windows than kMostWindows, each two become one
//     windows  [0 1][2 3][4 5][6 7] …     a window begins at a multiple of its length, so that ranks can be compared
#ifndef TOOLS_ANALYZE_RANKS_JOB_STEP_MAXIMA_H_
#define TOOLS_ANALYZE_RANKS_JOB_STEP_MAXIMA_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memoir/v1/summary.pb.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/categories/rules.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"

namespace memoir {

struct StepLevels {
  std::uint64_t allocated = 0, active = 0, reserved = 0;
  std::uint64_t used = 0;                          // used bytes of the device, by all processes; 0: not sampled
  std::uint64_t buckets = 0, without_buckets = 0;  // bytes in DDP's buckets, and all other allocated bytes
  std::uint64_t at_begin = 0;                      // without_buckets when the step began
  // Takes the larger value of each field.
  void Raise(const StepLevels& other);
  bool operator==(const StepLevels&) const = default;
};

// Merges windows of `steps` steps into windows of `wider` steps. `wider` is a multiple of `steps`.
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

class StepMaxima {
 public:
  static constexpr std::size_t kMostWindows = 128;

  // Begins a step. `now` and later notes count for this step.
  void Begin(std::uint64_t step, const StepLevels& now);
  void Note(const StepLevels& now) { current().Raise(now); }
  // Call it when another kind of event begins to define steps. `step`: the first step that this kind defines. All
  // earlier levels count for this step.
  void Restart(std::uint64_t step);

  std::uint64_t window_steps() const { return steps_; }
  const std::map<std::uint64_t, StepLevels>& windows() const { return windows_; }  // by first step / window_steps()

 private:
  StepLevels& current() { return windows_[step_ / steps_]; }

  std::uint64_t steps_ = 1, step_ = 0;
  std::map<std::uint64_t, StepLevels> windows_;
};

// Collects the windows and the out-of-memory errors of several processes.
class StepMaximaPass : public Visitor {
 public:
  static constexpr std::size_t kMostRefused = 4;  // for each process
  explicit StepMaximaPass(const BlockCategories& categories);
  struct Device {
    StepMaxima windows;
    StepLevels now, most;  // levels at the newest event, and their maxima
    bool known = false;    // an event of the device was visited
  };
  struct Process {
    StepSource source = StepSource::kNone;
    std::uint64_t steps = 0;                  // steps that have begun
    std::map<std::string, DeviceId> devices;  // by name
    std::vector<v1::RefusedSummary> refused;  // the newest errors
    bool shards_optimizer = false;            // torch's ZeroRedundancyOptimizer made a step
  };
  // Call these functions after the replay. devices() is by DeviceId, processes() by ProcessId.
  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<Process>& processes() const { return processes_; }

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnProcessBegin(const ProcessEvent& event) override;
  void OnProcessEnd(const ProcessEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override {
    if (IsBucket(*event.block)) DeviceOf(event.block->device).now.buckets += event.block->bytes;
    Note(event.block->device);
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    std::uint64_t& buckets = DeviceOf(event.block->device).now.buckets;
    if (IsBucket(*event.block)) buckets -= std::min(buckets, event.block->bytes);
    Note(event.block->device);
  }
  void OnFreeCompleted(const FreeCompletedEvent& event) override { Note(event.device); }
  void OnSegment(const SegmentEvent& event) override { Note(event.segment->device); }
  void OnDeviceSample(const DeviceSampleEvent& event) override;
  void OnOutOfMemory(const OutOfMemoryEvent& event) override;
  void OnStep(const StepEvent& event) override { Stepped(steps_.SeeStep(event)); }
  void OnRangeBegin(const RangeBeginEvent& event) override;
  void OnRangeEnd(const RangeEndEvent& event) override {
    if (event.range->source == RangeSource::kUser) Stepped(steps_.SeeRangeEnd(event, state_->dictionary()));
  }
  void OnModuleEnter(const ModuleEvent& event) override {
    Stepped(steps_.SeeModuleEnter(event, state_->stack(event.thread)));
  }

 private:
  bool IsBucket(const Block& block) const { return is_bucket_[categories_.RuleOf(block)]; }
  Device& DeviceOf(DeviceId id);
  void Note(DeviceId id);
  void Stepped(StepSource source);

  const BlockCategories& categories_;
  std::array<bool, kMostRules> is_bucket_ = {};  // by RuleNumber
  const ReplayState* state_ = nullptr;
  SourceLines lines_;
  StepCounter steps_;                      // of the current process
  StepSource source_ = StepSource::kNone;  // of the current process
  std::vector<Device> devices_;
  std::vector<DeviceId> own_;  // devices of the current process
  std::vector<Process> processes_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOB_STEP_MAXIMA_H_
