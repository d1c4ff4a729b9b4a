#include "tools/analyze/data_flow/event_tree_pass.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace memoir {
namespace {

constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
constexpr std::string_view kAccumulateGrad = "torch::autograd::AccumulateGrad";
// torch calls this operator when a program sets the data of a tensor. Its two arguments are the tensor, and the tensor
// whose data it receives.
constexpr std::string_view kSetsData = "aten::_has_compatible_shallow_copy_type";

}  // namespace

// Returns the parent of a range. The parent of an autograd node on a thread without open ranges is the innermost open
// node of its forward thread, as in torch (build_tree in torch/csrc/profiler/collection.cpp). The autograd engine's
// range directly around such a node has the same parent. torch also requires that no other event of the process lies
// between the begin of the engine's range and the begin of the node (set_autograd_evaluate in the same file). This
// function does not check this condition.
std::uint32_t EventTreePass::ParentOf(const RangeBeginEvent& event, const TorchThread& thread) {
  const std::uint32_t own = thread.nodes.Innermost();
  if (event.range->forward_thread == 0) return own;
  const auto forward = torch_threads_.find(event.range->forward_thread);
  if (forward == torch_threads_.end()) return own;
  const std::uint32_t around = threads_[forward->second.value].nodes.Innermost();
  if (own == TreeNode::kNone) return around;
  TreeNode& engine = tree_.nodes[own];
  const bool is_engine = engine.name != TreeNode::kNone && tree_.names[engine.name].starts_with(kEngine);
  if (engine.parent == TreeNode::kNone && is_engine && around != own) engine.parent = around;
  return own;
}

std::uint32_t EventTreePass::AddNode(TreeNode node, const Event& event) {
  node.ns = Nanoseconds(event);
  if (node.parent != TreeNode::kNone) node.in_backward |= tree_.nodes[node.parent].in_backward;
  node.inputs = static_cast<std::uint32_t>(tree_.inputs.size());
  const auto index = static_cast<std::uint32_t>(tree_.nodes.size());
  tree_.nodes.push_back(node);
  return index;
}

void EventTreePass::Cover(AllocationId allocation, DeviceId device, std::uint64_t address) {
  if (extents_.size() > allocation) return;
  extents_.resize(allocation + 1);
  allocated_.resize(allocation + 1);
  tree_.devices.resize(allocation + 1);
  tree_.devices[allocation] = device;
  tree_.addresses.resize(allocation + 1);
  tree_.addresses[allocation] = address;
  if (filter_.selects_all()) return;
  const auto chosen = is_chosen_.find({device, address});
  tree_.chosen.resize(allocation + 1);
  tree_.chosen[allocation] = chosen != is_chosen_.end() && chosen->second;
}

AllocationId EventTreePass::AddTensor(const Tensor& tensor) {
  const AllocationId allocation = identities_.NoteTensor(tensor);
  Cover(allocation, tensor.device, tensor.storage);
  if (tensor.storage == 0) return kNoAllocation;
  if (tensor.layout.valid()) {
    std::uint64_t& extent = extents_[allocation];
    extent = std::max(extent, layout_extents_.FindExtent(tensor.layout, state().dictionary()));
  }
  return allocation;
}

// Adds the tensors among the arguments. Changes `kinds` for arguments that torch.profiler does not show as tensors: a
// tensor without storage, and a list with a tensor that is undefined or has no storage.
void EventTreePass::AddInputs(const RangeBeginEvent& event, TorchThread& thread, std::string& kinds) {
  if (!event.signature.valid()) return;
  const Signature& signature = state().dictionary().signature(event.signature);
  std::size_t tensor = 0, list = 0;
  const auto take = [&](std::uint32_t argument) {
    const Tensor& shown = event.tensors[tensor];
    if (shown.impl == 0) return true;
    // If an open range received this TensorImpl with another storage, an operator has resized the tensor, for example
    // an operator that received the tensor as its `out` argument.
    if (identities_.IsElsewhere(shown.impl, shown.storage) && thread.WasGiven(shown.impl))
      identities_.NoteStorageChange(shown.impl, shown.storage);
    thread.frames[thread.open].impls.push_back(shown.impl);
    const AllocationId allocation = AddTensor(shown);
    if (allocation != kNoAllocation) tree_.inputs.push_back({allocation, argument});
    return allocation != kNoAllocation;
  };
  for (std::uint32_t i = 0; i < kinds.size(); ++i) {
    if (signature.kinds[i] == 'T' && tensor < event.tensors.size()) {
      if (!take(i)) kinds[i] = kNoStorage;
      ++tensor;
    } else if (signature.kinds[i] == 'L' && list < signature.list_lengths.size()) {
      const std::size_t end = std::min<std::size_t>(tensor + signature.list_lengths[list++], event.tensors.size());
      const auto shown = event.tensors.subspan(tensor, end - tensor);
      if (std::ranges::any_of(shown, [](const Tensor& one) { return one.impl == 0; })) kinds[i] = kNotShown;
      for (; tensor < end; ++tensor) {
        if (kinds[i] != kNotShown && !take(i)) kinds[i] = kListNoStorage;
      }
    }
  }
}

