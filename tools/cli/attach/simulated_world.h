// One process as rank K of a world of N, on the simulated GPU: may it be, and what the launcher of such a world would
// have told the process. What makes its collectives work alone is in the device and in the Python package
// (docs/simulated_device.md).
#ifndef TOOLS_CLI_ATTACH_SIMULATED_WORLD_H_
#define TOOLS_CLI_ATTACH_SIMULATED_WORLD_H_

#include <map>
#include <string>

#include "absl/status/status.h"

namespace memoir {

// `variables` are the options' (MEMOIR_SIM_RANK, MEMOIR_SIM_WORLD, MEMOIR_SIM_DEVICES). OK where no world is asked for.
absl::Status CheckWorld(const std::map<std::string, std::string>& variables);

// RANK, WORLD_SIZE, LOCAL_RANK and so on, as torchrun sets them, and the number of devices of one machine; nothing
// where no world is asked for. `variables` passed CheckWorld.
std::map<std::string, std::string> WorldVariables(const std::map<std::string, std::string>& variables);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_SIMULATED_WORLD_H_
