#include "tools/cli/launch/launched_processes.h"

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace memoir {
namespace {

std::optional<std::uint32_t> Of(const std::string& command) {
  std::istringstream text(command);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return LaunchedProcesses(words);
}

TEST(LaunchedProcesses, Spellings) {
  for (const char* command : {
           "torchrun --nproc-per-node 4 train.py",
           "torchrun --nproc-per-node=4 train.py",
           "torchrun --nproc_per_node 4 train.py",
           "torchrun --nproc_per_node=4 train.py",
           "torchrun --nproc 4 train.py",
           "torchrun --standalone --nnodes 1 --nproc_per=4 -m trainer",
           "/opt/venv/bin/torchrun --nnodes=2 --nproc-per-node=4 train.py",
           "env A=1 torchrun --nproc-per-node 4 --no-python ./train",
           "torchrun --nproc-per-node 2 --nproc-per-node 4 train.py",
           "torchrun --nproc-per-node 4 train.py --nproc-per-node 8",
           "python -m torch.distributed.run --nproc-per-node 4 train.py",
           "python3.12 -u -m torch.distributed.launch --nproc_per_node=4 train.py",
           "python -mtorch.distributed.run --nproc-per-node=4 train.py",
           "accelerate launch --num_processes 4 train.py",
           "accelerate launch --multi_gpu --num-processes=4 train.py",
           "accelerate launch --num_machines 2 --num_processes 8 train.py",
           "accelerate-launch --num_processes=4 train.py",
           "python -m accelerate.commands.launch --num_processes 4 train.py",
           "deepspeed --num_gpus 4 train.py",
           "mpirun -np 4 python train.py",
           "mpiexec -n 4 ./train",
       }) {
    EXPECT_EQ(Of(command), 4u) << command;
  }
}

TEST(LaunchedProcesses, NoNumber) {
  for (const char* command : {
           "python train.py --nproc-per-node 4",
           "python launch.py torchrun --nproc-per-node 4",
           "torchrun train.py --nproc-per-node 4",
           "torchrun --nproc-per-node gpu train.py",
           "torchrun --nproc-per-node 0 train.py",
           "torchrun --nproc-per-node",
           "torchrun --nnodes 4 train.py",
           "accelerate launch --num_machines 4 train.py",
           "accelerate launch --num_cpu_threads_per_process 4 train.py",
           "python -m trainer --nproc-per-node 4",
           "torchrun --nproc-per-node 99999999999 train.py",
           "python -m",
           "",
       }) {
    EXPECT_EQ(Of(command), std::nullopt) << command;
  }
}

TEST(LaunchedProcesses, VariableOfTorchrun) {
  setenv("PET_NPROC_PER_NODE", "3", 1);
  EXPECT_EQ(Of("torchrun train.py"), 3u);
  EXPECT_EQ(Of("torchrun --nproc-per-node=2 train.py"), 2u);
  EXPECT_EQ(Of("mpirun train"), std::nullopt);
  unsetenv("PET_NPROC_PER_NODE");
}

}  // namespace
}  // namespace memoir
