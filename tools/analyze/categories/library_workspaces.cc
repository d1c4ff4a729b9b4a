#include "tools/analyze/categories/library_workspaces.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "tools/analyze/categories/range_traits.h"
#include "tools/analyze/driver/refusal.h"
#include "tools/model/import_source.h"

namespace memoir {
namespace {

// Follows the live blocks that no tensor has used yet; a block with a tensor is not a workspace. A tensor uses most
// blocks immediately, so few blocks are stored at a time. A block without a tensor has little evidence, so all of its
// evidence is stored.
class WorkspacePass : public Visitor {
 public:
  void OnStart(const ReplayState& state) override { state_ = &state; }
  bool takes_repeats() const override { return true; }  // repeated steps contain no operators, and so no candidates
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override {
    ++ranges_;
    See(event.tensors);
  }
  void OnRangeEnd(const RangeEndEvent& event) override { See(event.tensors); }
  void OnHolds(const HeldTensorsEvent& event) override { See(event.tensors); }
  void OnCut(const CutEvent&) override { JudgeLive(); }
  void OnOutOfMemory(const OutOfMemoryEvent&) override { JudgeLive(); }
  void OnDriverRefused(const DriverRefusedEvent& event) override {
    if (IsOutOfMemory(*state_, event)) JudgeLive();
  }
  void OnProcessEnd(const ProcessEvent&) override;
  LibraryWorkspaces Take() { return std::move(found_); }

 private:
  using Place = std::pair<DeviceId, std::uint64_t>;  // device and address
  struct UnseenBlock {
    std::uint64_t ordinal = 0;
    ThreadId thread;
    std::int32_t operation = -1, optimizer = -1;           // depths of operator and optimizer step; -1: no such range
    std::uint64_t operation_call = 0, optimizer_call = 0;  // OpenRange::call at these depths
    Evidence evidence;
    std::optional<bool> live_result;  // whether the block is a workspace, as JudgeLive found last
  };
  void See(absl::Span<const Tensor> tensors) {
    if (unseen_.empty()) return;
    for (const Tensor& tensor : tensors) {
      if (tensor.storage != 0) unseen_.erase({tensor.device, tensor.storage});
    }
  }
  bool IsOpen(ThreadId thread, std::int32_t depth, std::uint64_t call) const {
    const RangeStack& stack = state_->stack(thread);
    return depth >= 0 && static_cast<std::size_t>(depth) < stack.size() && CallAt(stack, depth) == call;
  }
  static std::uint64_t CallAt(const RangeStack& stack, std::int32_t depth) {
    return depth < 0 ? 0 : stack[static_cast<std::size_t>(depth)].call;
  }
  bool IsWorkspace(const UnseenBlock& block) const;
  void JudgeLive();

  const ReplayState* state_ = nullptr;
  RangeTraitTable traits_;
  absl::flat_hash_map<Place, UnseenBlock> unseen_;  // live blocks without a tensor, by place
  // Number of ranges that have begun: so far, and before JudgeLive last judged the live blocks.
  std::uint64_t ranges_ = 0, ranges_at_early_end_ = ~std::uint64_t{0};
  LibraryWorkspaces found_;
};

void WorkspacePass::OnAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  unseen_.erase({block.device, block.address});
  const bool has_operator =
      event.stack != nullptr && !event.stack->empty() && event.stack->back().outermost_operator >= 0;
  if (!has_operator || !block.thread.valid() || block.origin == BlockOrigin::kFound) return;
  if (!state_->memory(block.device).caching()) return;
  const OpenRange& innermost = event.stack->back();
  UnseenBlock unseen;
  unseen.ordinal = block.ordinal;
  unseen.thread = state_->working_thread(block.thread);
  unseen.operation = innermost.outermost_operator;
  unseen.operation_call = CallAt(*event.stack, unseen.operation);
  unseen.optimizer = innermost.innermost_optimizer;
  unseen.optimizer_call = CallAt(*event.stack, unseen.optimizer);
  unseen.evidence.phase = block.phase;
  unseen.evidence.Note(Sign::kInOperator);
  if (innermost.user_name.valid() && traits_.FindTraits(innermost.user_name, state_->dictionary()).loader)
    unseen.evidence.Note(Sign::kLoaded);
  unseen_.emplace(Place(block.device, block.address), unseen);
}

bool WorkspacePass::IsWorkspace(const UnseenBlock& block) const {
  if (block.live_result) return *block.live_result;
  Evidence evidence = block.evidence;
  evidence.Note(Sign::kOutlivedOperator);
  if (!IsOpen(block.thread, block.optimizer, block.optimizer_call)) evidence.Note(Sign::kOutlivedStep);
  return IsOfLibrary(RuleFor(evidence));
}

void WorkspacePass::OnDeallocate(const DeallocateEvent& event) {
  const auto found = unseen_.find({event.block->device, event.block->address});
  if (found == unseen_.end() || found->second.ordinal != event.block->ordinal) return;
  if (event.thread.valid()) {
    const RangeStack& stack = state_->stack(event.thread);
    if (!stack.empty() && stack.back().innermost_backward >= 0) found->second.evidence.Note(Sign::kFreedInBackward);
  }
  if (!event.temporary && IsWorkspace(found->second)) found_.insert(found->second.ordinal);
  unseen_.erase(found);
}

// Judges the live blocks at an early end of the recording (live_block_judge.h). A block whose operator still runs
// counts as a result of the operator, so it is no workspace. The result is stored now: later the replay closes the
// ranges without a recorded end, and the operator no longer counts as running.
void WorkspacePass::JudgeLive() {
  if (ranges_ == ranges_at_early_end_) return;
  ranges_at_early_end_ = ranges_;
  for (auto& [place, block] : unseen_) {
    block.live_result.reset();
    block.live_result = !IsOpen(block.thread, block.operation, block.operation_call) && IsWorkspace(block);
  }
}

void WorkspacePass::OnProcessEnd(const ProcessEvent&) {
  JudgeLive();
  for (const auto& [place, block] : unseen_) {
    if (IsWorkspace(block)) found_.insert(block.ordinal);
  }
  unseen_.clear();
  ranges_at_early_end_ = ~std::uint64_t{0};
}

}  // namespace

Task<absl::StatusOr<LibraryWorkspaces>> FindLibraryWorkspaces(JointReplays& replays) {
  if (IsImported(replays.capture())) co_return LibraryWorkspaces();  // an imported capture has no tensors
  WorkspacePass pass;
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, {.tensors = true, .modules = true});
  if (!report.ok()) co_return report.status();
  co_return pass.Take();
}

}  // namespace memoir
