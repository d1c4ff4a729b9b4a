// Merges the buckets of curves over time into fewer, longer ones.
#ifndef TOOLS_ANALYZE_TIME_WIDER_BUCKETS_H_
#define TOOLS_ANALYZE_TIME_WIDER_BUCKETS_H_

#include <cstddef>

#include "tools/analyze/time/over_time_curves.h"

namespace memoir {

// `buckets`: a divisor of the current number. A new bucket has the maximum of the buckets that it replaces, and the
// categories at this maximum. Its marks (`known`, `changes`) are true if one of these buckets has the mark.
OverTimeCurves WithBuckets(OverTimeCurves over_time, std::size_t buckets);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TIME_WIDER_BUCKETS_H_
