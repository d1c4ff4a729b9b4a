// Prints the host memory of a recording's processes as text and JSON.
#ifndef TOOLS_VIEW_HOST_HOST_VIEW_H_
#define TOOLS_VIEW_HOST_HOST_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/host/host_memory_use.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Returns one line about all processes, for a recording without findings.
std::string HostLine(const HostMemoryUse& memory);
// Prints at most `top` processes with a finding (0: all). If there is only one process, prints this process even
// without a finding. `path`: the capture's path as typed.
std::string RenderHost(const Capture& capture, const HostMemoryUse& memory, std::size_t top, const std::string& path,
                       const Terminal& terminal);
// If a process was killed because of its memory, returns the killer and the command that shows more. Otherwise empty.
std::string KilledLine(const Capture& capture, const HostMemoryUse& memory, const std::string& path);
Json HostJson(const Capture& capture, const HostMemoryUse& memory);

}  // namespace memoir

#endif  // TOOLS_VIEW_HOST_HOST_VIEW_H_
