// A training loop in C++ without Python. `memoir run -- ./libtorch_training` records it as it is; what it tells
// Memoir of its modules and optimizer (memoir_torch.h) gives the memory their names.
//
//     c++ -std=c++20 -I$MEMOIR/include -I$TORCH/include -I$TORCH/include/torch/csrc/api/include libtorch_training.cc
//         -o libtorch_training -L$TORCH/lib -ltorch -ltorch_cpu -lc10 -Wl,-rpath,$TORCH/lib
//
// With MEMOIR the prefix of an installation, and TORCH the folder of a torch wheel or of libtorch.
#include <memoir/memoir_torch.h>
#include <torch/torch.h>

#include <cstdio>
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
  torch::manual_seed(0);
  Net net;
  net->to(device);
  const memoir::Watch watch(net);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  for (int step = 0; step < 3; ++step) {
    memoir::StepBegins(step);
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
