// Follows the memory of one process for `memoir live`: the most bytes in each second (LiveLevel), steps, and the
// composition of each step's peak. The memory that the pass needs does not depend on the length of the recording. It is
// proportional to the number of live blocks plus the number of blocks that one step frees.
//
// The composition of a step's peak is known only if the step was recorded and read with all operators. It is computed
// when the step ends:
//
//     step begins ─────► peak ─────► step ends: blocks that are live now and were allocated before the peak,
//                          └─ frees ─┘          and blocks that were freed since the peak
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

#include "tools/analyze/categories/evidence/evidence_pass.h"
#include "tools/analyze/live/growth_series.h"
#include "tools/analyze/live/live_figures.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"

namespace memoir {

class LivePass : public Visitor {
 public:
  explicit LivePass(const v1::ProcessInfo& info);

  // Adds the levels of all seconds that ended by `tick`. The caller must have added all events before `tick`, because
  // the level of a second without events is the bytes after the newest event.
  void AdvanceTo(Tick tick);
  // Fills in the fields that come from events: devices, steps, errors, recording level.
  void Describe(LiveProcess& process) const;
  double step_seconds() const;  // average length of the newest steps; 0: unknown

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
  void OnDeviceSample(const DeviceSampleEvent& event) override;
  void OnMark(const MarkEvent& event) override;
  void OnStep(const StepEvent& event) override { Stepped(steps_.SeeStep(event), event.tick); }
  void OnSwitch(const LevelChangeEvent& event) override;
  void OnHolds(const HeldTensorsEvent& event) override { evidence_.OnHolds(event); }
  void OnModuleEnter(const ModuleEvent& event) override;
  void OnModuleExit(const ModuleEvent& event) override { evidence_.OnModuleExit(event); }

 private:
  static constexpr std::size_t kMostLevels = 400;
  static constexpr std::size_t kMostFrees = std::size_t{1} << 20;
  struct FreedBlock {
    std::uint64_t ordinal = 0, bytes = 0;
    ModuleId module;
  };
  struct Device {
    bool known = false;  // an event of the device was visited
    std::uint64_t live = 0, peak = 0;
    std::uint64_t step_peak = 0, last_step_peak = 0;
    std::uint64_t ordinal_at_peak = 0;  // all blocks that were live at the step's peak have smaller ordinals
    std::vector<FreedBlock> frees;      // blocks that were live at the step's peak, and were freed since then
    std::optional<std::uint64_t> total;
    std::uint64_t beside = 0;  // bytes of the card outside of torch's allocator
    std::deque<LiveLevel> levels;
    LiveLevel second;  // level of the current second
    GrowthSeries growth;
    std::vector<LiveShare> categories, modules;
    std::uint64_t rows_step = 0, rows_bytes = 0;
  };
  using Sums = std::map<std::string, std::uint64_t>;

  Device& DeviceOf(DeviceId id);
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
  std::deque<Tick> step_ticks_;  // begins of the newest steps
  std::uint64_t ordinal_ = 0;    // ordinal of the next block
  std::vector<Device> devices_;  // by DeviceId
  // Whether operators are being read now, and whether they were recorded and read since the current step began.
  bool in_full_ = true, step_in_full_ = false;
  Tick rows_tick_ = 0;  // when the composition of a peak was last computed; computed at most once a second
  v1::RecordingLevel level_ = v1::LEVEL_ALL;
  FullStepRequest asked_;
  std::vector<LiveOutOfMemory> ooms_;
  std::uint64_t oom_count_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVE_LIVE_PASS_H_
