// Rings of processes that died, whose events are not in their captures yet: each takes its size in memory.
// memoir-drain finds and merges them, because it shares its code with the recorder.
#ifndef TOOLS_CLI_ATTACH_DEAD_RINGS_H_
#define TOOLS_CLI_ATTACH_DEAD_RINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/installed/install_tree.h"

namespace memoir {

// As tracker/drain/dead_ring_lines.h says it.
struct ListedRing {
  std::string path;
  std::uint64_t bytes = 0;
  std::string pid;
  std::string state;
  std::string text;
};

// This user's, in the folders where recordings keep rings; none where memoir-drain is missing or fails. `clean`: puts
// them into their captures, and removes those whose captures are gone.
std::vector<ListedRing> ListDeadRings(const InstallTree& tree, bool clean);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_DEAD_RINGS_H_
