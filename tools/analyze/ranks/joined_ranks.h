// Joins findings about single ranks into one finding. If all ranks of a host have more non-PyTorch memory than usual,
// the joined finding is about the host. If all ranks of a group have the same finding, the joined finding is about
// this group. A group consists of the members of one role at one index of a dimension of parallelism, such as "dp 2".
#ifndef TOOLS_ANALYZE_RANKS_JOINED_RANKS_H_
#define TOOLS_ANALYZE_RANKS_JOINED_RANKS_H_

#include "tools/analyze/ranks/odd_rank.h"

namespace memoir {

void JoinOddRanks(OddRanks& found);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOINED_RANKS_H_
