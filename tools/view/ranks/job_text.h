// The overview of a job as text: who ran, how far apart the ranks' memory is, who is at its ends, and what was live.
#ifndef TOOLS_VIEW_RANKS_JOB_TEXT_H_
#define TOOLS_VIEW_RANKS_JOB_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/ranks/job_overview.h"
#include "tools/analyze/ranks/job_reading.h"
#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// `top`: rows of a table; 0: all. `path`: the job as it can be typed.
std::string RenderJob(const JobReading& reading, const JobOverview& overview, const OddRanks& found, std::size_t top,
                      const std::string& path, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_RANKS_JOB_TEXT_H_
