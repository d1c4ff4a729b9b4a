// Finds the row of each segment that the allocator reserved.
//
// A grouping may need facts about blocks, such as their categories. A segment has no such facts. In this case the
// segment is counted for the group of its first block, because it was reserved for this block.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_RESERVED_SEGMENTS_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_RESERVED_SEGMENTS_H_

#include <vector>

#include "tools/analyze/summary/pass/caching_figures.h"
#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/model/event/event.h"

namespace memoir {

class ReservedSegments {
 public:
  ReservedSegments(SharedSummaryState& shared, CachingFigures& caching) : shared_(shared), caching_(caching) {}

  void AddSegment(const SegmentEvent& event);
  // If the block is the first in its segment, counts the segment for the block's cell.
  void AssignToBlock(const Block& block, ProcessId process, CellNumber cell) {
    if (!new_segments_.empty()) CountSegmentsAround(block, process, cell);
  }
  // Counts the segments in which no block was allocated.
  void EndProcess(ProcessId process);

 private:
  void CountSegmentsAround(const Block& block, ProcessId process, CellNumber cell);
  void CountForOwnGroup(const Block& segment, ProcessId process);

  SharedSummaryState& shared_;
  CachingFigures& caching_;
  std::vector<Block> new_segments_;  // segments in which no block has been allocated yet
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_RESERVED_SEGMENTS_H_
