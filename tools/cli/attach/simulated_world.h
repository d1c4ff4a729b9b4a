// Makes one process on the simulated device run as rank K of a job with N ranks (a simulated world). Checks the
// numbers, and computes the variables that the launcher of this job would set. The simulated device and Memoir's Python
// package make the collectives of the process work without other ranks (docs/simulated_device.md).
#ifndef TOOLS_CLI_ATTACH_SIMULATED_WORLD_H_
#define TOOLS_CLI_ATTACH_SIMULATED_WORLD_H_

#include <map>
#include <string>

#include "absl/status/status.h"

namespace memoir {

// `variables` are the options' variables (MEMOIR_SIM_RANK, MEMOIR_SIM_WORLD, MEMOIR_SIM_DEVICES). Returns an error if
// the numbers are invalid. OK if no world is requested.
absl::Status CheckWorld(const std::map<std::string, std::string>& variables);

// Returns RANK, WORLD_SIZE, LOCAL_RANK and so on, as torchrun sets them, and MEMOIR_SIM_DEVICES, the number of devices
// of one machine. Empty if no world is requested. `variables` must have passed CheckWorld().
std::map<std::string, std::string> WorldVariables(const std::map<std::string, std::string>& variables);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_SIMULATED_WORLD_H_
