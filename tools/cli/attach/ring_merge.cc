#include "tools/cli/attach/ring_merge.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/cli/attach/dead_rings.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/process/child_process.h"
#include "tools/model/job.h"
#include "tools/view/capture/capture_text.h"

namespace memoir {
namespace {

// A capture is untrusted and names the path: only a file of our own is handed on, since merging writes where the ring
// says.
bool IsOurs(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

std::string MergeRing(const InstallTree& tree, const ProcessSummary& process) {
  const std::string& ring = process.pending_ring;
  const std::string who = fmt::format("process {} ({}) {}; its newest events", process.info.pid(),
                                      process.is_rank ? RankLabel(process) : "no rank", kEndedWithoutStopping);
  if (!IsOurs(ring)) return fmt::format("{} in {} are not merged: the file belongs to another user", who, ring);
  const ChildResult result = RunChild({tree.drain.string(), ring}, {});
  if (result.start_error != 0) {
    return fmt::format("{} in {} are not merged: {}: {}", who, ring, tree.drain.string(),
                       std::strerror(result.start_error));
  }
  if (result.exit_code != 0) {
    return fmt::format("{} in {} are not merged: memoir-drain ended with {}", who, ring, result.exit_code);
  }
  return fmt::format("{} were merged from {}", who, ring);
}

}  // namespace

void MergeRingsOf(const std::string& folder, const InstallTree& tree) {
  for (const ListedRing& ring : ListDeadRings(tree, false)) {
    if (ring.state == "merge" && ring.text == folder) RunChild({tree.drain.string(), ring.path}, {});
  }
}

absl::StatusOr<Capture> OpenMerged(const std::string& path, const std::function<void(const std::string&)>& say) {
  absl::StatusOr<Capture> capture = Capture::Open(path);
  if (!capture.ok()) return capture;
  bool merged = false;
  for (const ProcessSummary& process : capture->processes()) {
    if (process.pending_ring.empty()) continue;
    merged = true;
    // A recording process may just have had it merged.
    if (access(process.pending_ring.c_str(), F_OK) != 0 && errno == ENOENT) continue;
    say(MergeRing(FindInstallTree(), process));
  }
  return merged ? Capture::Open(path) : std::move(capture);
}

}  // namespace memoir
