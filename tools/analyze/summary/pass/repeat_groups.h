// Counts repeated steps which a replay does not visit: adds the effect of a repeat group once for each repeat.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_REPEAT_GROUPS_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_REPEAT_GROUPS_H_

#include <cstdint>
#include <map>

#include "tools/analyze/summary/figures/row_table.h"
#include "tools/analyze/summary/pass/block_counts.h"
#include "tools/analyze/summary/pass/caching_figures.h"
#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/analyze/summary/pass/window_steps.h"
#include "tools/model/event/event.h"

namespace memoir {

class RepeatGroups {
 public:
  RepeatGroups(SharedSummaryState& shared, WindowSteps& steps, CachingFigures& caching, BlockCounts& blocks)
      : shared_(shared), steps_(steps), caching_(caching), blocks_(blocks) {}

  void BeginGroup(const RepeatGroupEvent& event);
  void EndGroup(const RepeatGroupEvent& event);
  void AddRepeats(const RepeatedEvent& event);

  bool knows_group() const { return knows_cycle_; }

 private:
  // Counts that grow with each step, or their growth in one repeat group.
  struct Counts {
    std::uint64_t events = 0, compiled_allocations = 0, compiled_bytes = 0;
    BlockCounts::Sums blocks;
    std::map<DeviceId, CompiledSums> compiled;
    WindowSteps::Counts steps{};
    TableChange table;

    bool operator==(const Counts&) const = default;
  };
  static void AddCounts(Counts& sums, const Counts& other, std::uint64_t times);
  Counts CountsNow() const;

  SharedSummaryState& shared_;
  WindowSteps& steps_;
  CachingFigures& caching_;
  BlockCounts& blocks_;
  // The counts at the begin of the newest repeat group, and their growth in this group.
  Counts at_cycle_, of_cycle_;
  Tick ticks_of_cycle_ = 0;
  bool knows_cycle_ = false;  // two consecutive repeat groups had the same effect
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_REPEAT_GROUPS_H_