// The first child of AccumulateGrad shows the gradient: AccumulateGrad detaches a new gradient (aten::detach), or adds
// to an existing gradient (aten::add_).
void EventTreePass::NoteGradient(std::uint32_t node) {
  const TreeNode& child = tree_.nodes[node];
  if (childless_.empty() || childless_.erase(child.parent) == 0) return;
  if (child.kind != TreeNode::Kind::kRange || child.name == TreeNode::kNone) return;
  const std::string& name = tree_.names[child.name];
  if (name != "aten::detach" && name != "aten::add_") return;
  const absl::Span<const TreeInput> inputs = tree_.InputsOf(node);
  if (!inputs.empty() && inputs[0].argument == 0) tree_.gradients.push_back(inputs[0].allocation);
}

bool EventTreePass::IsLikeWindow(const OpenRange& range) const {
  return selection().window.kind == SelectionWindow::Kind::kRange && IsUserRange(range.source) &&
         state().dictionary().text(range.name) == selection().window.range;
}

void EventTreePass::SeeRangeBegin(const RangeBeginEvent& event) {
  if (IsLikeWindow(*event.range)) ++like_window_;
  TorchThread& thread = ThreadOf(event.thread);
  const std::size_t depth = event.range->depth;
  if (thread.frames.size() <= depth) thread.frames.resize(depth + 1);
  for (std::size_t i = thread.open; i < depth; ++i) thread.frames[i].node = TreeNode::kNone;
  thread.open = depth;
  thread.nodes.End(false, event.range->depth);
  if (const std::uint64_t torch_id = state().dictionary().thread(event.thread).torch_id; depth == 0 && torch_id != 0)
    torch_threads_[torch_id] = event.thread;
  TorchThread::Frame& frame = thread.frames[depth];
  frame.node = TreeNode::kNone;
  frame.impls.clear();
  if (skip_ || !in_window() || event.before || TorchHides(*event.range, state().dictionary())) {
    thread.open = depth + 1;
    thread.nodes.Begin({TreeNode::kNone, event.range->depth});
    return;
  }
  TreeNode node;
  node.parent = ParentOf(event, thread);
  node.name = names_.Index(event.range->name, state().dictionary(), tree_.names);
  node.is_backward = node.in_backward = event.range->source == RangeSource::kBackward;
  const std::uint32_t index = AddNode(node, event);
  std::string kinds = calls_.TextOfKinds(event, state().dictionary());
  AddInputs(event, thread, kinds);
  if (tree_.names[node.name] == kSetsData && event.tensors.size() == 2)
    identities_.NoteStorageChange(event.tensors[0].impl, event.tensors[1].storage);
  const MatchedCalls::Call call = calls_.MatchCall(event, kinds, state().dictionary());
  tree_.nodes[index].call = call.index;
  tree_.nodes[index].fits_schema = call.fits;
  frame.node = index;
  thread.open = depth + 1;
  thread.nodes.Begin({index, event.range->depth});
  NoteGradient(index);
  if (node.is_backward && tree_.names[node.name] == kAccumulateGrad) childless_.insert(index);
}

void EventTreePass::SeeRangeEnd(const RangeEndEvent& event) {
  if (like_window_ > 0 && IsLikeWindow(*event.range)) --like_window_;
  TorchThread& thread = ThreadOf(event.thread);
  const std::size_t depth = event.range->depth;
  if (!skip_ && in_window() && depth < thread.open) {
    childless_.erase(thread.frames[depth].node);
    for (const Tensor& tensor : event.tensors) {
      if (tensor.impl == 0) continue;
      if (thread.WasGiven(tensor.impl)) {
        identities_.NoteStorageChange(tensor.impl, tensor.storage);
      } else {
        identities_.NoteResult(tensor.impl, tensor.storage);
      }
    }
  }
  thread.open = std::min(thread.open, depth);
  thread.nodes.End(false, event.range->depth);
}

