// A training loop in C++ without Python. The CMakeLists.txt in this folder builds it; docs/libtorch.md has the lines.
//
//     ./training cpu run1                       # records itself, into run1
//     memoir run --simulate h100 -o run2 -- ./training cuda   # recorded from outside; no GPU needed
//
// It registers its modules and optimizer with Memoir, so memory has their names in both.
#include <torch/torch.h>
#include <memoir/torch.hpp>

#include <cstdio>
#include <optional>
#include <string>

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t width)
      : up(register_module("up", torch::nn::Linear(width, 4 * width))),
        down(register_module("down", torch::nn::Linear(4 * width, width))),
        norm(register_module("norm", torch::nn::BatchNorm1d(width))) {}

  torch::Tensor forward(torch::Tensor x) {
    const memoir::Call call(*this);
    const torch::Tensor hidden = torch::relu(memoir::Forward(up, x));
    return x + memoir::Forward(norm, memoir::Forward(down, hidden));
  }

  torch::nn::Linear up, down;
  torch::nn::BatchNorm1d norm;
};
TORCH_MODULE(Block);

struct NetImpl : torch::nn::Module {
  NetImpl() : head(register_module("head", torch::nn::Linear(64, 8))) {
    for (int i = 0; i < 3; ++i) blocks.push_back(register_module("block" + std::to_string(i), Block(64)));
  }

  torch::Tensor forward(torch::Tensor x) {
    const memoir::Call call(*this);
    for (Block& block : blocks) x = block->forward(x);
    return memoir::Forward(head, x);
  }

  std::vector<Block> blocks;
  torch::nn::Linear head;
};
TORCH_MODULE(Net);

int main(int count, char** arguments) {
  const torch::Device device(count > 1 ? arguments[1] : "cpu");
  std::optional<memoir::Session> session;
  if (count > 2) session.emplace(arguments[2]);  // what goes wrong is said, and the program runs on
  torch::manual_seed(0);
  Net net;
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  const memoir::Watch model(net), state(optimizer);
  for (int step = 0; step < 3; ++step) {
    memoir::Step();
    const torch::Tensor x = torch::randn({32, 64}, device);
    const torch::Tensor loss = net->forward(x).square().mean();
    loss.backward();
    memoir::Step(optimizer);
    memoir::ZeroGrad(optimizer);
  }
  memoir::Mark("trained");
  std::printf("trained\n");
  return 0;
}
