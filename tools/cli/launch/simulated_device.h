// Prepares the simulated GPU for a command. Checks whether the simulated device is installed and the card is known, and
// extends the command's environment.
//
// In the command's processes, the simulated device reads its variables (docs/simulated_device.md). This file checks the
// values earlier, before anything starts.
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

constexpr std::uint32_t kMostSimulatedDevices = 64;

// A card profile, as far as the program needs it.
struct SimulatedCard {
  std::string key;                 // "h100"
  std::string name;                // "NVIDIA H100 80GB HBM3"
  std::uint64_t memory = 0;        // bytes: the smallest number that a driver reports
  std::uint64_t memory_most = 0;   // bytes: the largest number that a driver reports
  std::uint64_t memory_least = 0;  // bytes of the context and one block: the least value of --sim-memory
  bool common = false;             // included in `memoir fit --gpu all`
};

// Returns the cards of `tree`, if it has any, and of the user's file ("": no file), in the files' order. The user's
// cards replace others with the same key, and are all `common`. InvalidArgument: an error in the user's file; the
// message names file, line and error.
absl::StatusOr<std::vector<SimulatedCard>> ReadSimulatedCards(const InstallTree& tree, const std::string& own_file);

// `variables` are the options' variables (MEMOIR_SIM_GPU ...). Returns OK if they request no simulation, or a
// simulation that is possible.
absl::Status CheckSimulation(const InstallTree& tree, const std::map<std::string, std::string>& variables);

// Appends the library of the simulated device to LD_PRELOAD. If the interposer is preloaded, it comes first, because
// its hooks must see everything that torch imports. Also makes triton find the simulated driver.
void AddSimulation(const InstallTree& tree, Attachment& attachment);

}  // namespace memoir

#endif  // TOOLS_CLI_LAUNCH_SIMULATED_DEVICE_H_
