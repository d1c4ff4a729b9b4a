// memoir export torch-snapshot: writes a snapshot in the format of torch.cuda.memory._dump_snapshot, a pickle.
#ifndef TOOLS_CLI_EXPORT_EXPORT_SNAPSHOT_H_
#define TOOLS_CLI_EXPORT_EXPORT_SNAPSHOT_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

// `write` receives the file's bytes in order.
absl::StatusOr<ReplayReport> ExportSnapshot(const Capture& capture, const Selection& selection,
                                            const std::function<void(std::string_view)>& write);

}  // namespace memoir

#endif  // TOOLS_CLI_EXPORT_EXPORT_SNAPSHOT_H_
