// Describes each device's peak so far: the operator, line, range, module and step of the allocation that reached the
// peak. Also computes the peak that would have occurred without torch.compile's own allocations.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_PEAK_MOMENTS_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_PEAK_MOMENTS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/summary/figures/compile_peaks.h"
#include "tools/analyze/summary/pass/caching_figures.h"
#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/model/event/event.h"
#include "tools/model/event/ids.h"

namespace memoir {

class PeakMoments {
 public:
  PeakMoments(SharedSummaryState& shared, CachingFigures& caching)
      : shared_(shared), caching_(caching), lines_(shared.window.selection().own) {}

  // Call these three functions after the table has counted the event.
  void OpenWindow(const Event& event);
  void NoteAllocation(const AllocateEvent& event);
  void NoteDeallocation(const Block& block) { compile_peaks_.NoteDeallocation(block); }
  // Call it when `row` contains the device's peak. `source`: the definition of a step in the device's process.
  void FillRow(DeviceId id, StepSource source, DeviceRow& row);

 private:
  struct Moment {
    NameId operator_name;
    NameId user_name;
    ModuleId module;  // module that was entered inside of the user range; invalid: no module
    Phase phase = Phase::kOther;
    StackId callstack;                                             // stack of the peak's line
    std::array<std::optional<std::uint64_t>, kStepSources> steps;  // newest step of each source
    std::uint64_t of_all = 0;  // only if the selection leaves out blocks: bytes of all live blocks
  };
  void NotePeakAtBegin(const Event& event);
  Moment MomentOf(const AllocateEvent& event, const DeviceTable& device) const;

  SharedSummaryState& shared_;
  CachingFigures& caching_;
  SourceLines lines_;
  CompilePeaks compile_peaks_;
  std::map<DeviceId, Moment> moments_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_PEAK_MOMENTS_H_
