// Writes a trace of torch.profiler as a capture: memory events, and the spans that were open on their threads.
#ifndef TOOLS_IMPORT_TRACE_PROFILER_CAPTURE_H_
#define TOOLS_IMPORT_TRACE_PROFILER_CAPTURE_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/import/trace/profiler_trace.h"

namespace memoir {

// `program`: the name of the file. `write` receives the bytes of the capture's only part, in order.
absl::Status WriteProfilerCapture(const ProfilerTrace& trace, const std::string& program,
                                  const std::function<absl::Status(std::string_view)>& write);

}  // namespace memoir

#endif  // TOOLS_IMPORT_TRACE_PROFILER_CAPTURE_H_
