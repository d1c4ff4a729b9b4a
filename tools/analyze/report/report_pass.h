// The pass of AnalyzeReport: computes everything but the tables and the leaks in one replay. A ReportFirstPass, which
// ran before, decides which blocks the report lists individually.
#ifndef TOOLS_ANALYZE_REPORT_REPORT_PASS_H_
#define TOOLS_ANALYZE_REPORT_REPORT_PASS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/instant.h"
#include "tools/analyze/pass/window/step_begins.h"
#include "tools/analyze/report/composition_curve.h"
#include "tools/analyze/report/device_labels.h"
#include "tools/analyze/report/omitted_blocks.h"
#include "tools/analyze/report/range_paths.h"
#include "tools/analyze/report/report_content.h"
#include "tools/analyze/report/report_first_pass.h"
#include "tools/analyze/stacks/caller_nodes.h"

namespace memoir {

class ReportPass : public ChangePass {
 public:
  // `groupings`: in the order of kReportGroupings. `windows`: number of windows of each process.
  ReportPass(const Capture& capture, const ReportOptions& options, const std::vector<const Grouping*>& groupings,
             const std::map<DeviceId, DeviceOutline>& outlines, const std::map<ProcessId, std::uint64_t>& windows)
      : ChangePass(capture, options),
        options_(options),
        groupings_(groupings),
        outlines_(outlines),
        windows_of_(windows),
        others_(options.most_others) {}

  // Returns the report; its summaries, leaks and `whole` are empty.
  ReportContent TakeReport() { return std::move(report_); }

 protected:
  void SeeWindowOpen(const Event& event) override;
  void SeeWindowClose(const Event& event) override;
  void SeeBlockAdded(const Block& block, const Event& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeOtherAllocate(const AllocateEvent& event) override;
  void SeeOtherDeallocate(const DeallocateEvent& event) override;
  void SeeBlockRemoved(const Block& block) override;
  void SeeChange(const Event& event, DeviceId id, Device& device) override;
  void SeeSegment(const SegmentEvent& event) override;
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeMark(const MarkEvent& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override { iterations_.SeeRangeEnd(event, Now(event)); }
  void SeeModuleEnter(const ModuleEvent& event) override { iterations_.SeeModuleEnter(event, Now(event)); }
  void SeeModuleExit(const ModuleEvent& event) override { iterations_.SeeModuleExit(event, Now(event)); }
  void SeeStepBegin(StepSource source, const Event& event) override {
    if (is_shown()) steps_.Add(source, steps(), Nanoseconds(event));
  }
  void SeeProcessEnd(const ProcessEvent& event) override;

 private:
  static constexpr std::size_t kMostMarks = 64, kRegularInstants = 16;
  static constexpr std::size_t kMostErrors = 1024;  // out-of-memory errors
  static constexpr std::size_t kMostSegmentChanges = std::size_t{1} << 17;

  struct LiveBlock {
    ReportBlock block;
    DeviceId device;
    std::uint32_t place = 0;  // index in ReportDevice::places
    bool kept = false;        // true: it was live at an exact instant (ReportInstant)
    bool before = false;      // true: it was allocated outside of the window
  };
  struct Track {
    Track(const DeviceOutline& an_outline, const TimeBuckets& buckets, const std::vector<const Grouping*>& groupings)
        : outline(an_outline), allocated(buckets), active(buckets), reserved(buckets), labels(groupings) {}
    DeviceOutline outline;
    CompositionCurve allocated;
    MostCurve active, reserved;
    ReportDevice shown;
    DeviceLabels labels;
    std::vector<ReportSums> path_sums;    // by node of paths_
    std::vector<ReportSums> caller_sums;  // by node of callers_
    std::uint64_t next_regular_ns = 0;
    std::size_t regular = 0;  // number of exact instants at regular distances so far
    bool has_peak = false;
  };
  // Bounds the number of callers, because a program can have a million callers and a page cannot show them all.
  static CallerNodes NewCallers() { return CallerNodes({.most_nodes = std::size_t{1} << 15}); }
  IterationInstant Now(const Event& event) const { return {Nanoseconds(event), 0}; }
  Track& TrackOf(DeviceId id, ProcessId process);
  // The report of a process begins when its first window opens, and ends when its last window closes.
  bool is_shown() const { return opened_ > 0 && !is_over_; }
  void NoteBefore(const Block& block);
  void AddBlock(const Block& block, ProcessId process, std::uint64_t ns, bool before);
  void AddReserved(ProcessId process, std::uint64_t ns);
  void AddFirstSteps(ProcessId process);
  void NoteMemory(DeviceId id, Track& track, std::uint64_t ns) const;
  void NoteOther(const Event& event, DeviceId id);
  LiveBlock& LiveOf(const Block& block);
  void EndBlock(LiveBlock& live, std::uint64_t end_ns, bool is_live);
  void TakeInstant(DeviceId id, Track& track, ReportInstant instant);
  // Calls `add` with the sums of every node that the block belongs to.
  template <class Add>
  void AddToSums(Track& track, const LiveBlock& live, Add add);
  // report_finish.cc
  void FinishProcess(ProcessId id);
  void FinishDevice(Track& track, std::uint64_t end_ns);
  void FinishPaths(Track& track);
  void FinishCallers(Track& track);
  std::uint32_t NameOf(NameId name);

  const ReportOptions& options_;
  const std::vector<const Grouping*>& groupings_;
  const std::map<DeviceId, DeviceOutline>& outlines_;
  const std::map<ProcessId, std::uint64_t>& windows_of_;
  ReportContent report_;
  std::map<DeviceId, Track> tracks_;         // of the current process
  std::vector<LiveBlock> live_;              // by slot
  LiveBlock late_;                           // the newest block without a slot
  std::vector<Block> before_;                // by slot: blocks that are live before the selection begins in the process
  std::uint64_t opened_ = 0, closed_ = 0;    // windows opened and closed in the current process
  std::uint64_t begin_ns_ = 0, end_ns_ = 0;  // begin of the first window, end of the last
  bool is_over_ = false;
  OmittedBlocks others_;
  RangePaths paths_;                        // of the current process
  CallerNodes callers_ = NewCallers();      // of the current process
  const AllocateEvent* event_ = nullptr;    // valid while SeeAllocate runs
  const DeallocateEvent* ended_ = nullptr;  // valid while SeeDeallocate runs
  IterationFinder iterations_;
  StepBeginFinder steps_;
  absl::flat_hash_map<NameId, std::uint32_t> name_numbers_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_REPORT_PASS_H_
