#include "tools/analyze/categories/library_workspaces.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "tools/analyze/categories/range_marks.h"
#include "tools/analyze/driver/refusal.h"
#include "tools/model/imported.h"

namespace memoir {
namespace {

// What a tensor shows is no workspace: mostly at once, so that few blocks are kept here. The rest has so little
// evidence that it is all noted, for the rules to judge.
class WorkspacePass : public Visitor {
 public:
  void OnStart(const ReplayState& state) override { state_ = &state; }
  bool takes_repeats() const override { return true; }  // nothing that steps repeat outlives them
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override {
    ++ranges_;
    See(event.tensors);
  }
  void OnRangeEnd(const RangeEndEvent& event) override { See(event.tensors); }
  void OnHolds(const HoldsEvent& event) override { See(event.tensors); }
  void OnCut(const CutEvent&) override { JudgeLive(); }
  void OnOutOfMemory(const OutOfMemoryEvent&) override { JudgeLive(); }
  void OnDriverRefused(const DriverRefusedEvent& event) override {
    if (IsOutOfMemory(*state_, event)) JudgeLive();
  }
  void OnProcessEnd(const ProcessEvent&) override;
  LibraryWorkspaces Take() { return std::move(found_); }

 private:
  using Place = std::pair<DeviceId, std::uint64_t>;  // and its address
  struct Unseen {
    std::uint64_t ordinal = 0;
    ThreadId thread;
    std::int32_t operation = -1, optimizer = -1;           // depths; -1: none
    std::uint64_t operation_call = 0, optimizer_call = 0;  // what ran there
    Evidence evidence;
    std::optional<bool> at_cut;  // whether it was one where less began to be known
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
  bool IsWorkspace(const Unseen& block) const;
  void JudgeLive();

  const ReplayState* state_ = nullptr;
  RangeMarkTable marks_;
  absl::flat_hash_map<Place, Unseen> unseen_;                     // live
  std::uint64_t ranges_ = 0, ranges_at_cut_ = ~std::uint64_t{0};  // that had begun
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
  Unseen unseen;
  unseen.ordinal = block.ordinal;
  unseen.thread = state_->working_thread(block.thread);
  unseen.operation = innermost.outermost_operator;
  unseen.operation_call = CallAt(*event.stack, unseen.operation);
  unseen.optimizer = innermost.innermost_optimizer;
  unseen.optimizer_call = CallAt(*event.stack, unseen.optimizer);
  unseen.evidence.phase = block.phase;
  unseen.evidence.Note(Sign::kInOperator);
  if (innermost.user_name.valid() && marks_.Of(innermost.user_name, state_->dictionary()).loader)
    unseen.evidence.Note(Sign::kLoaded);
  unseen_.emplace(Place(block.device, block.address), unseen);
}

bool WorkspacePass::IsWorkspace(const Unseen& block) const {
  if (block.at_cut) return *block.at_cut;
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

// Where a recording ends: what is being made is taken for a result of what makes it, as cut.cc does. Behind it ranges
// end that nobody has seen end.
void WorkspacePass::JudgeLive() {
  if (ranges_ == ranges_at_cut_) return;
  ranges_at_cut_ = ranges_;
  for (auto& [place, block] : unseen_) {
    block.at_cut.reset();
    block.at_cut = !IsOpen(block.thread, block.operation, block.operation_call) && IsWorkspace(block);
  }
}

void WorkspacePass::OnProcessEnd(const ProcessEvent&) {
  JudgeLive();
  for (const auto& [place, block] : unseen_) {
    if (IsWorkspace(block)) found_.insert(block.ordinal);
  }
  unseen_.clear();
  ranges_at_cut_ = ~std::uint64_t{0};
}

}  // namespace

absl::StatusOr<LibraryWorkspaces> FindLibraryWorkspaces(const Capture& capture, ReplayOptions options) {
  if (IsImported(capture)) return LibraryWorkspaces();  // which tensors operators made is not known
  WorkspacePass pass;
  options.tensors = options.modules = true;
  options.first_seen = false;
  const absl::StatusOr<ReplayReport> report = capture.Replay(pass, options);
  if (!report.ok()) return report.status();
  return pass.Take();
}

}  // namespace memoir
