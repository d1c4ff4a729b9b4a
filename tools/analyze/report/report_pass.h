// The pass behind AnalyzeReport: everything of it but the tables, in one replay. What a FirstLook found says what to
// keep.
#ifndef TOOLS_ANALYZE_REPORT_REPORT_PASS_H_
#define TOOLS_ANALYZE_REPORT_REPORT_PASS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/instant.h"
#include "tools/analyze/report/first_look.h"
#include "tools/analyze/report/other_blocks.h"
#include "tools/analyze/report/range_paths.h"
#include "tools/analyze/report/report.h"
#include "tools/analyze/report/stack_curve.h"
#include "tools/analyze/stacks/caller_nodes.h"

namespace memoir {

class ReportPass : public ChangePass {
 public:
  // `groupings`: as kReportGroupings. `windows`: of each process.
  ReportPass(const Capture& capture, const ReportOptions& options, const std::vector<const Grouping*>& groupings,
             const std::map<DeviceId, DeviceLook>& looks, const std::map<ProcessId, std::uint64_t>& windows)
      : ChangePass(capture, options),
        options_(options),
        groupings_(groupings),
        looks_(looks),
        windows_of_(windows),
        others_(options.most_others) {}

  // Without summaries.
  Report TakeReport() { return std::move(report_); }

 protected:
  void WindowOpens(const Event& event) override;
  void WindowCloses(const Event& event) override;
  void Added(const Block& block, const Event& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeOtherAllocate(const AllocateEvent& event) override;
  void SeeOtherDeallocate(const DeallocateEvent& event) override;
  void Removed(const Block& block) override;
  void Changed(const Event& event, DeviceId id, Device& device) override;
  void SeeSegment(const SegmentEvent& event) override;
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeMark(const MarkEvent& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeModuleEnter(const ModuleEvent& event) override { iterations_.ModuleEnters(event, Now(event)); }
  void SeeModuleExit(const ModuleEvent& event) override { iterations_.ModuleExits(event, Now(event)); }
  void StepBegins(StepSource source, const Event& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;

 private:
  static constexpr std::size_t kMostMarks = 64, kRegularInstants = 16;
  static constexpr std::size_t kMostErrors = 1024;  // out-of-memory errors
  static constexpr std::size_t kMostIterations = std::size_t{1} << 14;
  static constexpr std::size_t kMostSteps = std::size_t{1} << 16, kMostSegmentChanges = std::size_t{1} << 17;

  struct Live {
    ReportBlock block;
    DeviceId device;
    std::uint32_t place = 0;  // in ReportDevice::places
    bool kept = false;        // it is live at an exact instant
    bool before = false;      // it was allocated outside of the window
  };
  struct Track {
    Track(const DeviceLook& a_look, const Buckets& buckets)
        : look(a_look), allocated(buckets), active(buckets), reserved(buckets) {}
    DeviceLook look;
    StackCurve allocated;
    MostCurve active, reserved;
    ReportDevice shown;
    std::array<absl::flat_hash_map<std::pair<Group, bool>, LabelNumber>, kReportGroupingCount> label_of_group;
    std::array<absl::flat_hash_map<std::string, LabelNumber>, kReportGroupingCount> label_of_key;
    absl::flat_hash_map<std::uint64_t, std::uint32_t> place_of;  // by labels of module and operator
    std::vector<ReportSums> path_sums;                           // by node of paths_
    std::vector<ReportSums> caller_sums;                         // by node of callers_
    std::uint64_t next_regular_ns = 0;
    std::size_t regular = 0;  // exact instants that were taken for it
    bool has_peak = false;
  };
  struct Steps {
    std::uint64_t first = 0, last = 0, last_ns = 0, count = 0;
    std::vector<std::uint64_t> ns;  // of the first of them
  };

  // A page shows no more of them; a program can have a million.
  static CallerNodes NewCallers() { return CallerNodes({.most_nodes = std::size_t{1} << 15}); }
  Moment Now(const Event& event) const { return {Nanoseconds(event), 0}; }
  Track& TrackOf(DeviceId id, ProcessId process);
  LabelNumber LabelOf(Track& track, std::size_t grouping, Group group, bool before);
  // report_window.cc. What is shown begins with the first window and ends with the last.
  bool is_shown() const { return opened_ > 0 && !is_over_; }
  void NoteBefore(const Block& block);
  void AddBlock(const Block& block, ProcessId process, std::uint64_t ns, bool before);
  void AddReserved(ProcessId process, std::uint64_t ns);
  void AddStep(StepSource source, std::uint64_t ns);
  void AddStepZero(ProcessId process);
  void NoteMemory(DeviceId id, Track& track, std::uint64_t ns) const;
  void NoteOther(const Event& event, DeviceId id);
  std::uint32_t PlaceOf(Track& track, const ReportBlock& block);
  Live& LiveOf(const Block& block);
  void EndBlock(Live& live, std::uint64_t end_ns, bool is_live);
  void TakeInstant(DeviceId id, Track& track, ReportInstant instant);
  // Calls `add` for the sums of all nodes that a block belongs to.
  template <class Add>
  void AddToSums(Track& track, const Live& live, Add add);
  // report_finish.cc
  ReportProcess FinishProcess(ProcessId process);
  void FinishDevice(Track& track, std::uint64_t end_ns);
  void FinishPaths(Track& track);
  void FinishCallers(Track& track);
  std::uint32_t NameOf(NameId name);

  const ReportOptions& options_;
  const std::vector<const Grouping*>& groupings_;
  const std::map<DeviceId, DeviceLook>& looks_;
  const std::map<ProcessId, std::uint64_t>& windows_of_;
  Report report_;
  std::map<DeviceId, Track> tracks_;  // of the process in hand
  std::vector<Live> live_;            // by slot
  Live late_;
  std::vector<Block> before_;                // by slot: live, while no window of the process has opened yet
  std::uint64_t opened_ = 0, closed_ = 0;    // windows of the process in hand
  std::uint64_t begin_ns_ = 0, end_ns_ = 0;  // of the first, of the last
  bool is_over_ = false;
  OtherBlocks others_;
  RangePaths paths_;                        // of the process in hand
  CallerNodes callers_ = NewCallers();      // likewise
  const AllocateEvent* event_ = nullptr;    // in hand
  const DeallocateEvent* ended_ = nullptr;  // likewise
  IterationFinder iterations_;
  std::array<Steps, kStepSources> steps_;
  absl::flat_hash_map<NameId, std::uint32_t> name_numbers_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_REPORT_PASS_H_
