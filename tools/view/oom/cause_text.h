// Why a request for memory failed, in one or two sentences: the line "why" of an out-of-memory message.
#ifndef TOOLS_VIEW_OOM_CAUSE_TEXT_H_
#define TOOLS_VIEW_OOM_CAUSE_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/oom/out_of_memory.h"

namespace memoir {

// Returns true if torch's allocator caches nothing, and hence reserves nothing, as with cudaMallocAsync or a pluggable
// allocator.
bool HasNoCache(const OutOfMemory& error);

// Returns "FULL: serve.py:31 holds most, 18.2 GiB (input) of 20.4 GiB allocated. 8.0 MiB lacking, ...". `top`: names in
// a list; 0: all.
std::string OutOfMemoryCauseText(const OutOfMemory& error, std::size_t top);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_CAUSE_TEXT_H_
