// The overview of a job as text: its processes, the spread of the ranks' memory, the ranks with the smallest and
// largest figures, and the live memory.
#ifndef TOOLS_VIEW_RANKS_JOB_TEXT_H_
#define TOOLS_VIEW_RANKS_JOB_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/ranks/job/job_overview.h"
#include "tools/analyze/ranks/job/loaded_job.h"
#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// `top`: rows of a table; 0: all. `path`: the job's path as typed.
std::string RenderJob(const LoadedJob& reading, const JobOverview& overview, const OddRanks& found, std::size_t top,
                      const std::string& path, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_RANKS_JOB_TEXT_H_
