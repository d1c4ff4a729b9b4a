// One process as rank K of a world of N, on the simulated GPU: whether this is possible, and the variables that the
// launcher of such a world would set. The device and the Python package make its collectives work without other ranks
// (docs/simulated_device.md).
#ifndef TOOLS_CLI_ATTACH_SIMULATED_WORLD_H_
#define TOOLS_CLI_ATTACH_SIMULATED_WORLD_H_

#include <map>
#include <string>

#include "absl/status/status.h"

namespace memoir {

// `variables` are the options' variables (MEMOIR_SIM_RANK, MEMOIR_SIM_WORLD, MEMOIR_SIM_DEVICES). OK if no world is
// requested.
absl::Status CheckWorld(const std::map<std::string, std::string>& variables);

// Returns RANK, WORLD_SIZE, LOCAL_RANK and so on, as torchrun sets them, and the number of devices of one machine.
// Empty if no world is requested. `variables` must have passed CheckWorld().
std::map<std::string, std::string> WorldVariables(const std::map<std::string, std::string>& variables);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_SIMULATED_WORLD_H_
