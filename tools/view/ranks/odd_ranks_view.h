// The output of `memoir check ranks`: the roles of a job's ranks, and the odd ranks.
#ifndef TOOLS_VIEW_RANKS_ODD_RANKS_VIEW_H_
#define TOOLS_VIEW_RANKS_ODD_RANKS_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/ranks/job/job_overview.h"
#include "tools/analyze/ranks/job/loaded_job.h"
#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Returns true if ranks are odd, missing or duplicate, or differ in their versions or programs. `memoir check ranks`
// then exits with 3.
bool IsFinding(const JobOverview& overview, const OddRanks& found);

// `top`: how many ranks and roles are printed; 0: all. `path`: the job's path as typed.
std::string RenderOddRanks(const LoadedJob& reading, const JobOverview& overview, const OddRanks& found,
                           std::size_t top, const std::string& path, const Terminal& terminal);
Json OddRanksJson(const LoadedJob& reading, const JobOverview& overview, const OddRanks& found);

}  // namespace memoir

#endif  // TOOLS_VIEW_RANKS_ODD_RANKS_VIEW_H_
