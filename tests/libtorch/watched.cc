// libtorch_watched [DEVICE [FOLDER]]: trains a model that knows nothing of Memoir; all that main does is to watch it.
#include <torch/torch.h>
#include <memoir/torch.hpp>

#include <cstdio>
#include <optional>

struct NetImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return head(torch::relu(norm(body(x)))); }
  torch::nn::Linear body = register_module("body", torch::nn::Linear(64, 256));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(256));
  torch::nn::Linear head = register_module("head", torch::nn::Linear(256, 8));
};
TORCH_MODULE(Net);

int main(int count, char** arguments) {
  const torch::Device device(count > 1 ? arguments[1] : "cpu");
  std::optional<memoir::Session> session;
  if (count > 2) session.emplace(arguments[2]);
  Net net;
  net->to(device);
  torch::optim::AdamW optimizer(net->parameters());
  const memoir::Watch model(net), state(optimizer);
  torch::Tensor x, loss;  // they live until the next ones are there, as in Python
  for (int step = 0; step < 3; ++step) {
    memoir::Step();
    x = torch::randn({32, 64}, device);
    optimizer.zero_grad();
    loss = net->forward(x).square().mean();
    loss.backward();
    optimizer.step();
  }
  memoir::Mark("trained");
  std::printf("trained\n");
  return 0;
}
