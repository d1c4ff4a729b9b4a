// Findings about ranks that were killed, or that an uncaught exception ended, in a job where many ranks ended in this
// way. A launcher such as torchrun kills all other ranks after one has failed, so a comparison with the role finds
// nothing.
#ifndef TOOLS_ANALYZE_RANKS_FAILED_RANKS_H_
#define TOOLS_ANALYZE_RANKS_FAILED_RANKS_H_

#include "tools/analyze/ranks/odd_ranks.h"

namespace memoir {

// Adds one finding for all killed ranks, and one for each type of exception. Leaves out ranks for which `found` already
// has a finding about their end. Ranks that left by os._exit count as killed, because a recording shows no difference.
// Fills in OddRank::first.
void AddFailedRanks(OddRanks& found);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_FAILED_RANKS_H_
