// The pass of AnalyzeSummary: counts while a replay runs, and makes rows at its end.
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_PASS_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_PASS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/windowed_visitor.h"
#include "tools/analyze/summary/figures/compile_peaks.h"
#include "tools/analyze/summary/figures/row_table.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/summary/summary_pass_state.h"

namespace memoir {

class SummaryPass : public WindowedVisitor {
 public:
  SummaryPass(const Capture& capture, const Selection& selection, const Grouping& grouping)
      : WindowedVisitor(capture, selection), grouping_(grouping), lines_(selection.own) {}

  bool takes_repeats() const override { return true; }
  void OnKeyframe(const KeyframeEvent& event) override;
  void OnSwitch(const SwitchEvent& event) override {
    CountEvent(event, true);
    if (event.level == v1::LEVEL_OFF) step_is_empty_ = false;  // unknown
  }
  Summary TakeSummary() { return std::move(summary_); }
  // Stops at the first device with a caching allocator. Then there is no summary.
  void StopAtCachingDevice() { stops_ = true; }
  bool stopped() const { return stops_ && has_caching_device_; }

 protected:
  void SeeEnd(const ReplayReport& report) override;
  void SeeProcessBegin(const ProcessEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeWindowOpen(const Event& event) override;
  void SeeWindowClose(const Event& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override { CountEvent(event, !event.implicit); }
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  // Active bytes of a device include the blocks that the selection leaves out.
  void SeeOtherAllocate(const AllocateEvent& event) override { NoteCaching(event, event.block->device); }
  void SeeFreeCompleted(const FreeCompletedEvent& event) override;
  void SeeSegment(const SegmentEvent& event) override;
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeDeviceStatistics(const DeviceStatisticsEvent& event) override;
  // summary_driver.cc
  void SeeDriverAllocate(const DriverAllocateEvent& event) override;
  void SeeDriverFree(const DriverFreeEvent& event) override { CountEvent(event, true); }
  void SeeDriverRefused(const DriverRefusedEvent& event) override;
  void SeeDeviceSample(const DeviceSampleEvent& event) override;
  void SeeFirstSeen(const FirstSeenEvent& event) override;
  void SeeMark(const MarkEvent& event) override;
  void SeeStep(const StepEvent& event) override { CountEvent(event, true); }
  // summary_repeats.cc
  void SeeRepeatGroupBegin(const RepeatGroupEvent& event) override;
  void SeeRepeatGroupEnd(const RepeatGroupEvent& event) override;
  void SeeRepeated(const RepeatedEvent& event) override;
  bool knows_cycle() const override { return knows_cycle_; }
  void SeeStepBegin(StepSource source, const Event& event) override;
  void SeeModuleEnter(const ModuleEvent& event) override;
  void SeeModuleExit(const ModuleEvent& event) override { CountEvent(event, true); }
  void SeeHolds(const HoldsEvent& event) override { CountEvent(event, true); }

 private:
  void CountEvent(const Event& event, bool recorded) {
    if (!in_window() || !recorded) return;
    ++summary_.events;
    if (event.thread.value >= thread_has_events_.size()) thread_has_events_.resize(event.thread.value + 1);
    thread_has_events_[event.thread.value] = true;
  }
  void CountCall(const OpenRange& range);
  StepCounts CountsNow() const;
  void NotePeak(const AllocateEvent& event);
  void NotePeakAtBegin(const Event& event);
  // summary_devices.cc
  void NoteCaching(const Event& event, DeviceId id);
  void NoteCachingPeaks(const Event& event, DeviceId id);
  void NoteAtPeak(DeviceId id);
  void TakeSegmentsFor(const Block& block, ProcessId process, CellNumber cell);
  void OpenCaching(const Event& event);
  void CloseCaching(const Event& event);
  void FinishCaching(DeviceId id, const DeviceTable& table, DeviceRow& row);
  void NoteOutside(DeviceId id);
  void OpenOutside(const Event& event);
  void FinishOutside(DeviceId id, DeviceRow& row);
  void FinishDevices();
  void FinishEvictedDevice(const EvictedDevice& evicted, DeviceRow& row);
  void AddEvicted(const EvictedProcess& evicted);
  void AddEvictedOperators(const EvictedProcess& evicted, std::map<DeviceId, SummaryColumns>& rest,
                           SummaryColumns& rest_of_all);
  std::size_t ColumnOf(DeviceId id) const;
  EvictedProcess& EvictedOf(ProcessId process);
  const EvictedDevice* EvictedOf(DeviceId id) const;
  void NoteEvictedDevices(const KeyframeEvent& event, EvictedProcess& evicted);
  void NoteEvictedOperators(const KeyframeEvent& event, EvictedProcess& evicted);
  // Return the columns of the process so far: of one device, or of one operator on all selected devices.
  SummaryColumns ShownOf(DeviceId id);
  EvictedSums ShownOf(NameId name, ProcessId process);
  void FinishProcesses(const ReplayReport& report);
  void FinishRows();
  void AddCells(DeviceTable& table, std::size_t column);
  SummaryRow& RowOf(Group group, bool before = false);
  SummaryRow& RowOf(SummaryRow::Kind kind, std::string name, std::string key = "");
  void AddQuietRanks();
  void SortRows();

  const Grouping& grouping_;
  SourceLines lines_;
  RowTable table_;
  Summary summary_;
  WindowSpans spans_;  // of all processes
  ProcessBegin process_begin_;
  std::vector<CallCounts> calls_;                         // by NameId; GroupBy::kModule: by ModuleId
  std::vector<bool> thread_has_events_;                   // by ThreadId
  std::set<ProcessId> opened_;                            // processes whose selection has begun
  std::map<DeviceId, std::uint64_t> unattributed_;        // bytes
  std::map<std::pair<ProcessId, NameId>, EvictedSums>
      apart_;  // sums of workspaces, which no row of an operator contains
  std::map<DeviceId, PeakNotes> peak_notes_;
  std::map<DeviceId, CachingNotes> caching_notes_;
  std::map<DeviceId, OutsideNotes> outside_;
  CompilePeaks compile_peaks_;
  bool stops_ = false, has_caching_device_ = false;
  std::array<std::uint64_t, kStepSources> window_steps_{};  // of the current process
  bool step_is_empty_ = false;         // of the current process: nothing was allocated since its newest memoir.step()
  bool last_step_has_blocks_ = false;  // some process allocated after its newest memoir.step()
  std::map<ProcessId, StepSource> step_sources_;
  std::vector<double> ns_per_tick_;  // by ProcessId
  std::vector<EvictedProcess> evicted_;
  std::vector<DeviceId> device_ids_;  // in the order of summary_.devices
  std::map<std::pair<SummaryRow::Kind, std::string>, std::size_t> row_of_label_;
  std::vector<std::size_t> row_of_cell_;  // by CellNumber
  StepCounts at_cycle_, of_cycle_;
  Tick ticks_of_cycle_ = 0;
  bool knows_cycle_ = false;         // two consecutive repeat groups had the same effect
  std::vector<Block> new_segments_;  // segments in which no block has been allocated yet
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_PASS_H_
