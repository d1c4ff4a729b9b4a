// How a block, and a recomputed call, change the figures of the groups that a CheckpointPass follows.
#include <algorithm>
#include <utility>

#include "tools/analyze/checkpointing/checkpoint_pass.h"

namespace memoir {

// Must be called before the live bytes change.
void CheckpointPass::AddMade(const WatchedBlock& watched, CheckpointedPeaks& peaks) {
  ForCallsOf(watched.call, [&](Call& call) {
    if (watched.Counts(call.depth)) ++call.blocks;
    CallOnDevice& on = FindDevice(call, watched.device, peaks);
    if (watched.IsReplaced(call.depth)) on.replaced += watched.bytes;
    if (watched.Leaves(call.depth)) return;
    peaks.GroupBeforeChange(call.alike).kept += watched.bytes;
  });
}

void CheckpointPass::RemoveMade(const WatchedBlock& watched, CheckpointedPeaks& peaks) {
  ForCallsOf(watched.call, [&](Call& call) {
    if (watched.Counts(call.depth)) --call.blocks;
    CallOnDevice& on = FindDevice(call, watched.device, peaks);
    if (watched.IsReplaced(call.depth)) on.replaced -= watched.bytes;
    if (watched.Leaves(call.depth)) return;
    CheckpointedPeaks::Group& group = peaks.GroupBeforeChange(call.alike);
    group.kept -= watched.bytes;
    if (!watched.settled) return;
    on.settled -= watched.bytes;
    if (!call.made_again) group.freed -= watched.bytes;
  });
}

// Called when forward does not read the block any more. The block settles when the call whose frame holds it returns.
void CheckpointPass::AwaitReturn(std::uint32_t slot) {
  WatchedBlock& watched = watched_[slot];
  for (CallNumber number = watched.holder; number != 0; number = calls_[number].caller) {
    const auto holder = open_.find(number);
    if (holder == open_.end()) continue;  // the call has released its blocks, or is not followed
    if (holder->second.ended) break;
    return holder->second.waiting.emplace_back(slot, watched.ordinal), void();
  }
  Settle(watched);
}

void CheckpointPass::Settle(WatchedBlock& watched) {
  watched.settled = true;
  CheckpointedPeaks& peaks = devices_[DeviceIndex(watched.device)].second;
  ForCallsOf(watched.call, [&](Call& call) {
    if (watched.Leaves(call.depth)) return;
    FindDevice(call, watched.device, peaks).settled += watched.bytes;
    if (!call.made_again) peaks.GroupNow(call.alike).freed += watched.bytes;
  });
}

// Leaves a library's workspace out of the bytes that the open calls would recompute. The library keeps its workspace
// after its first call, so a recomputed call does not allocate it again.
void CheckpointPass::LeaveOut(const Block& workspace, const CheckpointedPeaks& peaks) {
  if (!workspace.thread.valid()) return;
  ForCallsOf(calls_.InnermostCall(workspace.thread), [&](Call& call) {
    if (!call.ended) FindDevice(call, workspace.device, peaks).live_at_begin += workspace.bytes;
  });
}

// Notes the most live bytes of each open call up to now. Called at each operator that may save a tensor: recomputation
// stops at the last such operator, so memory after it does not count.
void CheckpointPass::NoteMost(const WatchedBlock& watched, CallNumber within, DeviceId device) {
  const CheckpointedPeaks& peaks = devices_[DeviceIndex(device)].second;
  ForCallsOf(within, [&](Call& call) {
    if (call.ended || !watched.Counts(call.depth)) return;
    CallOnDevice& on = FindDevice(call, device, peaks);
    const std::uint64_t most = peaks.history().MostSince(on.begin);
    on.most = std::max(on.most, most - std::min(most, on.live_at_begin));
  });
}

void CheckpointPass::NoteResult(const AllocateEvent& event, const WatchedBlock& watched) {
  for (auto range = event.stack->rbegin(); range != event.stack->rend(); ++range) {
    if (range->sequence < 0 || IsUserRange(range->source)) continue;
    if (event.thread.value >= results_.size()) results_.resize(event.thread.value + 1);
    results_[event.thread.value].push_back({range->call, event.block->slot, watched.ordinal});
    return;
  }
  NoteMost(watched, watched.call, watched.device);
}

void CheckpointPass::SeeRangeEnd(const RangeEndEvent& event) {
  if (event.thread.value >= results_.size()) return;
  std::vector<Result>& results = results_[event.thread.value];
  while (!results.empty() && results.back().operator_call >= event.range->call) {
    const WatchedBlock& watched = watched_[results.back().slot];
    if (watched.ordinal == results.back().ordinal) NoteMost(watched, watched.call, watched.device);
    results.pop_back();
  }
}

void CheckpointPass::NoteInput(WatchedBlock& watched, CallNumber call) {
  std::vector<CallNumber>& inputs = watched.inputs_of;
  if (!inputs.empty() && inputs.back() == call) return;
  constexpr std::size_t kMany = 64;  // by then most of the calls that received the block have ended
  if (inputs.size() >= kMany && (inputs.size() & (inputs.size() - 1)) == 0)
    std::erase_if(inputs, [this](CallNumber number) { return !open_.contains(number); });
  const CallNumber common = calls_.CommonCaller(watched.call, call);
  std::vector<CallNumber> given;
  for (CallNumber number = call; number != common; number = calls_[number].caller) {
    const auto found = open_.find(number);
    if (found == open_.end() || std::ranges::find(inputs, number) != inputs.end()) continue;
    given.push_back(number);
    if (watched.activation) LeaveSibling(watched, common, found->second.alike);
  }
  // The innermost call comes last, because the check at the begin of this function compares the last entry.
  inputs.insert(inputs.end(), given.rbegin(), given.rend());
}

// If a call of the group `alike` made the block, and another call of this group receives it as an input, the block
// stays live for the other call. So the block leaves (checkpoint_pass.h) the call that made the block.
void CheckpointPass::LeaveSibling(WatchedBlock& watched, CallNumber common, AlikeNumber alike) {
  for (CallNumber maker = watched.call; maker != common; maker = calls_[maker].caller) {
    const auto found = open_.find(maker);
    if (found == open_.end() || found->second.alike != alike || watched.Leaves(found->second.depth)) continue;
    Call& call = found->second;
    CheckpointedPeaks& peaks = devices_[DeviceIndex(watched.device)].second;
    CallOnDevice& on = FindDevice(call, watched.device, peaks);
    CheckpointedPeaks::Group& group = peaks.GroupNow(alike);
    group.kept -= watched.bytes;
    if (watched.settled) on.settled -= watched.bytes;
    if (watched.settled && !call.made_again) group.freed -= watched.bytes;
    watched.leaves |= WatchedBlock::Bit(call.depth);
    if (!watched.Counts(call.depth)) --call.blocks;
    if (watched.IsReplaced(call.depth)) on.replaced += watched.bytes;
  }
}

// Called when the program frees a block that calls received as an input. With checkpointing the calls that are not
// recomputed yet still hold it. The block counts once for each group of such calls.
void CheckpointPass::HoldInput(const WatchedBlock& watched, CheckpointedPeaks& peaks) {
  std::vector<std::size_t> places;
  for (const CallNumber number : watched.inputs_of) {
    const auto found = open_.find(number);
    if (found == open_.end()) continue;
    const AlikeNumber alike = found->second.alike;
    auto place = std::ranges::find_if(places, [&](std::size_t held) { return held_[held].alike == alike; });
    if (place == places.end()) {
      place = places.insert(places.end(), AddHeldInput({watched.device, alike, watched.bytes, 0}));
      peaks.GroupBeforeChange(alike).held += watched.bytes;
    }
    ++held_[*place].calls;
    found->second.held.push_back(*place);
  }
}

std::size_t CheckpointPass::AddHeldInput(const HeldInput& held) {
  if (unheld_.empty()) {
    held_.push_back(held);
    return held_.size() - 1;
  }
  const std::size_t place = unheld_.back();
  unheld_.pop_back();
  held_[place] = held;
  return place;
}

void CheckpointPass::MakeAgainCallsOf(const WatchedBlock& watched, ThreadId thread) {
  ForCallsOf(watched.call, [&](Call& call) {
    if (!call.made_again && !watched.Leaves(call.depth)) MakeAgain(call, thread);
  });
}

// Recomputes the call when an autograd node first needs a tensor of the call. The live bytes are those at the begin of
// this node, because the node does nothing else before the recomputation.
void CheckpointPass::MakeAgain(Call& call, ThreadId thread) {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    CheckpointedPeaks& peaks = devices_[i].second;
    CallOnDevice& on = FindDevice(call, devices_[i].first, peaks);
    if (on.most == 0 && on.settled == 0) continue;
    const bool known = thread.valid() && thread.value < live_at_node_.size() && i < live_at_node_[thread.value].size();
    peaks.Touch(call.alike, MostWhileMadeAgain(call, on, known ? live_at_node_[thread.value][i] : peaks.live()));
    CheckpointedPeaks::Group& group = peaks.GroupNow(call.alike);
    group.freed -= on.settled;
    group.again = std::max(group.again, on.settled);
  }
  call.made_again = true;
}

