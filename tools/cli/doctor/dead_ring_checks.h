// `memoir doctor` on rings of processes that died.
#ifndef TOOLS_CLI_DOCTOR_DEAD_RING_CHECKS_H_
#define TOOLS_CLI_DOCTOR_DEAD_RING_CHECKS_H_

#include <vector>

#include "tools/cli/doctor/checks.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

// One line each, of what is there, or of what was done (`clean`).
std::vector<Check> CheckDeadRings(const InstallTree& tree, bool clean);

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_DEAD_RING_CHECKS_H_
