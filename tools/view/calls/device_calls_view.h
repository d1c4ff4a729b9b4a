// Launches of kernels, other calls of CUDA, and CUDA graphs (tools/analyze/calls/device_calls.h) as text and JSON.
#ifndef TOOLS_VIEW_CALLS_DEVICE_CALLS_VIEW_H_
#define TOOLS_VIEW_CALLS_DEVICE_CALLS_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/calls/device_calls.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// `top`: rows of each table; 0: all. Kernels that differ in the arguments of their templates alone share a row.
std::string RenderDeviceCalls(const Capture& capture, const DeviceCalls& calls, std::size_t top,
                              const Terminal& terminal);
// A kernel a row. `top` as above.
Json DeviceCallsJson(const Capture& capture, const DeviceCalls& calls, std::size_t top);

}  // namespace memoir

#endif  // TOOLS_VIEW_CALLS_DEVICE_CALLS_VIEW_H_
