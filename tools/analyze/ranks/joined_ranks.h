// Findings that several ranks have in common as one: all of a host, or all of a role at one index of a dimension.
#ifndef TOOLS_ANALYZE_RANKS_JOINED_RANKS_H_
#define TOOLS_ANALYZE_RANKS_JOINED_RANKS_H_

#include "tools/analyze/ranks/odd_ranks.h"

namespace memoir {

void JoinOddRanks(OddRanks& found);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOINED_RANKS_H_
