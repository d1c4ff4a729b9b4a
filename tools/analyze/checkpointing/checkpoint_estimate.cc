// What a block, and a call that is made again, change of the groups that a CheckpointPass follows.
#include <algorithm>
#include <utility>

#include "tools/analyze/checkpointing/checkpoint_pass.h"

namespace memoir {

// Before the change of what is live.
void CheckpointPass::AddMade(const Watched& watched, AlikePeaks& peaks) {
  ForCallsOf(watched.call, [&](Call& call) {
    if (watched.Counts(call.depth)) ++call.blocks;
    CallOnDevice& on = On(call, watched.device, peaks);
    if (watched.IsReplaced(call.depth)) on.replaced += watched.bytes;
    if (watched.Leaves(call.depth)) return;
    peaks.BeforeChange(call.alike).kept += watched.bytes;
  });
}

void CheckpointPass::RemoveMade(const Watched& watched, AlikePeaks& peaks) {
  ForCallsOf(watched.call, [&](Call& call) {
    if (watched.Counts(call.depth)) --call.blocks;
    CallOnDevice& on = On(call, watched.device, peaks);
    if (watched.IsReplaced(call.depth)) on.replaced -= watched.bytes;
    if (watched.Leaves(call.depth)) return;
    AlikePeaks::Group& group = peaks.BeforeChange(call.alike);
    group.kept -= watched.bytes;
    if (!watched.settled) return;
    on.settled -= watched.bytes;
    if (!call.made_again) group.freed -= watched.bytes;
  });
}

// Nothing in forward reads it any more: what frame has it gives it back when it returns.
void CheckpointPass::AwaitReturn(std::uint32_t slot) {
  Watched& watched = watched_[slot];
  for (CallNumber number = watched.holder; number != 0; number = calls_[number].caller) {
    const auto holder = open_.find(number);
    if (holder == open_.end()) continue;  // it has ended, or is not followed
    if (holder->second.ended) break;
    return holder->second.waiting.emplace_back(slot, watched.ordinal), void();
  }
  Settle(watched);
}

void CheckpointPass::Settle(Watched& watched) {
  watched.settled = true;
  AlikePeaks& peaks = devices_[DeviceIndex(watched.device)].second;
  ForCallsOf(watched.call, [&](Call& call) {
    if (watched.Leaves(call.depth)) return;
    On(call, watched.device, peaks).settled += watched.bytes;
    if (!call.made_again) peaks.AtOnce(call.alike).freed += watched.bytes;
  });
}

// A library has its workspace from its first call on: who is made again finds it there.
void CheckpointPass::LeaveOut(const Block& workspace, const AlikePeaks& peaks) {
  if (!workspace.thread.valid()) return;
  ForCallsOf(calls_.Innermost(workspace.thread), [&](Call& call) {
    if (!call.ended) On(call, workspace.device, peaks).live_at_begin += workspace.bytes;
  });
}

// Recomputation stops at the last operator that saves something; so does what it takes.
void CheckpointPass::NoteMost(const Watched& watched, CallNumber within, DeviceId device) {
  const AlikePeaks& peaks = devices_[DeviceIndex(device)].second;
  ForCallsOf(within, [&](Call& call) {
    if (call.ended || !watched.Counts(call.depth)) return;
    CallOnDevice& on = On(call, device, peaks);
    const std::uint64_t most = peaks.heights().MostSince(on.begin);
    on.most = std::max(on.most, most - std::min(most, on.live_at_begin));
  });
}

void CheckpointPass::NoteResult(const AllocateEvent& event, const Watched& watched) {
  for (auto range = event.stack->rbegin(); range != event.stack->rend(); ++range) {
    if (range->sequence < 0 || IsOfUser(range->source)) continue;
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
    const Watched& watched = watched_[results.back().slot];
    if (watched.ordinal == results.back().ordinal) NoteMost(watched, watched.call, watched.device);
    results.pop_back();
  }
}

void CheckpointPass::NoteInput(Watched& watched, CallNumber call) {
  std::vector<CallNumber>& inputs = watched.inputs_of;
  if (!inputs.empty() && inputs.back() == call) return;
  constexpr std::size_t kMany = 64;  // of what lives long most calls are over
  if (inputs.size() >= kMany && (inputs.size() & (inputs.size() - 1)) == 0)
    std::erase_if(inputs, [this](CallNumber number) { return !open_.contains(number); });
  const CallNumber common = calls_.Common(watched.call, call);
  std::vector<CallNumber> given;
  for (CallNumber number = call; number != common; number = calls_[number].caller) {
    const auto found = open_.find(number);
    if (found == open_.end() || std::ranges::find(inputs, number) != inputs.end()) continue;
    given.push_back(number);
    if (watched.activation) LeaveSibling(watched, common, found->second.alike);
  }
  // The innermost last, where the next operator's look finds it.
  inputs.insert(inputs.end(), given.rbegin(), given.rend());
}

// What a call is given that another call of the same modules made is kept for it.
void CheckpointPass::LeaveSibling(Watched& watched, CallNumber common, AlikeNumber alike) {
  for (CallNumber maker = watched.call; maker != common; maker = calls_[maker].caller) {
    const auto found = open_.find(maker);
    if (found == open_.end() || found->second.alike != alike || watched.Leaves(found->second.depth)) continue;
    Call& call = found->second;
    AlikePeaks& peaks = devices_[DeviceIndex(watched.device)].second;
    CallOnDevice& on = On(call, watched.device, peaks);
    AlikePeaks::Group& group = peaks.AtOnce(alike);
    group.kept -= watched.bytes;
    if (watched.settled) on.settled -= watched.bytes;
    if (watched.settled && !call.made_again) group.freed -= watched.bytes;
    watched.leaves |= Watched::Bit(call.depth);
    if (!watched.Counts(call.depth)) --call.blocks;
    if (watched.IsReplaced(call.depth)) on.replaced += watched.bytes;
  }
}

// The program frees it, but calls that it was given to have not been made again yet: once for each group.
void CheckpointPass::HoldInput(const Watched& watched, AlikePeaks& peaks) {
  std::vector<std::size_t> places;
  for (const CallNumber number : watched.inputs_of) {
    const auto found = open_.find(number);
    if (found == open_.end()) continue;
    const AlikeNumber alike = found->second.alike;
    auto place = std::ranges::find_if(places, [&](std::size_t held) { return held_[held].alike == alike; });
    if (place == places.end()) {
      place = places.insert(places.end(), NewHeld({watched.device, alike, watched.bytes, 0}));
      peaks.BeforeChange(alike).held += watched.bytes;
    }
    ++held_[*place].calls;
    found->second.held.push_back(*place);
  }
}

std::size_t CheckpointPass::NewHeld(const Held& held) {
  if (unheld_.empty()) {
    held_.push_back(held);
    return held_.size() - 1;
  }
  const std::size_t place = unheld_.back();
  unheld_.pop_back();
  held_[place] = held;
  return place;
}

void CheckpointPass::MakeAgainCallsOf(const Watched& watched, ThreadId thread) {
  ForCallsOf(watched.call, [&](Call& call) {
    if (!call.made_again && !watched.Leaves(call.depth)) MakeAgain(call, thread);
  });
}

// Before the node that first needs something of the call does anything else.
void CheckpointPass::MakeAgain(Call& call, ThreadId thread) {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    AlikePeaks& peaks = devices_[i].second;
    CallOnDevice& on = On(call, devices_[i].first, peaks);
    if (on.most == 0 && on.settled == 0) continue;
    const bool known = thread.valid() && thread.value < live_at_node_.size() && i < live_at_node_[thread.value].size();
    peaks.Touch(call.alike, MostWhileMadeAgain(call, on, known ? live_at_node_[thread.value][i] : peaks.live()));
    AlikePeaks::Group& group = peaks.AtOnce(call.alike);
    group.freed -= on.settled;
    group.again = std::max(group.again, on.settled);
  }
  call.made_again = true;
}

