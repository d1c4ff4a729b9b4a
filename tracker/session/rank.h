// Which rank this process is, from what its launcher put into the environment. Order and traps: MEMOIR_RANK wins;
// torchrun's variables stand before Slurm's, because under `srun torchrun` Slurm numbers the agents, not the workers.
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
};

// `given` is MEMOIR_RANK or the option, when there is one.
Rank FindRank(std::optional<std::uint32_t> given);

}  // namespace memoir

#endif  // TRACKER_SESSION_RANK_H_
