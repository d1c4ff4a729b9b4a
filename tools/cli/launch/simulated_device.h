// The simulated GPU, as the program meets it: is it installed, is the card known, what a command's environment needs.
//
// The device itself reads its variables in the command's processes (docs/simulated_device.md); what is refused here is
// refused before anything starts.
#ifndef TOOLS_CLI_LAUNCH_SIMULATED_DEVICE_H_
#define TOOLS_CLI_LAUNCH_SIMULATED_DEVICE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/attach/attachment.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

// As the tables have it.
struct SimulatedCard {
  std::string key;           // "h100"
  std::string name;          // "NVIDIA H100 80GB HBM3"
  std::uint64_t memory = 0;  // bytes: the least that a driver reports
  std::uint64_t memory_most = 0;
  bool common = false;  // one of `memoir fit --gpu all`
};

// Of `tree`, which may have none, and of the user's own file ("": none), in the files' order; the user's replace those
// of the same key, and are all common. InvalidArgument names file, line and what is wrong with the user's.
absl::StatusOr<std::vector<SimulatedCard>> ReadSimulatedCards(const InstallTree& tree, const std::string& own_file);

// `variables` are the options' (MEMOIR_SIM_GPU ...). OK when they ask for no simulation, or for one that can be had.
absl::Status CheckSimulation(const InstallTree& tree, const std::map<std::string, std::string>& variables);

// Preloads the device, behind the interposer where that is preloaded: hooks look at what torch imports, wherever it
// comes from. And lets triton find the simulated driver.
void AddSimulation(const InstallTree& tree, Attachment& attachment);

}  // namespace memoir

#endif  // TOOLS_CLI_LAUNCH_SIMULATED_DEVICE_H_
