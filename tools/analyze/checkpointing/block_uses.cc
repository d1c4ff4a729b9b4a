#include "tools/analyze/checkpointing/block_uses.h"

#include <algorithm>

namespace memoir {
namespace {

class UsesPass : public Visitor {
 public:
  void OnStart(const ReplayState& state) override { state_ = &state; }
  bool takes_repeats() const override { return true; }  // repeated steps contain no operators, and so no uses
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnProcessEnd(const ProcessEvent&) override {
    calls_.EndProcess([](CallNumber) {});
    forward_.Clear();
    made_in_.clear();
  }
  void OnModuleEnter(const ModuleEvent& event) override {
    if (!event.of_gradient) calls_.Enter(event, state_->dictionary());
  }
  void OnModuleExit(const ModuleEvent& event) override {
    calls_.Exit(event, [](CallNumber) {});
  }

  void OnAllocate(const AllocateEvent& event) override {
    const Block& block = *event.block;
    if (block.slot == Block::kNoSlot) return;
    if (block.slot >= made_in_.size()) made_in_.resize(block.slot + 1);
    made_in_[block.slot] =
        block.phase == Phase::kForward && event.stack != nullptr ? calls_.InnermostCall(event.thread) : 0;
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    const Block& block = *event.block;
    if (block.slot == Block::kNoSlot || made_in_[block.slot] == 0 || !event.thread.valid()) return;
    const RangeStack& stack = state_->stack(event.thread);
    if (!stack.empty() && stack.back().innermost_backward >= 0)
      Note(block, [](BlockUse& use) { use.freed_in_backward = true; });
    if (block.thread.valid() && calls_.InnermostCall(block.thread) != 0)
      Note(block, [](BlockUse& use) { use.freed_in_forward = true; });
  }

  void OnRangeBegin(const RangeBeginEvent& event) override {
    const OpenRange& range = *event.range;
    if (range.source == RangeSource::kBackward) return;
    const bool forward = range.innermost_backward < 0;
    if (forward && !IsUserRange(range.source) && range.sequence >= 0)
      forward_.Note(state_->dictionary().thread(event.thread).torch_id, range.sequence,
                    calls_.InnermostCall(event.thread));
    if (event.tensors.empty()) return;
    if (forward) return NoteReads(event);
    CallNumber saved_by = 0;
    if (NodeAround(*event.stack, &saved_by)) NoteSaved(event, saved_by);
  }
  BlockUses Take() { return std::move(uses_); }

 private:
  template <class Function>
  void Note(const Block& block, const Function& function) {
    BlockUse use = uses_.UseOf(block);
    function(use);
    uses_.blocks.Set(block.ordinal, use);
  }
  // Returns the live block of the tensor, if a module call made the block in forward. Otherwise returns nullptr.
  const Block* MadeInCall(const Tensor& tensor) const {
    const Block* block = tensor.storage == 0 ? nullptr : state_->LiveBlockAt(tensor.device, tensor.storage);
    return block != nullptr && block->slot < made_in_.size() && made_in_[block->slot] != 0 ? block : nullptr;
  }
  // Returns the depth (BlockUse) of a use of `block` in `call`.
  std::uint8_t CommonDepth(const Block& block, CallNumber call) const {
    const std::uint32_t depth = calls_[calls_.CommonCaller(made_in_[block.slot], call)].depth;
    return static_cast<std::uint8_t>(std::min<std::uint32_t>(depth, BlockUse::kNever - 1));
  }
  // Finds the module call in which an operator made the innermost running autograd node. Returns false if unknown.
  bool NodeAround(const RangeStack& stack, CallNumber* call) const {
    for (std::int32_t depth = stack.back().innermost_backward; depth >= 0; --depth) {
      const OpenRange& range = stack[static_cast<std::size_t>(depth)];
      if (range.source == RangeSource::kBackward) return forward_.Find(range, call);
    }
    return false;
  }
  void NoteReads(const RangeBeginEvent& event) {
    const CallNumber call = calls_.InnermostCall(event.thread);
    for (const Tensor& tensor : event.tensors) {
      const Block* block = MadeInCall(tensor);
      if (block == nullptr) continue;
      Note(*block, [&](BlockUse& use) {
        use.read_outermost = std::min(use.read_outermost, CommonDepth(*block, call));
        ++use.reads;
      });
    }
  }
  void NoteSaved(const RangeBeginEvent& event, CallNumber call) {
    for (const Tensor& tensor : event.tensors) {
      const Block* block = MadeInCall(tensor);
      if (block == nullptr) continue;
      const std::uint8_t depth = CommonDepth(*block, call);
      Note(*block, [&](BlockUse& use) {
        use.saved_outermost = std::min(use.saved_outermost, depth);
        use.saved_innermost = std::max(use.saved_innermost, depth);
      });
    }
  }

  const ReplayState* state_ = nullptr;
  CallTree calls_;
  ForwardCalls forward_;
  // Innermost call that made a block, by Block::slot. 0: the block was made outside of forward, or outside of modules.
  std::vector<CallNumber> made_in_;
  BlockUses uses_;
};

}  // namespace

bool ForwardCalls::Find(const OpenRange& node, CallNumber* call) const {
  if (node.sequence < 0) return false;
  const auto found = calls_.find({node.forward_thread, node.sequence & kMask});
  if (found == calls_.end() || found->second.first != node.sequence) return false;
  *call = found->second.second;
  return true;
}

Task<absl::StatusOr<BlockUses>> FindBlockUses(JointReplays& replays) {
  UsesPass pass;
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, {.tensors = true, .modules = true});
  if (!report.ok()) co_return report.status();
  co_return pass.Take();
}

}  // namespace memoir
