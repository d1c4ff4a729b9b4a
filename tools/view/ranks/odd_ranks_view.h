// What `memoir check ranks` says: the roles of a job's ranks, and the ranks that are out of line.
#ifndef TOOLS_VIEW_RANKS_ODD_RANKS_VIEW_H_
#define TOOLS_VIEW_RANKS_ODD_RANKS_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/ranks/job_overview.h"
#include "tools/analyze/ranks/job_reading.h"
#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Ranks out of line, ranks that are missing or there twice, versions that differ: what a check exits with 3 for.
bool IsFinding(const JobOverview& overview, const OddRanks& found);

// `top`: ranks and roles; 0: all. `path`: the job as it can be typed.
std::string RenderOddRanks(const JobReading& reading, const JobOverview& overview, const OddRanks& found,
                           std::size_t top, const std::string& path, const Terminal& terminal);
Json OddRanksJson(const JobReading& reading, const JobOverview& overview, const OddRanks& found);

}  // namespace memoir

#endif  // TOOLS_VIEW_RANKS_ODD_RANKS_VIEW_H_
