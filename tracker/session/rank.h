// Which rank this process is, from what its launcher put into the environment, what torch.distributed found out, and
// what the user says. Where they contradict each other, one is taken and the contradiction put into words.
//
// Order and traps: MEMOIR_RANK wins, and contradicts nobody; then torch.distributed, unless its group is smaller than
// what the launcher started; then the launchers in the order of proto/memoir/launchers.def. The environment is read in
// the calling thread, and may change while a program runs: Ray's workers set RANK long after their start.
#ifndef TRACKER_SESSION_RANK_H_
#define TRACKER_SESSION_RANK_H_

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

struct Rank {
  std::uint32_t rank = 0;
  std::uint32_t world_size = 0;  // 0: unknown
  std::uint32_t restart = 0;
  std::string source = "none";
  std::string conflict;  // one line; "": nothing contradicts it, and what launchers set are numbers
};

// torch.distributed's default process group.
struct ProcessGroup {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
};

// `given` comes before MEMOIR_RANK: the argument of memoir.start().
Rank FindRank(std::optional<std::uint32_t> given, std::optional<ProcessGroup> group);

// Of a job's processes one says what concerns all of them: rank 0, by the environment. tools/cli/attach/launcher.h and
// the Python package decide alike.
bool SpeaksForJob();

// Whether a launcher started this process as one of a job's.
bool HasRankOfLauncher();

}  // namespace memoir

#endif  // TRACKER_SESSION_RANK_H_
