// libtorch_optimizers NAME [DEVICE]: trains with an optimizer of torch::optim, and marks the end while its state lives.
#include <cstdio>
#include <cstring>

#include "tests/libtorch/net.h"

namespace {

using namespace torch::optim;

template <class Optimizer>
int Run(Net& net, Optimizer optimizer, const torch::Device& device, bool by_closure = false) {
  for (std::uint64_t step = 0; step < 3; ++step) Train(net, optimizer, device, step, by_closure);
  memoir::Mark("trained");
  return std::printf("trained\n") > 0 ? 0 : 1;
}

int RunNamed(const char* name, Net& net, const torch::Device& device) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  const std::vector<torch::Tensor> parameters = net->parameters();
  if (is("SGD")) return Run(net, SGD(parameters, SGDOptions(0.01).momentum(0.9)), device);
  if (is("Adam")) return Run(net, Adam(parameters), device);
  if (is("AdamW")) return Run(net, AdamW(parameters, AdamWOptions().amsgrad(true)), device);
  if (is("RMSprop")) return Run(net, RMSprop(parameters, RMSpropOptions().momentum(0.9).centered(true)), device);
  if (is("Adagrad")) return Run(net, Adagrad(parameters), device);
  if (is("LBFGS")) return Run(net, LBFGS(parameters, LBFGSOptions().max_iter(2)), device, true);
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const torch::Device device(count > 2 ? arguments[2] : "cpu");
  torch::manual_seed(0);
  Net net;
  net->to(device);
  const memoir::Watch watch(net);
  return RunNamed(arguments[1], net, device);
}
