// Out-of-memory errors as JSON (docs/json.md).
#ifndef TOOLS_VIEW_OOM_OUT_OF_MEMORY_JSON_H_
#define TOOLS_VIEW_OOM_OUT_OF_MEMORY_JSON_H_

#include "tools/analyze/summary/summary.h"
#include "tools/view/json/json.h"

namespace memoir {

// Returns `out_of_memory[]` of a summary.
Json OutOfMemoryJson(const Summary& summary);

// Returns the document of `memoir check oom --json`.
Json CheckOutOfMemoryJson(const Capture& capture, const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_OUT_OF_MEMORY_JSON_H_
