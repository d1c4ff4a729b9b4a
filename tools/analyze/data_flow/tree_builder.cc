#include "tools/analyze/data_flow/tree_builder.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "tools/analyze/data_flow/call_names.h"
#include "tools/analyze/data_flow/device_call_names.h"
#include "tools/analyze/data_flow/held_tensors.h"
#include "tools/analyze/data_flow/known_calls.h"
#include "tools/analyze/data_flow/recorded_enough.h"
#include "tools/analyze/data_flow/schema_match.h"
#include "tools/analyze/data_flow/tensor_extent.h"
#include "tools/analyze/data_flow/torch_open_nodes.h"
#include "tools/analyze/pass/block_filter.h"
#include "tools/analyze/pass/windowed_visitor.h"

namespace memoir {
namespace {

constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
constexpr std::string_view kAccumulateGrad = "torch::autograd::AccumulateGrad";
constexpr std::string_view kSetsData = "aten::_has_compatible_shallow_copy_type";  // (self, what its data become)

class TreePass : public WindowedVisitor {
 public:
  // `selection`: of all blocks; `filter`: which of them are asked for.
  TreePass(const Capture& capture, const Selection& selection, BlockFilter& filter, const EventTreeOptions& asked)
      : WindowedVisitor(capture, selection), filter_(filter), calls_are_nodes_(asked.calls) {
    if (asked.device_calls) device_calls_.emplace();
  }

  EventTree Take() {
    tree_.calls = calls_.Take();
    tree_.tensors = identities_.Finish();
    tree_.bytes = extents_;
    for (std::size_t i = 0; i < allocated_.size(); ++i) {
      if (allocated_[i] != 0) tree_.bytes[i] = allocated_[i];
    }
    return std::move(tree_);
  }

 protected:
  void SeeProcessBegin(const ProcessEvent& event) override {
    skip_ = tree_.process.valid() && !tree_.nodes.empty();
    if (skip_) return;
    tree_.process = event.process;
    call_names_.emplace(capture().processes()[event.process.value].info.program());
    is_chosen_.clear();
    held_ = HeldTensors();
    like_window_ = 0;
  }
  void SeeProcessEnd(const ProcessEvent&) override {
    for (std::uint32_t i = 0; i < state().dictionary().devices(); ++i) {
      if (tree_.device_names.size() <= i)
        tree_.device_names.push_back(ToString(state().dictionary().device(DeviceId{i})));
    }
  }
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeSegment(const SegmentEvent& event) override {
    if (!skip_) NotePeak(state().memory(event.segment->device), event.segment->device, tree_);
  }
  void SeeDeviceCall(const DeviceCallEvent& event) override;
  void SeeDriverAllocate(const DriverAllocateEvent& event) override {
    if (event.block->origin == BlockOrigin::kRecorded) AddCall(event, NameOfDriverCall(event.block->call));
  }
  void SeeHolds(const HoldsEvent& event) override;
  void SeeModuleEnter(const ModuleEvent& event) override;
  void SeeCallBegin(const CallEvent& event) override;
  void SeeCallEnd(const CallEvent& event) override { ThreadOf(event.thread).nodes.End(true, event.around); }

 private:
  TorchThread& ThreadOf(ThreadId id) {
    if (threads_.size() <= id.value) threads_.resize(id.value + 1);
    return threads_[id.value];
  }
  std::uint32_t InnermostOf(const Event& event) {
    return event.thread.valid() ? ThreadOf(event.thread).nodes.Innermost() : TreeNode::kNone;
  }
  bool IsLikeWindow(const OpenRange& range) const;
  // torch reports it to no profiler (ATen/core/CachingHostAllocator.h).
  bool IsPinned(DeviceId device) const { return state().dictionary().device(device).type == "pinned"; }
  std::uint32_t ParentOf(const RangeBeginEvent& event, const TorchThread& thread);
  std::uint32_t AddNode(TreeNode node, const Event& event);
  void AddInputs(const RangeBeginEvent& event, TorchThread& thread, std::string& kinds);
  AllocationId AddTensor(const Tensor& tensor);
  void Cover(AllocationId allocation, DeviceId device, std::uint64_t address);
  void NoteGradient(std::uint32_t node);
  std::uint32_t AddCall(const Event& event, std::string_view name, std::uint32_t parent = TreeNode::kNone);
  void AddAllocation(TreeNode::Kind kind, const Event& event, const Block& block, AllocationId allocation);
  void AddHolding(const HeldTensors::Holding* holding);  // may be null
  AllocationId AddHeld(const Tensor& tensor) { return tensor.impl == 0 ? kNoAllocation : AddTensor(tensor); }

