// Merges the buckets of curves over time into fewer, longer ones.
#ifndef TOOLS_ANALYZE_TIME_WIDER_BUCKETS_H_
#define TOOLS_ANALYZE_TIME_WIDER_BUCKETS_H_

#include <cstddef>

#include "tools/analyze/time/over_time_curves.h"

namespace memoir {

// `buckets`: a divisor of the current number. The value of a new bucket is the maximum of the buckets that it replaces.
OverTimeCurves WithBuckets(OverTimeCurves over_time, std::size_t buckets);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TIME_WIDER_BUCKETS_H_
