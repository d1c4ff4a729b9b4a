#include "tools/cli/doctor/recorded_facts.h"

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/model/parts/process_liveness.h"

namespace memoir {
namespace {

using Level = DoctorCheck::Level;

// Variables whose values a capture can contain. The values of other variables are not in the capture: Memoir uses them
// as options, or checks only whether they are set.
constexpr const char* kTold[] = {
#define MEMOIR_LAUNCHER(name, rank, world_size, unless) rank, world_size,
#include "proto/memoir/launchers.def"
#undef MEMOIR_LAUNCHER
#define MEMOIR_JOB(name, first, second, third) first, second, third,
#include "proto/memoir/launchers.def"
#undef MEMOIR_JOB
    "TORCHELASTIC_RESTART_COUNT",  // number of the restart
    "MEMOIR_RUN",                  // the name of this memoir run, including the values that name the job
    "MEMOIR_RING_DIR",             // this and TMPDIR: the path of the ring
    "TMPDIR",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "MEMOIR_SIM_GPU",  // this and MEMOIR_SIM_WORLD: the simulated card
    "MEMOIR_SIM_WORLD"};

DoctorCheck CheckRecordedVariables() {
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
  return {Level::kFine, "told: variables",
          absl::StrCat(values, "; recorded if set: ", absl::StrJoin(unset, ", "), "; no other variable"), ""};
}

DoctorCheck CheckRecordedHost() {
  return {Level::kFine, "told: host",
          absl::StrCat(NameOfThisHost(), ", its boot id, ids of processes; no user, no address"), ""};
}

}  // namespace

std::vector<DoctorCheck> CheckRecordedFacts() {
  return {CheckRecordedVariables(),
          {Level::kFine, "told: arguments", "the file name of the script, without its folder; no argument", ""},
          CheckRecordedHost()};
}

}  // namespace memoir
