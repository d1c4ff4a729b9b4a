// The number of processes that a launcher starts on this machine, from its command line. Each of these processes
// expects its own GPU.
#ifndef TOOLS_CLI_LAUNCH_LAUNCHED_PROCESSES_H_
#define TOOLS_CLI_LAUNCH_LAUNCHED_PROCESSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memoir {

// Returns 4 for `torchrun --nproc-per-node 4 train.py`, `python -m torch.distributed.run --nproc_per_node=4 train.py`,
// `accelerate launch --num_processes 4 train.py`, `deepspeed --num_gpus 4 train.py` and `mpirun -np 4 train`. nullopt
// if the command starts no such launcher, or does not contain the number.
std::optional<std::uint32_t> LaunchedProcesses(const std::vector<std::string>& command);

}  // namespace memoir

#endif  // TOOLS_CLI_LAUNCH_LAUNCHED_PROCESSES_H_
