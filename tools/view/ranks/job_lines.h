// Lines about a job that several views share: what ran where, and how its ranks differ.
#ifndef TOOLS_VIEW_RANKS_JOB_LINES_H_
#define TOOLS_VIEW_RANKS_JOB_LINES_H_

#include <string>

#include "tools/analyze/ranks/job/job_overview.h"
#include "tools/analyze/ranks/job/loaded_job.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// These two functions return `text` as a line, wrapped at the terminal's width. A warning begins with "!".
std::string Line(const Terminal& terminal, const std::string& text);
std::string Warning(const Terminal& terminal, const std::string& text);

// Returns the program and versions, processes and ranks, the duration, and the summaries that were read.
std::string JobHeading(const LoadedJob& reading, const JobOverview& overview, const Terminal& terminal);
// Describes versions, programs or devices that differ, duplicate ranks, unreadable files, and dropped events.
std::string DifferenceLines(const LoadedJob& reading, const JobOverview& overview, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_RANKS_JOB_LINES_H_
