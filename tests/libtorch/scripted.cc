// libtorch_scripted FILE [watch]: runs a module that Python scripted, forward and backward; with `watch` it is
// registered with Memoir.
#include <torch/script.h>
#include <memoir/script.hpp>

#include <cstdio>
#include <optional>

int main(int count, char** arguments) {
  if (count < 2) return 2;
  torch::jit::Module net = torch::jit::load(arguments[1]);
  std::optional<memoir::Watch> watch;
  if (count > 2) watch.emplace(net);
  for (int step = 0; step < 3; ++step) {
    memoir::Step();
    const at::Tensor x = torch::randn({32, 64});
    const at::Tensor loss = memoir::Forward(net, {x}).toTensor().square().mean();
    loss.backward();
  }
  memoir::Mark("ran");
  std::printf("ran\n");
  return 0;
}
