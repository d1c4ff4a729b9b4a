#include "tools/analyze/checkpointing/checkpoint_pass.h"

#include <algorithm>
#include <utility>

namespace memoir {

CheckpointedPeaks& CheckpointPass::PeaksOf(DeviceId device, const Event& event) {
  if (CheckpointedPeaks* known = shared_.devices.FindIfAdded(device)) return *known;
  CheckpointedPeaks& peaks = shared_.devices.Add(device);
  if (in_window()) peaks.OpenWindow(event.tick);
  return peaks;
}

void CheckpointPass::SeeWindowOpen(const Event& event) {
  for (auto& [device, peaks] : shared_.devices.all()) peaks.OpenWindow(event.tick);
}

void CheckpointPass::SeeWindowClose(const Event&) {
  for (auto& [device, peaks] : shared_.devices.all()) peaks.CloseWindow();
}

void CheckpointPass::SeeModuleEnter(const ModuleEvent& event) {
  if (event.of_gradient) return;
  const CallNumber number = shared_.tree.Enter(event, state().dictionary());
  const bool again = event.phase == Phase::kRecompute && !event.again;
  const AlikeNumber alike =
      again ? shared_.tree.AlikeOf(event.module, state().dictionary()) : shared_.tree[number].alike;
  if (alike == kNoAlike) return;
  if (alike >= counted_.size()) counted_.resize(alike + 1);
  if (alike >= already_.size()) already_.resize(alike + 1);
  if (in_window()) ++(again ? already_ : counted_)[alike];
  if (number == 0 || shared_.tree[number].depth > FollowedBlock::kMostDepth) return;
  shared_.calls.Follow(number);
}

void CheckpointPass::SeeModuleExit(const ModuleEvent& event) {
  shared_.tree.Exit(event, [this](CallNumber number) { EndCall(number); });
}

void CheckpointPass::EndCall(CallNumber number) {
  FollowedCall* call = shared_.calls.Find(number);
  if (call == nullptr) return;
  call->ended = true;
  for (const auto& [slot, ordinal] : call->waiting) {
    if (FollowedBlock* followed = blocks_.Find(slot, ordinal)) shared_.calls.AwaitReturn(*followed, slot);
  }
  call->waiting.clear();
  if (call->blocks == 0) Release(number, *call);
}

// Called when the autograd graph of the call is freed.
void CheckpointPass::Release(CallNumber number, const FollowedCall& call) {
  inputs_.Release(call);
  shared_.calls.Forget(number);
}

void CheckpointPass::SeeRangeBegin(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (range.source == RangeSource::kBackward) return recomputation_.BeginNode(event.thread);
  if (event.tensors.empty()) return;
  range.innermost_backward < 0 ? NoteForwardReads(event) : NoteBackwardReads(event);
}

void CheckpointPass::NoteForwardReads(const RangeBeginEvent& event) {
  const CallNumber call = shared_.tree.InnermostCall(event.thread);
  for (const Tensor& tensor : event.tensors) {
    FollowedBlock* followed = FindFollowed(tensor);
    if (followed == nullptr) continue;
    if (followed->may_be_input && call != followed->call) shared_.calls.NoteInput(*followed, call);
    if (!followed->activation) continue;
    // An operator below autograd has no sequence number, and saves no tensor.
    if (event.range->sequence >= 0) shared_.calls.NoteMost(*followed, shared_.tree.CommonCaller(followed->call, call));
    if (followed->reads == 0) continue;
    --followed->reads;
    if (followed->reads > 0) continue;
    // The frame that holds the block usually drops it when the last call that reads it returns: x = layer(x).
    const CallNumber last = shared_.tree.AtDepth(call, shared_.tree[followed->holder].depth + 1);
    if (last != 0 && !followed->cast) followed->holder = last;
    shared_.calls.AwaitReturn(*followed, blocks_.SlotOf(*followed));
  }
}

void CheckpointPass::NoteBackwardReads(const RangeBeginEvent& event) {
  for (const Tensor& tensor : event.tensors) {
    const FollowedBlock* followed = FindFollowed(tensor);
    if (followed != nullptr && followed->activation) recomputation_.MakeAgainCallsOf(*followed, event.thread);
  }
}

FollowedBlock* CheckpointPass::FindFollowed(const Tensor& tensor) {
  if (tensor.storage == 0) return nullptr;
  const Block* block = state().LiveBlockAt(tensor.device, tensor.storage);
  return block == nullptr ? nullptr : blocks_.Find(*block);
}

void CheckpointPass::SeeAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  CheckpointedPeaks& peaks = PeaksOf(block.device, event);
  FollowedBlock* followed = block.slot == Block::kNoSlot ? nullptr : &blocks_.Follow(event);
  const bool activation = followed != nullptr && followed->activation;
  if (activation) shared_.calls.AddMade(*followed, peaks);
  peaks.Change(peaks.live() + block.bytes, event.tick);
  if (followed != nullptr && blocks_.IsKeptWorkspace(block)) shared_.calls.LeaveOut(block, peaks);
  if (!activation) return;
  results_.NoteResult(event, *followed);
  if (followed->reads == 0) shared_.calls.AwaitReturn(*followed, block.slot);
}

