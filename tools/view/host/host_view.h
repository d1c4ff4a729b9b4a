// The host's memory of a recording's processes, in text and JSON.
#ifndef TOOLS_VIEW_HOST_HOST_VIEW_H_
#define TOOLS_VIEW_HOST_HOST_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/host/host_memory.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// In one line, of all processes: where nothing was found.
std::string HostLine(const HostMemory& memory);
// Of each process with a finding, at most `top` (0: all); of one process also without. `path`: of the capture, as it
// is typed.
std::string RenderHost(const Capture& capture, const HostMemory& memory, std::size_t top, const std::string& path,
                       const Terminal& terminal);
// Of a recording whose process was killed for its memory, who did it and the command that shows more; "" of others.
std::string KilledLine(const Capture& capture, const HostMemory& memory, const std::string& program,
                       const std::string& path);
Json HostJson(const Capture& capture, const HostMemory& memory);

}  // namespace memoir

#endif  // TOOLS_VIEW_HOST_HOST_VIEW_H_
