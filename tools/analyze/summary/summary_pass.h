// The pass behind AnalyzeSummary: counts while a replay runs, and makes rows of it at the end.
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
#include "tools/analyze/summary/compile_peaks.h"
#include "tools/analyze/summary/row_table.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/summary/summary_notes.h"

namespace memoir {

class SummaryPass : public WindowedVisitor {
 public:
  SummaryPass(const Capture& capture, const Selection& selection, const Grouping& grouping)
      : WindowedVisitor(capture, selection), grouping_(grouping), lines_(selection.own) {}

  bool takes_repeats() const override { return true; }
  void OnKeyframe(const KeyframeEvent& event) override;
  void OnSwitch(const SwitchEvent& event) override {
    CountEvent(event, true);
    if (event.level == v1::LEVEL_OFF) step_is_empty_ = false;  // nobody knows
  }
  Summary TakeSummary() { return std::move(summary_); }
  // Of no use beyond the first device with a caching allocator: then there is no summary.
  void StopAtCachingDevice() { stops_ = true; }
  bool stopped() const { return stops_ && has_caching_device_; }

 protected:
  void SeeEnd(const ReplayReport& report) override;
  void SeeProcessBegin(const ProcessEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;
  void WindowOpens(const Event& event) override;
  void WindowCloses(const Event& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override { CountEvent(event, !event.implicit); }
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  // What a device has active is of all blocks.
  void SeeOtherAllocate(const AllocateEvent& event) override { NoteCaching(event, event.block->device); }
  void SeeFreeCompleted(const FreeCompletedEvent& event) override;
  void SeeSegment(const SegmentEvent& event) override;
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeDeviceStatistics(const DeviceStatisticsEvent& event) override;
  // summary_driver.cc
  void SeeDriverAllocate(const DriverAllocateEvent& event) override;
  void SeeDriverFree(const DriverFreeEvent& event) override { CountEvent(event, true); }
  void SeeDriverRefused(const DriverRefusedEvent& event) override;
  void SeeDeviceReading(const DeviceReadingEvent& event) override;
  void SeeFirstSeen(const FirstSeenEvent& event) override;
  void SeeMark(const MarkEvent& event) override;
  void SeeStep(const StepEvent& event) override { CountEvent(event, true); }
  // summary_repeats.cc
  void SeeCycleBegin(const CycleEvent& event) override;
  void SeeCycleEnd(const CycleEvent& event) override;
  void SeeRepeated(const RepeatedEvent& event) override;
  bool knows_cycle() const override { return knows_cycle_; }
  void StepBegins(StepSource source, const Event& event) override;
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
  void NotePeakMoment(const AllocateEvent& event);
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
  void FinishFoldedDevice(const FoldedDevice& folded, DeviceRow& row);
  void AddFolded(const FoldedProcess& folded);
  void AddFoldedOperators(const FoldedProcess& folded, std::map<DeviceId, Columns>& rest, Columns& rest_of_all);
  std::size_t ColumnOf(DeviceId id) const;
  FoldedProcess& FoldedOf(ProcessId process);
  const FoldedDevice* FoldedOf(DeviceId id) const;
  void FoldDevices(const KeyframeEvent& event, FoldedProcess& folded);
  void FoldOperators(const KeyframeEvent& event, FoldedProcess& folded);
  // What the events of the process have shown so far, of one device or of one operator on all that are selected.
  Columns ShownOf(DeviceId id);
  Folded ShownOf(NameId name, ProcessId process);
  void FinishProcesses(const ReplayReport& report);
  void FinishRows();
  void AddCells(DeviceTable& table, std::size_t column);
  Row& RowOf(Group group, bool before = false);
  Row& RowOf(Row::Kind kind, std::string name, std::string key = "");
  void AddQuietRanks();
  void SortRows();

  const Grouping& grouping_;
  SourceLines lines_;
  RowTable table_;
  Summary summary_;
  WindowSpans spans_;  // of all processes
  ProcessBegin process_begin_;
  std::vector<Calls> calls_;                              // by NameId; GroupBy::kModule: by ModuleId
  std::vector<bool> thread_has_events_;                   // by ThreadId
  std::set<ProcessId> opened_;                            // whose window has opened
  std::map<DeviceId, std::uint64_t> unattributed_;        // bytes
  std::map<std::pair<ProcessId, NameId>, Folded> apart_;  // what operators allocated that is in no row of theirs
  std::map<DeviceId, PeakMoment> peak_moments_;
  std::map<DeviceId, DeviceMoments> device_moments_;
  std::map<DeviceId, OutsideMoment> outside_;
  CompilePeaks compile_peaks_;
  bool stops_ = false, has_caching_device_ = false;
  std::array<std::uint64_t, kStepSources> window_steps_{};  // of the process in hand
  bool step_is_empty_ = false;                              // likewise: its newest memoir.step() so far
  bool last_step_has_blocks_ = false;                       // of some process
  std::map<ProcessId, StepSource> step_sources_;
  std::vector<double> ns_per_tick_;  // by ProcessId
  std::vector<FoldedProcess> folded_;
  std::vector<DeviceId> device_ids_;  // of summary_.devices
  std::map<std::pair<Row::Kind, std::string>, std::size_t> row_of_label_;
  std::vector<std::size_t> row_of_cell_;  // by CellNumber
  StepCounts at_cycle_, of_cycle_;
  Tick ticks_of_cycle_ = 0;
  bool knows_cycle_ = false;         // two that followed one another did the same
  std::vector<Block> new_segments_;  // whose first block is awaited: what it is, they were taken for
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_PASS_H_
