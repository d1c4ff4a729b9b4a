// memoir export with the formats perfetto and chrome: slices of threads and counters of devices, for trace viewers.
#ifndef TOOLS_CLI_EXPORT_EXPORT_TRACE_H_
#define TOOLS_CLI_EXPORT_EXPORT_TRACE_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct TraceExport {
  std::string what;             // "perfetto", "chrome"
  std::string thread;           // number or name of the only exported thread; "": all
  std::string merge;            // chrome only: the torch.profiler trace to which the capture is added; "": none
  std::function<bool()> go_on;  // returns false to stop the export
};

bool IsTraceExport(std::string_view what);

// Writes the export. `write` receives the file's bytes in order.
absl::StatusOr<ReplayReport> ExportTrace(const Capture& capture, const TraceExport& asked, const Selection& selection,
                                         const std::function<void(std::string_view)>& write);

}  // namespace memoir

#endif  // TOOLS_CLI_EXPORT_EXPORT_TRACE_H_
