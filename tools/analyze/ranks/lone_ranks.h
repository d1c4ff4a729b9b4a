// Ranks that cannot be compared with others, such as the only rank of a pipeline's stage: they are compared with their
// own earlier steps.
#ifndef TOOLS_ANALYZE_RANKS_LONE_RANKS_H_
#define TOOLS_ANALYZE_RANKS_LONE_RANKS_H_

#include "tools/analyze/ranks/odd_rank.h"

namespace memoir {

// Adds a finding for each rank of a role that is not judged, if the rank
// - keeps more memory in every step at a place where fewer than half of the other ranks do (kGrowth), or
// - needs more memory in all of its last steps than in any of its first ones, and no other rank does (kRose). Ranks
//   with too few steps have no such finding.
void AddLoneRanks(OddRanks& found);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_LONE_RANKS_H_
