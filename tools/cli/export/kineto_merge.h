// memoir export chrome --merge: aligns a trace of torch.profiler with a capture.
#ifndef TOOLS_CLI_EXPORT_KINETO_MERGE_H_
#define TOOLS_CLI_EXPORT_KINETO_MERGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"
#include "tools/view/trace/chrome_trace.h"
#include "tools/view/trace/kineto_trace.h"

namespace memoir {

// Reads a trace of torch.profiler. Returns NotFound, PermissionDenied and so on if the file cannot be read, and
// InvalidArgument in the same cases as ReadKinetoTrace().
absl::StatusOr<KinetoTrace> OpenKinetoTrace(const std::string& path);

// Limits `selection` to the trace's time if it has no window, and to one rank if the capture and the trace have exactly
// one process in common. Returns OfAnotherRun() if the trace ends before the capture begins.
absl::Status SelectTimeOf(const KinetoTrace& trace, const std::string& path, const Capture& capture,
                          Selection& selection);

// Returns the error for a trace and a capture that are from different runs.
absl::Status OfAnotherRun(const KinetoTrace& trace, const std::string& path, const Capture& capture);

// Returns the begin and end of a file in which a capture's events follow the events of the trace. Their times since
// 1970 align the trace and the capture. `trace` must outlive the frame.
ChromeFrame FrameOf(const KinetoTrace& trace, const Capture& capture);

}  // namespace memoir

#endif  // TOOLS_CLI_EXPORT_KINETO_MERGE_H_
