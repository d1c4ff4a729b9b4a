// Follows one process's memory for `memoir live`: levels second by second, steps, and what the blocks at a step's peak
// are. Memory is bounded by what is live and by one step's blocks, however long the recording is.
//
// What is at a step's peak takes a replay in full from the step's begin to its end. It is found where that step ends:
//
//     step begins ─────► peak ─────► step ends: what is live now and was allocated before the peak,
//                          └─ frees ─┘          and what was freed since
#ifndef TOOLS_ANALYZE_LIVE_LIVE_PASS_H_
#define TOOLS_ANALYZE_LIVE_LIVE_PASS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/analyze/categories/evidence_pass.h"
#include "tools/analyze/live/growth.h"
#include "tools/analyze/live/live_picture.h"
#include "tools/analyze/pass/steps.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

class LivePass : public Visitor {
 public:
  explicit LivePass(const v1::ProcessInfo& info);

  // Levels up to this tick: nothing happened since the last event.
  void AdvanceTo(Tick tick);
  // Fills in what is known from events: devices, steps, errors, level.
  void Describe(LiveProcess& process) const;
  double step_seconds() const;

  void OnStart(const ReplayState& state) override;
  void OnCut(const CutEvent& event) override { evidence_.OnCut(event); }
  void OnRangeBegin(const RangeBeginEvent& event) override;
  void OnRangeEnd(const RangeEndEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override;
  void OnFreeCompleted(const FreeCompletedEvent& event) override { Note(event.tick, event.device); }
  void OnSegment(const SegmentEvent& event) override { Note(event.tick, event.segment->device); }
  void OnOutOfMemory(const OutOfMemoryEvent& event) override;
  void OnDriverRefused(const DriverRefusedEvent& event) override { evidence_.OnDriverRefused(event); }
  void OnDeviceReading(const DeviceReadingEvent& event) override;
  void OnMark(const MarkEvent& event) override;
  void OnStep(const StepEvent& event) override { Stepped(steps_.Stepped(event), event.tick); }
  void OnSwitch(const SwitchEvent& event) override;
  void OnHolds(const HoldsEvent& event) override { evidence_.OnHolds(event); }
  void OnModuleEnter(const ModuleEvent& event) override;
  void OnModuleExit(const ModuleEvent& event) override { evidence_.OnModuleExit(event); }

 private:
  static constexpr std::size_t kMostLevels = 400;
  static constexpr std::size_t kMostFrees = std::size_t{1} << 20;
  struct Freed {
    std::uint64_t ordinal = 0, bytes = 0;
    ModuleId module;
  };
  struct Device {
    bool known = false;
    std::uint64_t live = 0, peak = 0;
    std::uint64_t step_peak = 0, last_step_peak = 0;
    std::uint64_t ordinal_at_peak = 0;  // blocks of the step's peak have smaller ones
    std::vector<Freed> frees;           // since then
    std::optional<std::uint64_t> total;
    std::uint64_t beside = 0;  // of the card what torch's allocator does not have
    std::deque<LiveLevel> levels;
    LiveLevel second;  // the one that runs
    GrowthSeries growth;
    std::vector<LiveShare> categories, modules;
    std::uint64_t rows_step = 0, rows_bytes = 0;
  };
  using Sums = std::map<std::string, std::uint64_t>;

  Device& Of(DeviceId id);
  void Note(Tick tick, DeviceId id);
  void EndSeconds(Tick tick);
  void Stepped(StepSource source, Tick tick);
  void FindRows(std::uint64_t step);
  std::string ModuleName(ModuleId module) const;

  const double ticks_per_second_;
  Tick second_end_;
  EvidencePass evidence_{false};
  const ReplayState* state_ = nullptr;
  StepCounter steps_;
  StepSource source_ = StepSource::kNone;
  std::deque<Tick> step_ticks_;  // when the newest began
  std::uint64_t ordinal_ = 0;    // of the next block
  std::vector<Device> devices_;  // by DeviceId
  bool in_full_ = true, step_in_full_ = false;
  Tick rows_tick_ = 0;  // when what is at a step's peak was found last: once in a second
  v1::RecordingLevel level_ = v1::LEVEL_ALL;
  LiveAsked asked_;
  std::vector<LiveOutOfMemory> ooms_;
  std::uint64_t oom_count_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVE_LIVE_PASS_H_
