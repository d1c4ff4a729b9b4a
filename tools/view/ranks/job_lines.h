// Lines about a job that several views show: what ran where, and in what its ranks differ.
#ifndef TOOLS_VIEW_RANKS_JOB_LINES_H_
#define TOOLS_VIEW_RANKS_JOB_LINES_H_

#include <string>

#include "tools/analyze/ranks/job_overview.h"
#include "tools/analyze/ranks/job_reading.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// A line, broken where the terminal ends; a warning begins with "!".
std::string Line(const Terminal& terminal, const std::string& text);
std::string Warning(const Terminal& terminal, const std::string& text);

// Program and versions, processes and ranks, how long, and from which summaries it is known.
std::string JobHeading(const JobReading& reading, const JobOverview& overview, const Terminal& terminal);
// Versions, programs or devices that differ, ranks that are there twice, what cannot be read, dropped events.
std::string DifferenceLines(const JobReading& reading, const JobOverview& overview, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_RANKS_JOB_LINES_H_
