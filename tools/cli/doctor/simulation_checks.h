// The additional checks of `memoir doctor --simulated`: whether a simulated GPU works on this machine, and whether the
// simulated GPU has all CUDA functions that torch imports.
#ifndef TOOLS_CLI_DOCTOR_SIMULATION_CHECKS_H_
#define TOOLS_CLI_DOCTOR_SIMULATION_CHECKS_H_

#include <string>
#include <vector>

#include "tools/cli/doctor/doctor_checks.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

// Examines the torch of the interpreter `python`, without importing it.
std::vector<DoctorCheck> CheckSimulatedDevice(const InstallTree& tree, const std::string& python);

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_SIMULATION_CHECKS_H_
