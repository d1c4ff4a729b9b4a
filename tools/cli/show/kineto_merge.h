// memoir export chrome --merge: what a trace of torch.profiler and a capture have to do with each other.
#ifndef TOOLS_CLI_SHOW_KINETO_MERGE_H_
#define TOOLS_CLI_SHOW_KINETO_MERGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"
#include "tools/view/trace/chrome_trace.h"
#include "tools/view/trace/kineto_trace.h"

namespace memoir {

// NotFound, and PermissionDenied and the like: the file cannot be read. InvalidArgument as ReadKinetoTrace.
absl::StatusOr<KinetoTrace> OpenKinetoTrace(const std::string& path);

// Limits `selection` to the trace's time where it has no window, and to its rank where the trace is of one process of
// the capture. OfAnotherRun: it ends before the capture begins.
absl::Status SelectTimeOf(const KinetoTrace& trace, const std::string& path, const Capture& capture,
                          Selection& selection);

absl::Status OfAnotherRun(const KinetoTrace& trace, const std::string& path, const Capture& capture);

// That puts a capture's events behind those of the trace, by both clocks since 1970. `trace` must outlive it.
ChromeFrame FrameOf(const KinetoTrace& trace, const Capture& capture);

}  // namespace memoir

#endif  // TOOLS_CLI_SHOW_KINETO_MERGE_H_
