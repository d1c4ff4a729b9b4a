// What follows from the figures of one out-of-memory error.
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_SUMS_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_SUMS_H_

#include <cstdint>

#include "tools/analyze/oom/out_of_memory.h"

namespace memoir {

// Used of the device, but by nobody that is known. Where torch's allocator caches nothing, what its pools keep is not
// known. Readings of other processes are older.
std::uint64_t Unaccounted(const OutOfMemory& error);

// What tensors could have had. Torch has emptied its cache before it gives up: what it reserves and cannot use then is
// lost to a smaller batch as well.
std::uint64_t UsableBytes(const OutOfMemory& error);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_SUMS_H_
