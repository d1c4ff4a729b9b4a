// The roles of a job's ranks, as its overview and `memoir check ranks` show them.
#ifndef TOOLS_VIEW_RANKS_ROLES_TEXT_H_
#define TOOLS_VIEW_RANKS_ROLES_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// The first `top` roles, 0: all: place, ranks, how many, median of their peaks and how far apart they are.
std::string RolesTable(const OddRanks& found, std::size_t top, const Terminal& terminal);
Json RolesJson(const OddRanks& found);
Json RowJson(const OddRow& row);

// "ranks 1-2, 5"
std::string RanksText(const OddRanks& found, const std::vector<std::size_t>& members);
// "/src/me/train.py:12 main" as "train.py:12 main"; of a growth's place that is an operator, as it is.
std::string ShortPlace(const std::string& name);
std::string ShortName(const OddRow& row);

}  // namespace memoir

#endif  // TOOLS_VIEW_RANKS_ROLES_TEXT_H_
