// The usual figures of each role: its peaks, the rows of these peaks, and the row that differs most from other roles.
#ifndef TOOLS_ANALYZE_RANKS_ROLE_FIGURES_H_
#define TOOLS_ANALYZE_RANKS_ROLE_FIGURES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tools/analyze/ranks/odd_rank.h"
#include "tools/analyze/ranks/roles/rank_book.h"

namespace memoir {

// Returns the median of each row of the grouping kHeldBy[by] at the peaks of `members`, by name. Leaves out rows that
// most members lack.
std::map<std::uint32_t, std::uint64_t> UsualRowsOf(const std::vector<RankFacts>& ranks,
                                                   const std::vector<std::size_t>& members, std::size_t by);

// Fills in `found.figures`.
void AddFigures(OddRanks& found, const RankBook& book);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ROLE_FIGURES_H_
