// A small model and a training step of it, as programs of libtorch have them.
#ifndef TESTS_LIBTORCH_NET_H_
#define TESTS_LIBTORCH_NET_H_

#include <torch/torch.h>
#include <memoir/torch.hpp>

#include <cstdint>

// Of 64 x 64 and 64 numbers each.
struct NetImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) {
    const memoir::Call call(*this);
    return memoir::Forward(head, torch::relu(memoir::Forward(body, x)));
  }
  torch::nn::Linear body = register_module("body", torch::nn::Linear(64, 64));
  torch::nn::Linear head = register_module("head", torch::nn::Linear(64, 64));
};
TORCH_MODULE(Net);

// A step of an optimizer that wants a closure as well as of one that does not.
template <class Optimizer>
void Train(Net& net, Optimizer& optimizer, const torch::Device& device, std::uint64_t step, bool by_closure = false) {
  memoir::Step(step);
  const torch::Tensor x = torch::randn({32, 64}, device);
  const auto backward = [&] {
    memoir::ZeroGrad(optimizer);
    torch::Tensor loss = net->forward(x).square().mean();
    loss.backward();
    return loss;
  };
  if (by_closure) {
    memoir::Step(optimizer, backward);
  } else {
    backward();
    memoir::Step(optimizer);
  }
}

#endif  // TESTS_LIBTORCH_NET_H_
