// Prints kernel launches, other CUDA calls, and CUDA graphs (tools/analyze/calls/device_call_summary.h) as text and
// JSON.
#ifndef TOOLS_VIEW_CALLS_DEVICE_CALLS_VIEW_H_
#define TOOLS_VIEW_CALLS_DEVICE_CALLS_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/calls/device_call_summary.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// `top`: rows of each table; 0: all. Kernels that differ only in template arguments share a row.
std::string RenderDeviceCalls(const Capture& capture, const DeviceCallSummary& calls, std::size_t top,
                              const Terminal& terminal);
// Each kernel symbol has its own row. `top`: the number of kernels; 0: all. Other calls and graphs are all included.
Json DeviceCallsJson(const Capture& capture, const DeviceCallSummary& calls, std::size_t top);

}  // namespace memoir

#endif  // TOOLS_VIEW_CALLS_DEVICE_CALLS_VIEW_H_
