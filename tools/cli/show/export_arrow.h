// memoir export arrow: a table of the capture as an Arrow file or stream, or a folder of them.
#ifndef TOOLS_CLI_SHOW_EXPORT_ARROW_H_
#define TOOLS_CLI_SHOW_EXPORT_ARROW_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"
#include "tools/view/database/capture_columns.h"

namespace memoir {

// One table goes into the file `path`, or as a stream to standard output; several into the folder `path`, which is
// made, each as TABLE.arrow. What could not be written whole is taken away.
absl::StatusOr<ReplayReport> ExportArrow(const Capture& capture, const Selection& selection, const TableSet& wanted,
                                         const std::string& path);

}  // namespace memoir

#endif  // TOOLS_CLI_SHOW_EXPORT_ARROW_H_
