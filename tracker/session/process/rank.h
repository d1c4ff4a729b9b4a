// The rank of this process, from its launcher's environment, torch.distributed, and the user. If these sources
// contradict each other, one source is used, and the contradiction is described.
//
// Precedence: MEMOIR_RANK (contradictions with it are not described); then torch.distributed, unless its group is
// smaller than the launcher's world; then the launchers in the order of proto/memoir/launchers.def. The calling thread
// reads the environment each time, because it may change while a program runs: Ray's workers set RANK long after their
// start.
#ifndef TRACKER_SESSION_PROCESS_RANK_H_
#define TRACKER_SESSION_PROCESS_RANK_H_

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

struct Rank {
  std::uint32_t rank = 0;
  std::uint32_t world_size = 0;  // 0: unknown
  std::uint32_t restart = 0;     // how often torchrun has restarted the job
  std::string source = "none";
  std::string conflict;  // one line about a contradiction, or about variables that do not contain a number; else empty
};

// This process in torch.distributed's default process group.
struct ProcessGroup {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
};

// Finds the rank. `given`, the argument of memoir.start(), takes precedence over MEMOIR_RANK.
Rank FindRank(std::optional<std::uint32_t> given, std::optional<ProcessGroup> group);

// Returns true for the reporting process of a job, which prints messages for all processes: rank 0, according to the
// environment. tools/cli/attach/launcher.h and the Python package use the same rule.
bool IsReportingProcess();

// Returns true if a launcher started this process as part of a job.
bool HasLauncherRank();

}  // namespace memoir

#endif  // TRACKER_SESSION_PROCESS_RANK_H_