// Of a call that has not ended and will not: backward would have to make again at least what it has made so far.
void CheckpointPass::TouchCutOff(Call& call) {
  for (auto& [device, peaks] : devices_) {
    const CallOnDevice& on = On(call, device, peaks);
    AlikePeaks::Group& group = peaks.AtOnce(call.alike);
    const std::uint64_t without = peaks.live() + group.held - std::max(group.freed, group.kept);
    peaks.Touch(call.alike, static_cast<std::int64_t>(without + on.most));
    group.again = std::max(group.again, on.most);
  }
}

// What waits for a backward that the recording does not have would be made again all the same.
void CheckpointPass::TouchWaiting() {
  for (auto& [number, call] : open_) {
    if (!call.ended) TouchCutOff(call);
    if (!call.ended || call.made_again) continue;
    for (auto& [device, peaks] : devices_) {
      if (const CallOnDevice& on = On(call, device, peaks); on.settled > 0)
        peaks.Touch(call.alike, MostWhileMadeAgain(call, on, peaks.live()));
    }
  }
}

void CheckpointPass::SeeOutOfMemory(const OutOfMemoryEvent& event) {
  const DeviceId device = event.asked->device;
  for (CallNumber number = calls_.Innermost(event.thread); number != 0; number = calls_[number].caller) {
    const auto open = open_.find(number);
    if (open == open_.end()) continue;
    TouchCutOff(open->second);
    AlikePeaks& peaks = PeaksOf(device, event);
    peaks.NoteCutOff(On(open->second, device, peaks).begin);
  }
}

std::int64_t CheckpointPass::MostWhileMadeAgain(const Call& call, const CallOnDevice& on, std::uint64_t live) const {
  const std::vector<AlikePeaks::Group>& groups = devices_[DeviceIndex(on.device)].second.groups();
  const AlikePeaks::Group group = call.alike < groups.size() ? groups[call.alike] : AlikePeaks::Group();
  return static_cast<std::int64_t>(live + group.held + on.most) - static_cast<std::int64_t>(group.freed + on.replaced);
}

// Its graph is gone, and with it what it was given.
void CheckpointPass::Release(CallNumber number) {
  const auto found = open_.find(number);
  for (const std::size_t place : found->second.held) {
    Held& held = held_[place];
    if (--held.calls > 0) continue;
    devices_[DeviceIndex(held.device)].second.AtOnce(held.alike).held -= held.bytes;
    unheld_.push_back(place);
  }
  open_.erase(found);
}

}  // namespace memoir
