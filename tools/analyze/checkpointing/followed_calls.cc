#include "tools/analyze/checkpointing/followed_calls.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace memoir {

void FollowedCalls::Follow(CallNumber number) {
  FollowedCall& call = open_[number];
  call.alike = tree_[number].alike;
  call.depth = tree_[number].depth;
  for (const auto& [device, peaks] : devices_.all()) call.FindDevice(device, peaks);
}

void FollowedCalls::AddMade(const FollowedBlock& followed, CheckpointedPeaks& peaks) {
  ForCallsOf(followed.call, [&](FollowedCall& call) {
    if (followed.Counts(call.depth)) ++call.blocks;
    CallOnDevice& on = call.FindDevice(followed.device, peaks);
    if (followed.IsReplaced(call.depth)) on.replaced += followed.bytes;
    if (followed.Leaves(call.depth)) return;
    peaks.GroupBeforeChange(call.alike).kept += followed.bytes;
  });
}

void FollowedCalls::RemoveMade(const FollowedBlock& followed, CheckpointedPeaks& peaks) {
  ForCallsOf(followed.call, [&](FollowedCall& call) {
    if (followed.Counts(call.depth)) --call.blocks;
    CallOnDevice& on = call.FindDevice(followed.device, peaks);
    if (followed.IsReplaced(call.depth)) on.replaced -= followed.bytes;
    if (followed.Leaves(call.depth)) return;
    CheckpointedPeaks::Group& group = peaks.GroupBeforeChange(call.alike);
    group.kept -= followed.bytes;
    if (!followed.settled) return;
    on.settled -= followed.bytes;
    if (!call.made_again) group.freed -= followed.bytes;
  });
}

void FollowedCalls::AwaitReturn(FollowedBlock& followed, std::uint32_t slot) {
  for (CallNumber number = followed.holder; number != 0; number = tree_[number].caller) {
    const auto holder = open_.find(number);
    if (holder == open_.end()) continue;  // the call has released its blocks, or is not followed
    if (holder->second.ended) break;
    return holder->second.waiting.emplace_back(slot, followed.ordinal), void();
  }
  Settle(followed);
}

void FollowedCalls::Settle(FollowedBlock& followed) {
  followed.settled = true;
  CheckpointedPeaks& peaks = devices_[followed.device];
  ForCallsOf(followed.call, [&](FollowedCall& call) {
    if (followed.Leaves(call.depth)) return;
    call.FindDevice(followed.device, peaks).settled += followed.bytes;
    if (!call.made_again) peaks.GroupNow(call.alike).freed += followed.bytes;
  });
}

void FollowedCalls::LeaveOut(const Block& workspace, const CheckpointedPeaks& peaks) {
  if (!workspace.thread.valid()) return;
  ForCallsOf(tree_.InnermostCall(workspace.thread), [&](FollowedCall& call) {
    if (!call.ended) call.FindDevice(workspace.device, peaks).live_at_begin += workspace.bytes;
  });
}

void FollowedCalls::NoteMost(const FollowedBlock& followed, CallNumber within) {
  const CheckpointedPeaks& peaks = devices_[followed.device];
  ForCallsOf(within, [&](FollowedCall& call) {
    if (call.ended || !followed.Counts(call.depth)) return;
    CallOnDevice& on = call.FindDevice(followed.device, peaks);
    const std::uint64_t most = peaks.history().MostSince(on.begin);
    on.most = std::max(on.most, most - std::min(most, on.live_at_begin));
  });
}

void FollowedCalls::NoteInput(FollowedBlock& followed, CallNumber call) {
  std::vector<CallNumber>& inputs = followed.inputs_of;
  if (!inputs.empty() && inputs.back() == call) return;
  constexpr std::size_t kMany = 64;  // of so many calls that received the block, most have ended
  if (inputs.size() >= kMany && (inputs.size() & (inputs.size() - 1)) == 0)
    std::erase_if(inputs, [this](CallNumber number) { return !open_.contains(number); });
  const CallNumber common = tree_.CommonCaller(followed.call, call);
  std::vector<CallNumber> given;
  for (CallNumber number = call; number != common; number = tree_[number].caller) {
    const auto found = open_.find(number);
    if (found == open_.end() || std::ranges::find(inputs, number) != inputs.end()) continue;
    given.push_back(number);
    if (followed.activation) LeaveSibling(followed, common, found->second.alike);
  }
  // The innermost call comes last, because the check at the beginning of this function compares the last entry.
  inputs.insert(inputs.end(), given.rbegin(), given.rend());
}

// If a call of the group `alike` made the block, and another call of this group receives it as an input, the block
// stays live for the other call. So the block leaves (followed_block.h) the call that made the block.
void FollowedCalls::LeaveSibling(FollowedBlock& followed, CallNumber common, AlikeNumber alike) {
  for (CallNumber maker = followed.call; maker != common; maker = tree_[maker].caller) {
    const auto found = open_.find(maker);
    if (found == open_.end() || found->second.alike != alike || followed.Leaves(found->second.depth)) continue;
    FollowedCall& call = found->second;
    CheckpointedPeaks& peaks = devices_[followed.device];
    CallOnDevice& on = call.FindDevice(followed.device, peaks);
    CheckpointedPeaks::Group& group = peaks.GroupNow(alike);
    group.kept -= followed.bytes;
    if (followed.settled) on.settled -= followed.bytes;
    if (followed.settled && !call.made_again) group.freed -= followed.bytes;
    followed.leaves |= FollowedBlock::Bit(call.depth);
    if (!followed.Counts(call.depth)) --call.blocks;
    if (followed.IsReplaced(call.depth)) on.replaced += followed.bytes;
  }
}

}  // namespace memoir
