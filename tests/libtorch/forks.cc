// libtorch_forks [DEVICE]: a program that trains in forked children, and itself behind them. On the CPU it has trained
// before it forks; of a GPU nothing may be used before a fork.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/libtorch/net.h"

namespace {

void TrainAnew(const torch::Device& device, std::uint64_t steps, const char* mark) {
  Net net;
  net->to(device);
  const memoir::Watch watch(net);
  torch::optim::Adam optimizer(net->parameters());
  for (std::uint64_t step = 0; step < steps; ++step) Train(net, optimizer, device, step);
  memoir::Mark(mark);
}

template <class Work>
bool InChild(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::exit(0);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main(int count, char** arguments) {
  const torch::Device device(count > 1 ? arguments[1] : "cpu");
  torch::set_num_threads(1);  // threads of OpenMP are gone in a child, and it would wait for them
  if (device.is_cpu()) TrainAnew(device, 1, "before");
  const bool trained = InChild([&] { TrainAnew(device, 2, "child"); });
  const bool killed = InChild([&] {
    TrainAnew(device, 3, "child without an end");
    _exit(0);
  });
  const bool idle = InChild([] { torch::ones({8}).add(1); });  // trains nothing
  TrainAnew(device, 4, "parent");
  std::printf("%d %d %d\n", trained, killed, idle);
  return 0;
}
