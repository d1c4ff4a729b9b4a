// Returns the mutex of an autograd node, under which torch::autograd::AccumulateGrad replaces a gradient. The mutex is
// a protected member of torch::autograd::Node, so a derived class reads it.
#ifndef TRACKER_TORCH_TENSORS_NODE_MUTEX_H_
#define TRACKER_TORCH_TENSORS_NODE_MUTEX_H_

#include <torch/csrc/autograd/function.h>

#include <mutex>

namespace memoir {

struct NodeMutex : torch::autograd::Node {
  static std::mutex& Of(torch::autograd::Node& node) { return node.*(&NodeMutex::mutex_); }
};

}  // namespace memoir

#endif  // TRACKER_TORCH_TENSORS_NODE_MUTEX_H_
