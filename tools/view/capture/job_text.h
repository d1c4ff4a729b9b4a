// What the text views say of a job's processes: which ranks ran and where, which are missing, what is odd about them.
#ifndef TOOLS_VIEW_CAPTURE_JOB_TEXT_H_
#define TOOLS_VIEW_CAPTURE_JOB_TEXT_H_

#include <string>

#include "tools/model/capture.h"

namespace memoir {

// "rank 0, pid 100 on testhost"; "3 processes on testhost, ranks 0-1, 3 of 4; rank 2 is missing".
std::string RenderWhere(const Capture& capture);

// "rank 3 (pid 100 on testhost)".
std::string ProcessName(const Capture& capture, ProcessId process);

// What was decided about ranks whose variables contradict each other; one line, "" when none did.
// Like the next, of the processes that were replayed.
std::string RenderRankConflicts(const Capture& capture, const ReplayReport& report);

// Forked children that have no files of their own; one line over all processes, "" when there are none.
std::string RenderForkedChildren(const Capture& capture, const ReplayReport& report);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_JOB_TEXT_H_
