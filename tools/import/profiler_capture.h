// A trace of torch.profiler as events of a capture: what was open on its threads, and the memory events in it.
#ifndef TOOLS_IMPORT_PROFILER_CAPTURE_H_
#define TOOLS_IMPORT_PROFILER_CAPTURE_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/import/profiler_trace.h"

namespace memoir {

// `program`: how the file is called. `write` gets the bytes of the capture's one part, in order.
absl::Status WriteProfilerCapture(const ProfilerTrace& trace, const std::string& program,
                                  const std::function<absl::Status(std::string_view)>& write);

}  // namespace memoir

#endif  // TOOLS_IMPORT_PROFILER_CAPTURE_H_