  EventTree tree_;
  BlockFilter& filter_;
  absl::flat_hash_map<std::pair<DeviceId, std::uint64_t>, bool> is_chosen_;  // what was allocated last at an address
  TensorIdentities identities_;
  HeldTensors held_;
  std::vector<TorchThread> threads_;                // by ThreadId
  std::vector<std::uint64_t> extents_, allocated_;  // by AllocationId
  // As ProfiledCPUMemoryReporter's size_table_, where a free outside of profilers leaves its entry to the next block.
  // Allocators of other devices know what they free.
  absl::flat_hash_map<std::pair<DeviceId, std::uint64_t>, std::uint64_t> sizes_;
  TreeNames names_;
  KnownCalls calls_;
  absl::flat_hash_map<std::uint64_t, ThreadId> torch_threads_;
  LayoutExtents layout_extents_;
  absl::flat_hash_set<std::uint32_t> childless_;  // nodes of AccumulateGrad in which nothing was done yet
  std::uint32_t like_window_ = 0;  // ranges of the window's name that are open, those that are none of it included
  bool skip_ = false;
  const bool calls_are_nodes_;
  std::optional<CallNames> call_names_;          // of the process
  std::optional<DeviceCallNames> device_calls_;  // where they are asked for
};

// A backward node that runs on a thread with nothing open belongs to what its forward thread does, as in torch
// (build_tree in torch/csrc/profiler/collection.cpp). So does the engine's range around one, where the node is the very
// next thing that happens in the process (set_autograd_evaluate there).
std::uint32_t TreePass::ParentOf(const RangeBeginEvent& event, const TorchThread& thread) {
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

std::uint32_t TreePass::AddNode(TreeNode node, const Event& event) {
  node.ns = Nanoseconds(event);
  if (node.parent != TreeNode::kNone) node.in_backward |= tree_.nodes[node.parent].in_backward;
  node.inputs = static_cast<std::uint32_t>(tree_.inputs.size());
  const auto index = static_cast<std::uint32_t>(tree_.nodes.size());
  tree_.nodes.push_back(node);
  return index;
}

void TreePass::Cover(AllocationId allocation, DeviceId device, std::uint64_t address) {
  if (extents_.size() > allocation) return;
  extents_.resize(allocation + 1);
  allocated_.resize(allocation + 1);
  tree_.devices.resize(allocation + 1);
  tree_.devices[allocation] = device;
  tree_.addresses.resize(allocation + 1);
  tree_.addresses[allocation] = address;
  if (filter_.takes_all()) return;
  const auto chosen = is_chosen_.find({device, address});
  tree_.chosen.resize(allocation + 1);
  tree_.chosen[allocation] = chosen != is_chosen_.end() && chosen->second;
}

AllocationId TreePass::AddTensor(const Tensor& tensor) {
  const AllocationId allocation = identities_.Seen(tensor);
  Cover(allocation, tensor.device, tensor.storage);
  if (tensor.storage == 0) return kNoAllocation;
  if (tensor.layout.valid()) {
    std::uint64_t& extent = extents_[allocation];
    extent = std::max(extent, layout_extents_.Of(tensor.layout, state().dictionary()));
  }
  return allocation;
}

// `kinds`: as shown, changed where a tensor has no storage, or a list an undefined one: that is not shown either.
void TreePass::AddInputs(const RangeBeginEvent& event, TorchThread& thread, std::string& kinds) {
  if (!event.signature.valid()) return;
  const Signature& signature = state().dictionary().signature(event.signature);
  std::size_t tensor = 0, list = 0;
  const auto take = [&](std::uint32_t argument) {
    const Tensor& shown = event.tensors[tensor];
    if (shown.impl == 0) return true;
    // What an open range was given lives: the operator has resized it, as those that are given `out`.
    if (identities_.IsElsewhere(shown.impl, shown.storage) && thread.WasGiven(shown.impl))
      identities_.StorageChanges(shown.impl, shown.storage);
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

// The first child of AccumulateGrad says which tensor is the gradient: a new one is detached, one that is there added
// to.
void TreePass::NoteGradient(std::uint32_t node) {
  const TreeNode& child = tree_.nodes[node];
  if (childless_.empty() || childless_.erase(child.parent) == 0) return;
  if (child.kind != TreeNode::Kind::kRange || child.name == TreeNode::kNone) return;
  const std::string& name = tree_.names[child.name];
  if (name != "aten::detach" && name != "aten::add_") return;
  const absl::Span<const TreeInput> inputs = tree_.InputsOf(node);
  if (!inputs.empty() && inputs[0].argument == 0) tree_.gradients.push_back(inputs[0].allocation);
}

bool TreePass::IsLikeWindow(const OpenRange& range) const {
  return selection().window.kind == Window::Kind::kRange && IsOfUser(range.source) &&
         state().dictionary().text(range.name) == selection().window.range;
}

void TreePass::SeeRangeBegin(const RangeBeginEvent& event) {
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
  std::string kinds = calls_.ShownKinds(event, state().dictionary());
  AddInputs(event, thread, kinds);
  if (tree_.names[node.name] == kSetsData && event.tensors.size() == 2)
    identities_.StorageChanges(event.tensors[0].impl, event.tensors[1].storage);
  const KnownCalls::Call call = calls_.Of(event, kinds, state().dictionary());
  tree_.nodes[index].call = call.index;
  tree_.nodes[index].fits_schema = call.fits;
  frame.node = index;
  thread.open = depth + 1;
  thread.nodes.Begin({index, event.range->depth});
  NoteGradient(index);
  if (node.is_backward && tree_.names[node.name] == kAccumulateGrad) childless_.insert(index);
}

void TreePass::SeeRangeEnd(const RangeEndEvent& event) {
  if (like_window_ > 0 && IsLikeWindow(*event.range)) --like_window_;
  TorchThread& thread = ThreadOf(event.thread);
  const std::size_t depth = event.range->depth;
  if (!skip_ && in_window() && depth < thread.open) {
    childless_.erase(thread.frames[depth].node);
    for (const Tensor& tensor : event.tensors) {
      if (tensor.impl == 0) continue;
      if (thread.WasGiven(tensor.impl)) {
        identities_.StorageChanges(tensor.impl, tensor.storage);
      } else {
        identities_.Returned(tensor.impl, tensor.storage);
      }
    }
  }
  thread.open = std::min(thread.open, depth);
  thread.nodes.End(false, event.range->depth);
}

void TreePass::AddHolding(const HeldTensors::Holding* holding) {
  if (holding == nullptr) return;
  for (std::size_t i = 0; i < holding->parameters.size(); ++i) {
    EventTree::Held held;
    held.parameter = AddHeld(holding->parameters[i]);
    if (i < holding->gradients.size()) held.gradient = AddHeld(holding->gradients[i]);
    tree_.held.push_back(held);
  }
  for (const Tensor& tensor : holding->state) {
    const AllocationId allocation = AddHeld(tensor);
    if (allocation != kNoAllocation) tree_.optimizer_state.push_back(allocation);
  }
}

void TreePass::SeeHolds(const HoldsEvent& event) {
  if (!skip_) AddHolding(held_.Take(event, state().dictionary(), in_window()));
}

void TreePass::SeeModuleEnter(const ModuleEvent& event) {
  if (skip_ || !in_window() || event.of_gradient) return;
  AddHolding(held_.CallModule(event.module));
  if (!calls_are_nodes_) return;
  const std::uint32_t call = ThreadOf(event.thread).nodes.TakeModuleCall();
  if (call != TreeNode::kNone)
    tree_.nodes[call].name = call_names_->OfModule(event.module, state().dictionary(), tree_);
}

void TreePass::SeeCallBegin(const CallEvent& event) {
  if (!calls_are_nodes_) return;
  TorchOpenNodes& nodes = ThreadOf(event.thread).nodes;
  TorchOpenNodes::Node open = call_names_->Begins(event, nodes, state().dictionary());
  if (!open.hidden && !skip_ && in_window()) {
    TreeNode node;
    node.kind = TreeNode::Kind::kCall;
    node.parent = nodes.Innermost();
    node.name = call_names_->Of(event.code, state().dictionary(), tree_);
    open.node = AddNode(node, event);
  }
  nodes.Begin(open);
}

void TreePass::AddAllocation(TreeNode::Kind kind, const Event& event, const Block& block, AllocationId allocation) {
  Cover(allocation, block.device, block.address);
  if (allocated_[allocation] == 0) allocated_[allocation] = block.bytes;
  TreeNode node;
  node.kind = kind;
  node.parent = InnermostOf(event);
  node.call = static_cast<std::uint32_t>(tree_.allocations.size());
  tree_.allocations.push_back({allocation, block.device, block.address, block.bytes});
  NoteGradient(AddNode(node, event));
}

std::uint32_t TreePass::AddCall(const Event& event, std::string_view name, std::uint32_t parent) {
  if (!device_calls_ || skip_ || !in_window() || name.empty()) return TreeNode::kNone;
  TreeNode node;
  node.name = names_.Index(name, tree_.names);
  node.parent = parent == TreeNode::kNone ? InnermostOf(event) : parent;
  return AddNode(node, event);
}

void TreePass::SeeDeviceCall(const DeviceCallEvent& event) {
  if (!device_calls_) return;
  const std::string runs = device_calls_->WhatRuns(event, state().dictionary());
  const std::uint32_t call = AddCall(event, ToString(event.call));
  if (call != TreeNode::kNone) AddCall(event, runs, call);
}

void TreePass::SeeAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  if (IsPinned(block.device)) return;
  if (!skip_ && !filter_.takes_all())
    is_chosen_[{block.device, block.address}] = filter_.Takes(block, state().dictionary());
  if (!skip_) NotePeak(state().memory(block.device), block.device, tree_);
  // torch.profiler knows what it saw allocated in an earlier run: in an earlier range of that name.
  if ((in_window() || like_window_ > 0) && block.bytes > 0 && block.origin == BlockOrigin::kRecorded)
    sizes_[{block.device, block.address}] = block.bytes;
  if (skip_ || !in_window() || block.bytes == 0 || block.origin != BlockOrigin::kRecorded) return;
  AddAllocation(TreeNode::Kind::kAllocate, event, block, identities_.Allocated(block.device, block.address));
}

void TreePass::SeeDeallocate(const DeallocateEvent& event) {
  Block block = *event.block;
  if (IsPinned(block.device)) return;
  if (block.bytes == 0 || (!in_window() && like_window_ == 0)) return;
  const auto known = sizes_.extract({block.device, block.address});
  if (skip_ || !in_window()) return;
  if (selection().forget_before && state().dictionary().device(block.device).type == "cpu") {
    if (block.slot == Block::kNoSlot || known.empty()) return;
    block.bytes = known.mapped();
  }
  AddAllocation(TreeNode::Kind::kFree, event, block, identities_.Deallocated(block.device, block.address));
}

}  // namespace

absl::StatusOr<EventTree> BuildEventTree(const Capture& capture, const Selection& selection,
                                         const EventTreeOptions& asked) {
  const Selection whole = selection.OfAllBlocks();
  BlockFilter filter(selection);
  TreePass pass(capture, whole, filter, asked);
  ReplayOptions options = ReplayOptionsFor(selection, true, false);
  options.modules = true;  // which of a module's enters are of a gradient
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, options);
  if (!report.ok()) return report.status();
  if (!pass.found().ok()) return pass.found();
  if (const absl::Status found = filter.Found(capture.path()); !found.ok()) return found;
  EventTree tree = pass.Take();
  tree.report = *std::move(report);
  if (const absl::Status enough = RecordedEnough(capture, tree, asked.parameters); !enough.ok()) return enough;
  return tree;
}

}  // namespace memoir
