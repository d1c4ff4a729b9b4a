// Findings about ranks that were killed, or that an uncaught exception ended, in a job where many ranks ended in this
// way. A launcher such as torchrun kills all other ranks after one has failed, so a comparison of a rank with its peers
// finds nothing.
#ifndef TOOLS_ANALYZE_RANKS_FAILED_RANKS_H_
#define TOOLS_ANALYZE_RANKS_FAILED_RANKS_H_

#include <cstddef>
#include <set>

#include "tools/analyze/ranks/odd_rank.h"

namespace memoir {

// Adds these findings, and fills in OddRank::first:
// - One finding for all killed ranks. Ranks that left by os._exit count as killed, because a recording shows no
//   difference.
// - One finding for each type of exception, for all ranks that it ended.
// - If most ranks failed, one finding for all ranks that ended without an error.
// The first two leave out ranks for which `found` already has a finding about their end.
void AddFailedRanks(OddRanks& found);

// Returns true if the finding is the failure of ranks. A rank that only made fewer steps did not fail.
bool IsFailure(const OddRanks& found, const OddRank& odd);

// The ranks with findings, as indices in OddRanks::ranks: `failed` for failures, `out_of_line` for all other findings.
// A rank may be in both sets.
struct NamedRanks {
  std::set<std::size_t> failed, out_of_line;
};
NamedRanks NamedRanksOf(const OddRanks& found);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_FAILED_RANKS_H_
