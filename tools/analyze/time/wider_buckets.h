// Curves over time in fewer buckets than they were counted in.
#ifndef TOOLS_ANALYZE_TIME_WIDER_BUCKETS_H_
#define TOOLS_ANALYZE_TIME_WIDER_BUCKETS_H_

#include <cstddef>

#include "tools/analyze/time/over_time.h"

namespace memoir {

// `buckets`: a divisor of their number. Each has the most of those that it is made of.
OverTime WithBuckets(OverTime over_time, std::size_t buckets);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TIME_WIDER_BUCKETS_H_
