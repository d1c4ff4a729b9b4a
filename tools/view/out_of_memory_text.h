// Out-of-memory errors in a few lines: who asked for what, who held the bytes.
#ifndef TOOLS_VIEW_OUT_OF_MEMORY_TEXT_H_
#define TOOLS_VIEW_OUT_OF_MEMORY_TEXT_H_

#include <string>

#include "tools/analyze/summary.h"
#include "tools/view/json.h"
#include "tools/view/terminal.h"

namespace memoir {

// The last one of the summary, and how many there were; "" where there was none.
std::string RenderOutOfMemory(const Capture& capture, const Summary& summary, const Terminal& terminal);

Json OutOfMemoryJson(const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_OUT_OF_MEMORY_TEXT_H_
