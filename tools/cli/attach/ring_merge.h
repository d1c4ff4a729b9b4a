// Merges the rings of dead processes into their captures. The separate program memoir-drain does the work, because it
// shares code with the tracker.
#ifndef TOOLS_CLI_ATTACH_RING_MERGE_H_
#define TOOLS_CLI_ATTACH_RING_MERGE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/model/capture.h"

namespace memoir {

// A process that a signal killed, as seen by its parent.
struct KilledProcess {
  std::uint64_t pid = 0;
  int signal = 0;  // 0: no signal killed it
};

// Opens the capture at `path`. If dead processes left their rings on this host, merges the rings and opens `path`
// again. `say` receives one line for each merge, done or failed. A failed merge is not an error: the parts can still be
// read. `run`: as in Capture::Open. If the folder has several runs, `say` also receives a line with the number of the
// chosen run. `killed`: if the ring of this process is merged, its signal is stored in the capture.
absl::StatusOr<Capture> OpenMerged(const std::string& path, const std::function<void(const std::string&)>& say,
                                   std::uint32_t run = kLastRun, const KilledProcess& killed = {});

// Merges the rings of dead processes that recorded into `folder`, even if the folder has no parts of these processes.
void MergeRingsOf(const std::string& folder, const InstallTree& tree);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_RING_MERGE_H_
