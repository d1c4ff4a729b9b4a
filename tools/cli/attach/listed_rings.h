// Lists or merges the rings of dead processes whose events are not yet in a capture. A ring in /dev/shm occupies as
// many bytes of memory as its file has. The program memoir-drain does the work, because it shares code with the
// tracker.
#ifndef TOOLS_CLI_ATTACH_LISTED_RINGS_H_
#define TOOLS_CLI_ATTACH_LISTED_RINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/installed/install_tree.h"

namespace memoir {

// A line of memoir-drain's output (tracker/drain/dead_ring_lines.h).
struct ListedRing {
  std::string path;
  std::uint64_t bytes = 0;
  std::string pid;
  std::string state;
  std::string text;
};

// Returns this user's rings in the folders where recordings store rings. Empty if memoir-drain is missing or fails. If
// `clean` is true, also merges the rings into their captures, and removes rings whose captures were deleted.
std::vector<ListedRing> ListDeadRings(const InstallTree& tree, bool clean);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_LISTED_RINGS_H_
