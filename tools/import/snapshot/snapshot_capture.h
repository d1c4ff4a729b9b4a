// Writes a snapshot of torch's allocator as a capture: the state before the trace, then the entries of the trace.
#ifndef TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_CAPTURE_H_
#define TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_CAPTURE_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/import/snapshot/torch_snapshot.h"

namespace memoir {

// `program`: the name of the file. `write` receives the bytes of the capture's only part, in order.
absl::Status WriteSnapshotCapture(const TorchSnapshot& snapshot, const std::string& program,
                                  const std::function<absl::Status(std::string_view)>& write);

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_CAPTURE_H_
