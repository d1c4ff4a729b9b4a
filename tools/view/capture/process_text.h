// The processes of a job as text: existing and missing ranks, their hosts, and irregularities.
#ifndef TOOLS_VIEW_CAPTURE_PROCESS_TEXT_H_
#define TOOLS_VIEW_CAPTURE_PROCESS_TEXT_H_

#include <string>

#include "tools/model/capture.h"

namespace memoir {

// Returns "rank 0, pid 100 on testhost", or "3 processes on testhost, ranks 0-1, 3 of 4; rank 2 is missing".
std::string RenderProcesses(const Capture& capture);

// Returns "rank 3 (pid 100 on testhost)".
std::string ProcessName(const Capture& capture, ProcessId process);

// Describes in one line which environment variables contradict each other about a process's rank, and which rank was
// used. Empty without a contradiction. Covers the processes that were replayed.
std::string RenderRankConflicts(const Capture& capture, const ReplayReport& report);

// Describes forked children of the replayed processes that wrote no files, in one line. Empty without such children.
std::string RenderForkedChildren(const Capture& capture, const ReplayReport& report);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_PROCESS_TEXT_H_
