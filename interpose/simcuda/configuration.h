// What is simulated in this process, as the variables MEMOIR_SIM_* ask (proto/memoir/options.def): read once, at the
// first call of CUDA.
#ifndef INTERPOSE_SIMCUDA_CONFIGURATION_H_
#define INTERPOSE_SIMCUDA_CONFIGURATION_H_

#include <cstdint>
#include <string>

#include "interpose/simcuda/block_addresses.h"
#include "interpose/simcuda/user_tables/profile.h"
#include "interpose/simcuda/user_tables/workspaces.h"

namespace memoir::simcuda {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kGiB = 1u << 30;

// What the driver deals out: the granularity of cudaMalloc's blocks and of mappings.
constexpr std::uint64_t kGranularity = 2 * kMiB;

constexpr int kMostDevices = 64;
constexpr int kLargestWorld = 4096;
constexpr int kLongestPatience = 1'000'000;
constexpr std::uint64_t kMostMemory = 4096 * kGiB;

constexpr std::uint64_t kDefaultLate = 1024;  // about what a real launch queue holds: docs/decisions
constexpr std::uint64_t kMostLate = 999'999'999;

struct Configuration {
  Profile profile;                    // `memory` as asked: of the card, or MEMOIR_SIM_MEMORY
  Workspaces workspaces;              // of workspaces.txt, and MEMOIR_SIM_WORKSPACES
  int devices = 1;                    // 0: the error below
  int world = 0;                      // one process stands for so many ranks; 0: each rank is a process
  int rank = 0;                       // which of them it is
  int patience_seconds = 600;         // how long a rank waits for another one
  std::uint64_t others = 0;           // bytes of each device that other processes hold
  std::uint64_t pinned = UINT64_MAX;  // bytes of host memory that may be pinned
  std::uint64_t handle = 0;           // bytes that a handle of cuBLAS and its like, or a communicator, takes at once
  std::uint64_t late = 0;             // work is done when so many pieces were queued after it (progress.h)
  AddressOrder addresses = AddressOrder::kLinux;
  bool takes_most = false;  // a shape that depends on unknown values is the largest possible, not the smallest
  std::string error;        // one line, cause and fix; then there are no devices
  std::string
      description;  // "NVIDIA L4 (l4)", "NVIDIA L4 (l4) with 8.00 GiB": what captures say of themselves; ends with
                    // ", alone of 8 ranks" where it stands for a world (tools/model/job.cc reads that)
};

// The variables' values, "" where not set. Files are read from `profiles` and `workspaces`.
struct ConfigurationRequest {
  std::string gpu = "", memory = "", devices = "", profiles = "", rank = "", world = "", timeout = "", unknown = "",
              late = "", workspaces = "", others = "", pinned = "", handles = "", addresses = "";
};

Configuration Configure(const ConfigurationRequest& request);

// From the environment.
ConfigurationRequest RequestOfEnvironment();

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_CONFIGURATION_H_
