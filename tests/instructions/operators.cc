// The instructions of a recording on the program's thread, counted by count_instructions: an operator alone and in a
// training step, a block of the CPU's allocator, a call of a module; on the simulated device a block of the caching
// allocator.
#include <c10/core/Allocator.h>
#include <torch/torch.h>
#include <memoir/torch.hpp>

#include "tests/instructions/region.h"

namespace {

using memoir::test::CountRegion;

struct EmptyImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    const memoir::Call call(*this);
    return x;
  }
};
TORCH_MODULE(Empty);

constexpr int kWarm = 40, kTimes = 2;

void CountCpu() {
  const torch::Tensor a = torch::ones(1), b = torch::ones(1);
  const auto add = [&] { torch::add(a, b); };
  for (int i = 0; i < kWarm; ++i) add();
  CountRegion("operator", kTimes, add);

  const auto block = [] { const c10::DataPtr bytes = c10::GetAllocator(c10::kCPU)->allocate(256); };
  for (int i = 0; i < kWarm; ++i) block();
  CountRegion("CPU block", kTimes, block);

  Empty module;
  const memoir::Watch watch(module);
  for (int i = 0; i < kWarm; ++i) module->forward(a);
  CountRegion("module call", kTimes, [&] { module->forward(a); });

  // So small that its operators are nothing but overhead.
  const torch::Tensor x = torch::randn({4, 8});
  torch::Tensor weight = torch::randn({8, 8}, torch::requires_grad());
  const auto step = [&] {
    torch::mm(x, weight).relu().sum().backward();
    const torch::NoGradGuard no_grad;
    weight.sub_(weight.grad(), 0.01);
    weight.mutable_grad().reset();
  };
  for (int i = 0; i < kWarm; ++i) step();
  CountRegion("step", 1, step);
}

void CountCuda() {
  const torch::Tensor first = torch::empty({256}, torch::kCUDA);
  c10::Allocator* allocator = c10::GetAllocator(c10::kCUDA);
  const auto block = [&] { const c10::DataPtr bytes = allocator->allocate(1024); };
  for (int i = 0; i < kWarm; ++i) block();
  CountRegion("CUDA block", kTimes, block);
}

}  // namespace

int main(int count, char** arguments) {
  torch::manual_seed(0);
  at::set_num_threads(1);
  CountRegion("nothing", 1, [] {});
  if (count > 1 && std::string(arguments[1]) == "cuda") {
    CountCuda();
  } else {
    CountCpu();
  }
}
