#include "tracker/torch/ranges/backward_nodes.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/functions/tensor.h>
#include <torch/csrc/autograd/variable.h>

#include <cstring>
#include <mutex>

#include "tracker/torch/tensors/holds_record.h"
#include "tracker/torch/tensors/node_mutex.h"
#include "tracker/torch/tensors/range_values.h"

namespace memoir {
namespace {

// A shared pointer or an intrusive pointer, depending on the version of torch.
using NodePointer = decltype(torch::autograd::get_current_node());

constexpr char kNamespace[] = "torch::autograd::";

// `range` is the name of the current node's range. If it is "torch::autograd::" followed by `name`, returns the node,
// and sets *node to the node, or to nullptr if its type is not NodeType. Otherwise returns nullptr and leaves *node
// unchanged.
template <typename NodeType>
NodePointer CurrentNode(const char* range, const char* name, const NodeType** node) {
  constexpr std::size_t kPrefix = sizeof(kNamespace) - 1;
  if (std::strncmp(range, kNamespace, kPrefix) != 0 || std::strcmp(range + kPrefix, name) != 0) return NodePointer();
  NodePointer current = torch::autograd::get_current_node();
  *node = dynamic_cast<const NodeType*>(current.get());
  return current;
}

}  // namespace

std::int64_t ForwardSequence(const at::RecordFunction& range) {
  const torch::autograd::CopySlices* node = nullptr;
  const auto keep = CurrentNode(range.name(), "CopySlices", &node);
  if (node == nullptr || node->fn == nullptr) return range.seqNr();
  return static_cast<std::int64_t>(node->fn->sequence_nr());
}

const void* AccumulatedParameter(const at::RecordFunction& range) {
  const torch::autograd::AccumulateGrad* node = nullptr;
  const auto keep = CurrentNode(range.name(), "AccumulateGrad", &node);
  return node == nullptr ? nullptr : node->variable.unsafeGetTensorImpl();
}

bool InBackwardNode() { return torch::autograd::get_current_node().get() != nullptr; }

void RecordAccumulatedGradient(ThreadSlot* slot) {
  const NodePointer current = torch::autograd::get_current_node();
  const auto* node = dynamic_cast<const torch::autograd::AccumulateGrad*>(current.get());
  const c10::TensorImpl* parameter = node == nullptr ? nullptr : node->variable.unsafeGetTensorImpl();
  if (parameter == nullptr) return;
  const std::unique_lock<std::mutex> lock(NodeMutex::Of(*current), std::try_to_lock);
  if (!lock.owns_lock()) return;
  const auto* meta = static_cast<const torch::autograd::AutogradMeta*>(parameter->autograd_meta());
  constexpr std::uint32_t kOne[] = {1, 1};
  if (meta == nullptr || !RecordLists(slot, {.holder = HolderKind::kGradient, .lengths = kOne, .count = 2})) return;
  RecordTensor(slot, parameter);
  const c10::TensorImpl* gradient = meta->grad_.defined() ? meta->grad_.unsafeGetTensorImpl() : nullptr;
  const c10::TensorImpl* values = gradient == nullptr ? nullptr : SparseValues(*gradient);
  RecordTensor(slot, values == nullptr ? gradient : values, values == nullptr ? 0 : kUnlisted);
}

}  // namespace memoir
