// The pass of BuildEventTree: adds the nodes of torch.profiler's event tree while a replay runs.
#ifndef TOOLS_ANALYZE_DATA_FLOW_EVENT_TREE_PASS_H_
#define TOOLS_ANALYZE_DATA_FLOW_EVENT_TREE_PASS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "tools/analyze/data_flow/call_names.h"
#include "tools/analyze/data_flow/device_call_names.h"
#include "tools/analyze/data_flow/holder_tensors.h"
#include "tools/analyze/data_flow/matched_calls.h"
#include "tools/analyze/data_flow/schema_match.h"
#include "tools/analyze/data_flow/tensor_extent.h"
#include "tools/analyze/data_flow/torch_open_nodes.h"
#include "tools/analyze/data_flow/tree_builder.h"
#include "tools/analyze/pass/window/block_filter.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

class EventTreePass : public WindowedVisitor {
 public:
  // `selection` must contain all blocks. `filter` finds the blocks that the user selected.
  EventTreePass(const Capture& capture, const Selection& selection, BlockFilter& filter, const EventTreeOptions& asked)
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
    held_ = HolderTensors();
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
  void SeeHolds(const HeldTensorsEvent& event) override;
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
  // Returns true for a user range with the name of the selected range. False if no range is selected.
  bool IsLikeWindow(const OpenRange& range) const;
  // Returns true for pinned host memory. torch does not report allocations of pinned memory to profilers
  // (ATen/core/CachingHostAllocator.h).
  bool IsPinned(DeviceId device) const { return state().dictionary().device(device).type == "pinned"; }
  std::uint32_t ParentOf(const RangeBeginEvent& event, const TorchThread& thread);
  std::uint32_t AddNode(TreeNode node, const Event& event);
  void AddInputs(const RangeBeginEvent& event, TorchThread& thread, std::string& kinds);
  AllocationId AddTensor(const Tensor& tensor);
  // Adds the allocation to the arrays by AllocationId, unless they contain it.
  void Cover(AllocationId allocation, DeviceId device, std::uint64_t address);
  void NoteGradient(std::uint32_t node);
  std::uint32_t AddCall(const Event& event, std::string_view name, std::uint32_t parent = TreeNode::kNone);
  void AddAllocation(TreeNode::Kind kind, const Event& event, const Block& block, AllocationId allocation);
  void AddHolding(const HolderTensors::Holding* holding);  // `holding` may be nullptr
  AllocationId AddHeld(const Tensor& tensor) { return tensor.impl == 0 ? kNoAllocation : AddTensor(tensor); }

  EventTree tree_;
  BlockFilter& filter_;
  // By device and address: whether the newest allocation at this address is selected.
  absl::flat_hash_map<std::pair<DeviceId, std::uint64_t>, bool> is_chosen_;
  TensorIdentities identities_;
  HolderTensors held_;
  std::vector<TorchThread> threads_;  // by ThreadId
  // By AllocationId: the largest extent of a tensor, and the bytes of the allocation (0: not recorded).
  std::vector<std::uint64_t> extents_, allocated_;
  // Sizes by device and address, like torch's ProfiledCPUMemoryReporter::size_table_. If a block is freed while no
  // profiler runs, its entry stays, and may be used for the next block at the address. Used only for blocks of the
  // CPU, because the allocators of other devices report the size of a freed block.
  absl::flat_hash_map<std::pair<DeviceId, std::uint64_t>, std::uint64_t> sizes_;
  TreeNames names_;
  MatchedCalls calls_;
  absl::flat_hash_map<std::uint64_t, ThreadId> torch_threads_;  // by torch's number of the thread
  LayoutExtents layout_extents_;
  absl::flat_hash_set<std::uint32_t> childless_;  // nodes of AccumulateGrad that have no children yet
  // Number of open ranges with the name of the selected range, inside or outside of the selection.
  std::uint32_t like_window_ = 0;
  bool skip_ = false;  // the process is not the first one with events, so it is left out
  const bool calls_are_nodes_;
  std::optional<CallNames> call_names_;          // of the current process
  std::optional<DeviceCallNames> device_calls_;  // set if device calls are requested
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_EVENT_TREE_PASS_H_