void EventTreePass::AddHolding(const HolderTensors::Holding* holding) {
  if (holding == nullptr) return;
  for (std::size_t i = 0; i < holding->parameters.size(); ++i) {
    EventTree::ParameterGradient held;
    held.parameter = AddHeld(holding->parameters[i]);
    if (i < holding->gradients.size()) held.gradient = AddHeld(holding->gradients[i]);
    tree_.parameter_gradients.push_back(held);
  }
  for (const Tensor& tensor : holding->state) {
    const AllocationId allocation = AddHeld(tensor);
    if (allocation != kNoAllocation) tree_.optimizer_state.push_back(allocation);
  }
}

void EventTreePass::SeeHolds(const HeldTensorsEvent& event) {
  if (!skip_) AddHolding(held_.AddHolding(event, state().dictionary(), in_window()));
}

void EventTreePass::SeeModuleEnter(const ModuleEvent& event) {
  if (skip_ || !in_window() || event.of_gradient) return;
  AddHolding(held_.CallModule(event.module));
  if (!calls_are_nodes_) return;
  const std::uint32_t call = ThreadOf(event.thread).nodes.TakeModuleCall();
  if (call != TreeNode::kNone)
    tree_.nodes[call].name = call_names_->IndexOfModule(event.module, state().dictionary(), tree_);
}

void EventTreePass::SeeCallBegin(const CallEvent& event) {
  if (!calls_are_nodes_) return;
  TorchOpenNodes& nodes = ThreadOf(event.thread).nodes;
  TorchOpenNodes::Node open = call_names_->BeginCall(event, nodes, state().dictionary());
  if (!open.hidden && !skip_ && in_window()) {
    TreeNode node;
    node.kind = TreeNode::Kind::kCall;
    node.parent = nodes.Innermost();
    node.name = call_names_->IndexOf(event.code, state().dictionary(), tree_);
    open.node = AddNode(node, event);
  }
  nodes.Begin(open);
}

void EventTreePass::AddAllocation(TreeNode::Kind kind, const Event& event, const Block& block,
                                  AllocationId allocation) {
  Cover(allocation, block.device, block.address);
  if (allocated_[allocation] == 0) allocated_[allocation] = block.bytes;
  TreeNode node;
  node.kind = kind;
  node.parent = InnermostOf(event);
  node.call = static_cast<std::uint32_t>(tree_.allocations.size());
  tree_.allocations.push_back({allocation, block.device, block.address, block.bytes});
  NoteGradient(AddNode(node, event));
}

std::uint32_t EventTreePass::AddCall(const Event& event, std::string_view name, std::uint32_t parent) {
  if (!device_calls_ || skip_ || !in_window() || name.empty()) return TreeNode::kNone;
  TreeNode node;
  node.name = names_.Index(name, tree_.names);
  node.parent = parent == TreeNode::kNone ? InnermostOf(event) : parent;
  return AddNode(node, event);
}

void EventTreePass::SeeDeviceCall(const DeviceCallEvent& event) {
  if (!device_calls_) return;
  const std::string runs = device_calls_->NameOf(event, state().dictionary());
  const std::uint32_t call = AddCall(event, ToString(event.call));
  if (call != TreeNode::kNone) AddCall(event, runs, call);
}

void EventTreePass::SeeAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  if (IsPinned(block.device)) return;
  if (!skip_ && !filter_.selects_all())
    is_chosen_[{block.device, block.address}] = filter_.Selects(block, state().dictionary());
  if (!skip_) NotePeak(state().memory(block.device), block.device, tree_);
  // torch.profiler also uses the sizes of blocks from its earlier runs. Each range with the selected name corresponds
  // to one run of torch.profiler.
  if ((in_window() || like_window_ > 0) && block.bytes > 0 && block.origin == BlockOrigin::kRecorded)
    sizes_[{block.device, block.address}] = block.bytes;
  if (skip_ || !in_window() || block.bytes == 0 || block.origin != BlockOrigin::kRecorded) return;
  AddAllocation(TreeNode::Kind::kAllocate, event, block, identities_.NoteAllocation(block.device, block.address));
}

void EventTreePass::SeeDeallocate(const DeallocateEvent& event) {
  Block block = *event.block;
  if (IsPinned(block.device)) return;
  if (block.bytes == 0 || (!in_window() && like_window_ == 0)) return;
  const auto known = sizes_.extract({block.device, block.address});
  if (skip_ || !in_window()) return;
  if (selection().forget_before && state().dictionary().device(block.device).type == "cpu") {
    if (block.slot == Block::kNoSlot || known.empty()) return;
    block.bytes = known.mapped();
  }
  AddAllocation(TreeNode::Kind::kFree, event, block, identities_.NoteDeallocation(block.device, block.address));
}

}  // namespace memoir
