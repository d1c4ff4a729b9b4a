// Finds ranks that differ from the other members of their role, and the rows that cause the difference.
//
// For each figure, a role's median is its usual value, and the median deviation from it is the spread of healthy ranks.
// A rank is odd if its distance from the median exceeds all of these: nine deviations (six standard deviations of a
// normal distribution), a share of the median, and a floor. So neither noise nor small differences between nearly equal
// ranks cause a finding. If the allocated bytes of members vary from step to step, this variation is also tolerated.
// DDP's buckets are compared separately, because other threads free them. A rank is not odd if its shards explain the
// difference: FSDP2 gives the last ranks smaller shards, and with ZeroRedundancyOptimizer each rank keeps the optimizer
// state of different parameters. A peak is not odd if the buffers of FSDP's collectives explain the difference.
#ifndef TOOLS_ANALYZE_RANKS_ODD_RANKS_H_
#define TOOLS_ANALYZE_RANKS_ODD_RANKS_H_

#include "tools/analyze/ranks/odd_rank.h"
#include "tools/analyze/ranks/roles/rank_book.h"

namespace memoir {

// Moves the facts about the ranks out of `book`.
OddRanks FindOddRanks(RankBook& book);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ODD_RANKS_H_
