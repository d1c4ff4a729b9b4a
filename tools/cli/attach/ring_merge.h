// Recordings whose process died: what is still in their ring files is put into the capture by memoir-drain, a program
// of its own because it shares its code with the recorder.
#ifndef TOOLS_CLI_ATTACH_RING_MERGE_H_
#define TOOLS_CLI_ATTACH_RING_MERGE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/model/capture.h"

namespace memoir {

// Opens `path`; where a dead process left its ring on this host, merges it first and opens again. `say` gets one line
// for each merge that was done or that failed. A failed merge is no error: the parts alone still read.
// `run`: as Capture::Open; where the folder holds several, one line says which it is.
absl::StatusOr<Capture> OpenMerged(const std::string& path, const std::function<void(const std::string&)>& say,
                                   std::uint32_t run = kLastRun);

// Merges the rings of dead processes that recorded into `folder`, whose parts are not there: somebody has removed them.
void MergeRingsOf(const std::string& folder, const InstallTree& tree);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_RING_MERGE_H_
