// The roles of a job's ranks, for the overview and for `memoir check ranks`.
#ifndef TOOLS_VIEW_RANKS_ROLES_TEXT_H_
#define TOOLS_VIEW_RANKS_ROLES_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Prints the first `top` roles (0: all): coordinates, ranks, number of ranks, and the median and spread of their peaks.
std::string RolesTable(const OddRanks& found, std::size_t top, const Terminal& terminal);
Json RolesJson(const OddRanks& found);
Json RowJson(const OddRow& row);

// Returns "ranks 1-2, 5".
std::string RanksText(const OddRanks& found, const std::vector<std::size_t>& members);
// Returns "train.py:12 main" for "/src/me/train.py:12 main". A name that is not a line, such as an operator, is not
// shortened.
std::string ShortPlace(const std::string& name);
std::string ShortName(const OddRow& row);

}  // namespace memoir

#endif  // TOOLS_VIEW_RANKS_ROLES_TEXT_H_