void CheckpointPass::SeeDeallocate(const DeallocateEvent& event) {
  const Block& block = *event.block;
  CheckpointedPeaks& peaks = PeaksOf(block.device, event);
  FollowedBlock* followed = blocks_.Find(block);
  const bool activation = followed != nullptr && followed->activation;
  const RangeStack* stack = event.thread.valid() ? &state().stack(event.thread) : nullptr;
  if (activation && stack != nullptr && !stack->empty() && stack->back().innermost_backward >= 0)
    recomputation_.MakeAgainCallsOf(*followed, event.thread);
  if (followed != nullptr) inputs_.Hold(*followed, peaks);
  if (activation) shared_.calls.RemoveMade(*followed, peaks);
  peaks.Change(peaks.live() - block.bytes, event.tick);
  if (followed == nullptr) return;
  followed->ordinal = FollowedBlock::kNoOrdinal;
  if (!activation) return;
  for (CallNumber number = followed->call; number != 0; number = shared_.tree[number].caller) {
    const FollowedCall* call = shared_.calls.Find(number);
    if (call != nullptr && call->ended && call->blocks == 0) Release(number, *call);
  }
}

void CheckpointPass::SeeOutOfMemory(const OutOfMemoryEvent& event) {
  const DeviceId device = event.asked->device;
  shared_.calls.ForCallsOf(shared_.tree.InnermostCall(event.thread), [&](FollowedCall& call) {
    recomputation_.TouchCutOff(call);
    CheckpointedPeaks& peaks = PeaksOf(device, event);
    peaks.NoteCutOff(call.FindDevice(device, peaks).begin);
  });
}

void CheckpointPass::SeeProcessEnd(const ProcessEvent& event) {
  if (selection().window.kind == SelectionWindow::Kind::kAll) recomputation_.TouchWaiting();
  shared_.tree.EndProcess([](CallNumber) {});
  for (const auto& [device, peaks] : shared_.devices.all()) FinishDevice(device, peaks, event.process);
  shared_.calls.Clear();
  shared_.devices.Clear();
  blocks_.Clear();
  results_.Clear();
  inputs_.Clear();
  recomputation_.Clear();
  counted_.clear();
  already_.clear();
}

void CheckpointPass::FinishDevice(DeviceId device, const CheckpointedPeaks& peaks, ProcessId process) {
  CheckpointDevice row;
  row.name = ToString(state().dictionary().device(device));
  row.process = process;
  row.rank = capture().processes()[process.value].rank();
  row.caching = state().memory(device).caching();
  row.peak_bytes = peaks.peak();
  row.peak_ns = state().Nanoseconds(process, peaks.peak_tick());
  for (AlikeNumber alike = 0; alike < counted_.size(); ++alike) {
    const std::uint64_t already = alike < already_.size() ? already_[alike] : 0;
    if (counted_[alike] + already == 0) continue;
    CheckpointedPeaks::Group group;
    group.peak = peaks.peak();
    if (alike < peaks.groups().size()) group = peaks.groups()[alike];
    const AlikeModules& modules = shared_.tree.alike()[alike];
    row.rows.push_back({modules.path.empty() ? modules.root : modules.path, modules.root, modules.path,
                        modules.class_name, modules.modules.size(), counted_[alike], already, group.peak,
                        static_cast<std::int64_t>(peaks.peak() - group.peak), group.kept_at_peak, group.again,
                        peaks.peak_is_cut_off()});
  }
  std::ranges::stable_sort(row.rows, [](const CheckpointRow& a, const CheckpointRow& b) {
    return std::pair(b.freed_bytes, b.kept_bytes) < std::pair(a.freed_bytes, a.kept_bytes);
  });
  rows_.push_back(std::move(row));
}

}  // namespace memoir
