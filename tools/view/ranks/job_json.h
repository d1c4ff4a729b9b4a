// The overview of a job as JSON (docs/json.md).
#ifndef TOOLS_VIEW_RANKS_JOB_JSON_H_
#define TOOLS_VIEW_RANKS_JOB_JSON_H_

#include <cstddef>

#include "tools/analyze/ranks/job/job_overview.h"
#include "tools/analyze/ranks/job/loaded_job.h"
#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/view/json/json.h"

namespace memoir {

// `top`: rows of each grouping, and ranks; 0: all. Other rows are summed in "(other)"; other ranks are left out.
Json JobJson(const LoadedJob& reading, const JobOverview& overview, const OddRanks& found, std::size_t top);

}  // namespace memoir

#endif  // TOOLS_VIEW_RANKS_JOB_JSON_H_
