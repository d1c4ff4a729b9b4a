// How many parts of a recording --max-size removed, as its newest counters have it: what tells a gap that was made on
// purpose from a part that somebody removed.
#ifndef TOOLS_MODEL_EVICTED_PARTS_H_
#define TOOLS_MODEL_EVICTED_PARTS_H_

#include <cstdint>

#include "tools/read/folder.h"

namespace memoir {

// Reads chunks from the end of the recording until one has counters.
std::uint64_t CountEvictedParts(const ProcessFiles& process);

}  // namespace memoir

#endif  // TOOLS_MODEL_EVICTED_PARTS_H_
