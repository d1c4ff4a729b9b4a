// memoir export tree: writes the tree of ranges, module calls and memory events. The format is JSON lines, one for each
// node in the order of time, or text in the form of torch's own tests.
#ifndef TOOLS_CLI_EXPORT_EXPORT_TREE_H_
#define TOOLS_CLI_EXPORT_EXPORT_TREE_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct TreeExport {
  std::string format;  // "torch", "json", or "": not given
  std::string thread;
  bool no_memory = false;
  std::function<bool()> go_on;  // for JSON: returns false to stop
};

// Describes an invalid option of an export of `what`; empty if all are valid.
std::string ComplaintAbout(const TreeExport& asked, std::string_view what);

// Writes the export. `write` receives the file's bytes in order.
absl::StatusOr<ReplayReport> ExportTree(const Capture& capture, const TreeExport& asked, const Selection& selection,
                                        const std::function<void(std::string_view)>& write);

}  // namespace memoir

#endif  // TOOLS_CLI_EXPORT_EXPORT_TREE_H_
