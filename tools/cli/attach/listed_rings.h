// Rings of dead processes whose events are not yet in a capture. Each ring occupies memory, as many bytes as its file
// has. memoir-drain finds and merges them, because it shares its code with the recorder.
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

// Returns this user's rings in the folders where recordings keep rings. Empty if memoir-drain is missing or fails.
// `clean`: merges them into their captures, and removes rings whose captures were deleted.
std::vector<ListedRing> ListDeadRings(const InstallTree& tree, bool clean);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_LISTED_RINGS_H_
