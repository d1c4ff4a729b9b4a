// The checks of `memoir doctor` for rings of dead processes.
#ifndef TOOLS_CLI_DOCTOR_DEAD_RING_CHECKS_H_
#define TOOLS_CLI_DOCTOR_DEAD_RING_CHECKS_H_

#include <vector>

#include "tools/cli/doctor/doctor_checks.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

// Returns one line for each ring found, or with `clean` for each ring merged or removed.
std::vector<DoctorCheck> CheckDeadRings(const InstallTree& tree, bool clean);

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_DEAD_RING_CHECKS_H_
