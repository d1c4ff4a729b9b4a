// The checks of `memoir doctor` for rings of dead processes.
#ifndef TOOLS_CLI_DOCTOR_DEAD_RING_CHECKS_H_
#define TOOLS_CLI_DOCTOR_DEAD_RING_CHECKS_H_

#include <vector>

#include "tools/cli/doctor/doctor_checks.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

// Returns one check for each ring that was found. If `clean` is true, the rings are merged or removed, and each check
// reports the result.
std::vector<DoctorCheck> CheckDeadRings(const InstallTree& tree, bool clean);

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_DEAD_RING_CHECKS_H_
