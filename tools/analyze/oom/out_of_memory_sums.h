// Figures that are computed from one out-of-memory error.
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_SUMS_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_SUMS_H_

#include <cstdint>

#include "tools/analyze/oom/out_of_memory.h"

namespace memoir {

// Returns the used bytes of the device without a known owner. A small number counts as 0, because the figures are from
// different times: the device sample with the memory of other processes is older than the error. Also 0 if torch's
// allocator caches nothing, because in this case the free bytes of its pools are unknown.
std::uint64_t UnaccountedBytes(const OutOfMemory& error);

// Returns the bytes that tensors could have used. Torch empties its cache before it reports the error. All free bytes
// that are still reserved are in segments with live blocks, and a smaller batch cannot use them either.
std::uint64_t UsableBytes(const OutOfMemory& error);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_SUMS_H_
