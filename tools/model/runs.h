// Which processes of a folder belong together: a folder that is used again holds several runs.
//
// Together are processes that one `memoir run` started, that were there at the same time, that are one process (it
// recorded twice, or replaced itself), its fork or a program that it started; and ranks of one world, where none is
// there twice. Apart, though there at the same time, are two jobs that their launcher numbered, and several
// `memoir run`, any two of which recorded a rank of the same number.
#ifndef TOOLS_MODEL_RUNS_H_
#define TOOLS_MODEL_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/read/folder.h"

namespace memoir {

struct RunFiles {
  std::uint64_t start_ns = 0;          // of its first process, since 1970
  std::vector<std::size_t> processes;  // of the folder, in its order
};

// By their start.
std::vector<RunFiles> FindRuns(const CaptureFolder& folder);

}  // namespace memoir

#endif  // TOOLS_MODEL_RUNS_H_
