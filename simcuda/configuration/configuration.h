// The configuration of the simulation in this process, from the variables MEMOIR_SIM_* (proto/memoir/options.def), read
// once at the first call of CUDA.
#ifndef SIMCUDA_CONFIGURATION_CONFIGURATION_H_
#define SIMCUDA_CONFIGURATION_CONFIGURATION_H_

#include <cstdint>
#include <string>

#include "simcuda/addresses/block_addresses.h"
#include "simcuda/user_tables/card_profile.h"
#include "simcuda/user_tables/limits.h"
#include "simcuda/user_tables/workspaces.h"

namespace memoir::simcuda {

constexpr int kLargestWorld = 4096;
constexpr std::uint64_t kDefaultLate = 1024;  // about the length of a real launch queue (docs/decisions)
constexpr std::uint64_t kMostLate = 999'999'999;

struct Configuration {
  CardProfile profile;                // `profile.memory` is the value of MEMOIR_SIM_MEMORY, if that is set
  Workspaces workspaces;              // workspaces.txt, with the formulas that MEMOIR_SIM_WORKSPACES replaces
  int devices = 1;                    // 0 if there is an error
  int world = 0;                      // ranks that one process represents; 0: each rank is a process
  int rank = 0;                       // rank of the process in this world
  int patience_seconds = 600;         // seconds that a rank waits for another rank
  std::uint64_t others = 0;           // bytes of each device that other processes use
  std::uint64_t pinned = UINT64_MAX;  // bytes of host memory that may be pinned
  std::uint64_t handle = 0;           // bytes that each library handle or communicator takes when it is created
  std::uint64_t late = 0;             // how many pieces of work a device lags behind (stream_progress.h)
  AddressOrder addresses = AddressOrder::kLinux;
  bool takes_most = false;  // shapes that depend on unknown values are the largest possible, not the smallest
  std::string error;        // one line, cause and fix; "" if the configuration is valid
  std::string description;  // "NVIDIA L4 (l4)", "NVIDIA L4 (l4) with 8.00 GiB": shown in captures; ends with
                            // ", alone of 8 ranks" if `world` is 8 (tools/model/job.cc reads that)
};

// The values of the variables; "" if not set. `profiles` and `workspaces` are paths of files, which Configure reads.
struct ConfigurationRequest {
  std::string gpu = "", memory = "", devices = "", profiles = "", rank = "", world = "", timeout = "", unknown = "",
              late = "", workspaces = "", others = "", pinned = "", handles = "", addresses = "";
};

Configuration Configure(const ConfigurationRequest& request);

// Reads the variables from the environment.
ConfigurationRequest RequestOfEnvironment();

}  // namespace memoir::simcuda

#endif  // SIMCUDA_CONFIGURATION_CONFIGURATION_H_
