// What `memoir doctor --simulated` adds: whether a simulated GPU can be had here, and whether it stands in for all that
// this torch wants of CUDA.
#ifndef TOOLS_CLI_DOCTOR_SIMULATION_CHECKS_H_
#define TOOLS_CLI_DOCTOR_SIMULATION_CHECKS_H_

#include <string>
#include <vector>

#include "tools/cli/doctor/checks.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

// Interpreter `python`, whose torch is looked at and not imported.
std::vector<Check> CheckSimulatedDevice(const InstallTree& tree, const std::string& python);

}  // namespace memoir

#endif  // TOOLS_CLI_DOCTOR_SIMULATION_CHECKS_H_
