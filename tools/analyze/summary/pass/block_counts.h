// Adds blocks to the table of rows. Also sums blocks that no operator's row contains: blocks that were allocated
// outside of operators, and workspaces of libraries.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_BLOCK_COUNTS_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_BLOCK_COUNTS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "tools/analyze/summary/figures/row_table.h"
#include "tools/analyze/summary/figures/summary_columns.h"
#include "tools/analyze/summary/pass/caching_figures.h"
#include "tools/analyze/summary/pass/peak_moments.h"
#include "tools/analyze/summary/pass/reserved_segments.h"
#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/analyze/summary/pass/window_steps.h"
#include "tools/model/event/event.h"

namespace memoir {

class BlockCounts {
 public:
  struct Sums {
    std::map<DeviceId, std::uint64_t> unattributed;  // bytes that were allocated outside of operators
    // Sums of workspaces, by process and operator. No row of an operator contains them.
    std::map<std::pair<ProcessId, NameId>, EvictedSums> workspaces;
    bool operator==(const Sums&) const = default;
  };

  BlockCounts(SharedSummaryState& shared, WindowSteps& steps, CachingFigures& caching, PeakMoments& peaks,
              ReservedSegments& segments)
      : shared_(shared), steps_(steps), caching_(caching), peaks_(peaks), segments_(segments) {}

  void AddBlock(const AllocateEvent& event);       // also passes the block on to the other handlers
  void RemoveBlock(const DeallocateEvent& event);  // also passes the block on to `peaks`
  void CountFirstSeen(const FirstSeenEvent& event);

  std::uint64_t UnattributedBytes(DeviceId device) { return sums_.unattributed[device]; }
  // Returns the sums of workspaces that the operator `name` allocated in the process.
  EvictedSums WorkspaceSums(ProcessId process, NameId name) const;
  const Sums& sums() const { return sums_; }  // RepeatGroups reads and replaces the sums
  void set_sums(Sums sums) { sums_ = std::move(sums); }

 private:
  SharedSummaryState& shared_;
  WindowSteps& steps_;
  CachingFigures& caching_;
  PeakMoments& peaks_;
  ReservedSegments& segments_;
  Sums sums_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_BLOCK_COUNTS_H_