// Called for a call that never ends. With checkpointing, backward would have to recompute at least the work that the
// call has done so far.
void CheckpointPass::TouchCutOff(Call& call) {
  for (auto& [device, peaks] : devices_) {
    const CallOnDevice& on = FindDevice(call, device, peaks);
    CheckpointedPeaks::Group& group = peaks.GroupNow(call.alike);
    const std::uint64_t without = peaks.live() + group.held - std::max(group.freed, group.kept);
    peaks.Touch(call.alike, static_cast<std::int64_t>(without + on.most));
    group.again = std::max(group.again, on.most);
  }
}

// Adds the recomputation of calls whose backward pass was not recorded.
void CheckpointPass::TouchWaiting() {
  for (auto& [number, call] : open_) {
    if (!call.ended) TouchCutOff(call);
    if (!call.ended || call.made_again) continue;
    for (auto& [device, peaks] : devices_) {
      if (const CallOnDevice& on = FindDevice(call, device, peaks); on.settled > 0)
        peaks.Touch(call.alike, MostWhileMadeAgain(call, on, peaks.live()));
    }
  }
}

void CheckpointPass::SeeOutOfMemory(const OutOfMemoryEvent& event) {
  const DeviceId device = event.asked->device;
  for (CallNumber number = calls_.InnermostCall(event.thread); number != 0; number = calls_[number].caller) {
    const auto open = open_.find(number);
    if (open == open_.end()) continue;
    TouchCutOff(open->second);
    CheckpointedPeaks& peaks = PeaksOf(device, event);
    peaks.NoteCutOff(FindDevice(open->second, device, peaks).begin);
  }
}

std::int64_t CheckpointPass::MostWhileMadeAgain(const Call& call, const CallOnDevice& on, std::uint64_t live) const {
  const std::vector<CheckpointedPeaks::Group>& groups = devices_[DeviceIndex(on.device)].second.groups();
  const CheckpointedPeaks::Group group = call.alike < groups.size() ? groups[call.alike] : CheckpointedPeaks::Group();
  return static_cast<std::int64_t>(live + group.held + on.most) - static_cast<std::int64_t>(group.freed + on.replaced);
}

// Called when the graph of the call is freed. The graph's inputs are freed with it.
void CheckpointPass::Release(CallNumber number) {
  const auto found = open_.find(number);
  for (const std::size_t place : found->second.held) {
    HeldInput& held = held_[place];
    if (--held.calls > 0) continue;
    devices_[DeviceIndex(held.device)].second.GroupNow(held.alike).held -= held.bytes;
    unheld_.push_back(place);
  }
  open_.erase(found);
}

}  // namespace memoir
