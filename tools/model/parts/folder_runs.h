// Groups the processes of a folder into runs. A folder that is used again contains several runs.
//
// Two processes belong to the same run in each of these cases:
// - One `memoir run` started both processes.
// - The processes existed at the same time.
// - They are one process that recorded twice or replaced itself (exec).
// - One process is a fork or a child program of the other.
// - They are ranks of one world in which no rank occurs twice.
// Two jobs at the same time are separate runs if their launchers gave them different names. If several commands
// `memoir run` ran at the same time, the processes of each command are also a separate run, if any two of the commands
// have processes of the same rank.
#ifndef TOOLS_MODEL_PARTS_FOLDER_RUNS_H_
#define TOOLS_MODEL_PARTS_FOLDER_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/read/capture_folder.h"

namespace memoir {

struct FolderRun {
  std::uint64_t start_ns = 0;          // start of its first process, in nanoseconds since 1970
  std::vector<std::size_t> processes;  // indices in CaptureFolder::processes, ascending
};

// Returns the runs in the order of their start.
std::vector<FolderRun> FindRuns(const CaptureFolder& folder);

}  // namespace memoir

#endif  // TOOLS_MODEL_PARTS_FOLDER_RUNS_H_
