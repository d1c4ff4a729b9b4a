// memoir export with the formats collapsed, speedscope and pprof: the tree of stacks, for viewers of flame graphs.
#ifndef TOOLS_CLI_EXPORT_EXPORT_FLAME_H_
#define TOOLS_CLI_EXPORT_EXPORT_FLAME_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/model/capture.h"

namespace memoir {

struct FlameExport {
  std::string by;       // "stack", "module", or "": not given
  std::string measure;  // the name of a FlameMeasure, or "": not given
  bool all_frames = false;
};

bool IsFlameExport(std::string_view what);
void AddFlameOptions(CLI::App& app, FlameExport& asked);
// Describes an invalid option of an export of `what`; empty if all are valid.
std::string ComplaintAbout(const FlameExport& asked, std::string_view what);

// Writes the export. `write` receives the file's bytes in order.
absl::StatusOr<ReplayReport> ExportFlame(const Capture& capture, std::string_view what, const FlameExport& asked,
                                         const Selection& selection,
                                         const std::function<void(std::string_view)>& write);

}  // namespace memoir

#endif  // TOOLS_CLI_EXPORT_EXPORT_FLAME_H_
