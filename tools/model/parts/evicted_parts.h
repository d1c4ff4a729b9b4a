// Counts the evicted parts of a recording (--max-size), so that a reader can distinguish evicted parts from lost parts.
#ifndef TOOLS_MODEL_PARTS_EVICTED_PARTS_H_
#define TOOLS_MODEL_PARTS_EVICTED_PARTS_H_

#include <cstdint>

#include "tools/read/capture_folder.h"

namespace memoir {

// Returns the number of evicted parts, from the newest counters that can be read. 0 if no chunk has counters.
std::uint64_t CountEvictedParts(const ProcessFiles& process);

}  // namespace memoir

#endif  // TOOLS_MODEL_PARTS_EVICTED_PARTS_H_
