// The handlers of a SummaryPass. Each handler counts the events of one subject and owns the state that only it needs.
// summarized_events.def maps every kind of event to its handler.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_SUMMARY_HANDLERS_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_SUMMARY_HANDLERS_H_

#include "tools/analyze/summary/pass/block_counts.h"
#include "tools/analyze/summary/pass/caching_figures.h"
#include "tools/analyze/summary/pass/call_counts.h"
#include "tools/analyze/summary/pass/evicted_parts.h"
#include "tools/analyze/summary/pass/outside_memory.h"
#include "tools/analyze/summary/pass/peak_moments.h"
#include "tools/analyze/summary/pass/repeat_groups.h"
#include "tools/analyze/summary/pass/reserved_segments.h"
#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/analyze/summary/pass/window_events.h"
#include "tools/analyze/summary/pass/window_steps.h"
#include "tools/analyze/summary/pass/window_times.h"

namespace memoir {

struct SummaryHandlers {
  SummaryHandlers(WindowedVisitor& window, const Grouping& grouping) : shared{window, grouping, {}, {}} {}

  SharedSummaryState shared;
  WindowEvents events{shared};
  WindowTimes times{shared};
  WindowSteps steps{shared};
  CallCounts calls{shared};
  CachingFigures caching{shared, steps};
  PeakMoments peaks{shared, caching};
  ReservedSegments segments{shared, caching};
  BlockCounts blocks{shared, steps, caching, peaks, segments};
  OutsideMemory outside{shared};
  EvictedParts evicted{shared, events, times, calls, blocks};
  RepeatGroups repeats{shared, steps, caching, blocks};
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_SUMMARY_HANDLERS_H_
