#include "tools/cli/doctor/told_facts.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memoir {
namespace {

using Level = Check::Level;

// Variables whose value can be in a capture. Others are asked whether they are set, or choose how is recorded, and are
// not in it.
constexpr const char* kTold[] = {
#define MEMOIR_LAUNCHER(name, rank, world_size, unless) rank, world_size,
#include "proto/memoir/launchers.def"
#undef MEMOIR_LAUNCHER
#define MEMOIR_JOB(name, first, second, third) first, second, third,
#include "proto/memoir/launchers.def"
#undef MEMOIR_JOB
    "TORCHELASTIC_RESTART_COUNT",  // the number of the restart
    "MEMOIR_RUN",                  // what memoir run calls itself, with the values that name the job
    "MEMOIR_RING_DIR",             // with the next, the path of the ring
    "TMPDIR",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "MEMOIR_SIM_GPU",  // with the next, the simulated card
    "MEMOIR_SIM_WORLD"};

Check EnvironmentTold() {
  std::vector<std::string> set, unset;
  for (const std::string variable : kTold) {
    if (variable.empty()) continue;
    const char* const value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0') {
      unset.push_back(variable);
    } else {
      set.push_back(absl::StrCat(variable, "=", value));
    }
  }
  const std::string values = set.empty() ? "none is set" : absl::StrJoin(set, ", ");
  return {
      Level::kFine, "told: variables",
      absl::StrCat(values, "; not set, but told if they were: ", absl::StrJoin(unset, ", "), "; of no other variable"),
      ""};
}

Check HostTold() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return {Level::kFine, "told: host", absl::StrCat(host.data(), ", its boot id, ids of processes; no user, no address"),
          ""};
}

}  // namespace

std::vector<Check> CheckWhatIsTold() {
  return {EnvironmentTold(),
          {Level::kFine, "told: arguments", "the file name of the script, without its folder; no argument", ""},
          HostTold()};
}

}  // namespace memoir
