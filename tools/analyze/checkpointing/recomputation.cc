#include "tools/analyze/checkpointing/recomputation.h"

#include <algorithm>
#include <cstddef>

namespace memoir {
namespace {

// Returns the most live bytes of the device while backward recomputes `call`. `live`: recorded live bytes at this time.
std::int64_t MostWhileMadeAgain(const FollowedCall& call, const CallOnDevice& on, const CheckpointedPeaks& peaks,
                                std::uint64_t live) {
  const std::vector<CheckpointedPeaks::Group>& groups = peaks.groups();
  const CheckpointedPeaks::Group group = call.alike < groups.size() ? groups[call.alike] : CheckpointedPeaks::Group();
  return static_cast<std::int64_t>(live + group.held + on.most) - static_cast<std::int64_t>(group.freed + on.replaced);
}

}  // namespace

void Recomputation::BeginNode(ThreadId thread) {
  if (thread.value >= live_at_node_.size()) live_at_node_.resize(thread.value + 1);
  std::vector<std::uint64_t>& live = live_at_node_[thread.value];
  live.clear();
  for (const auto& [device, peaks] : devices_.all()) live.push_back(peaks.live());
}

void Recomputation::MakeAgainCallsOf(const FollowedBlock& followed, ThreadId thread) {
  calls_.ForCallsOf(followed.call, [&](FollowedCall& call) {
    if (!call.made_again && !followed.Leaves(call.depth)) MakeAgain(call, thread);
  });
}

// Recomputes the call when an autograd node first needs a tensor of the call. Uses the live bytes at the beginning of
// this node, because the node does nothing else before the recomputation.
void Recomputation::MakeAgain(FollowedCall& call, ThreadId thread) {
  for (std::size_t i = 0; i < devices_.all().size(); ++i) {
    auto& [device, peaks] = devices_.all()[i];
    CallOnDevice& on = call.FindDevice(device, peaks);
    if (on.most == 0 && on.settled == 0) continue;
    const bool known = thread.valid() && thread.value < live_at_node_.size() && i < live_at_node_[thread.value].size();
    const std::uint64_t live = known ? live_at_node_[thread.value][i] : peaks.live();
    peaks.Touch(call.alike, MostWhileMadeAgain(call, on, peaks, live));
    CheckpointedPeaks::Group& group = peaks.GroupNow(call.alike);
    group.freed -= on.settled;
    group.again = std::max(group.again, on.settled);
  }
  call.made_again = true;
}

void Recomputation::TouchCutOff(FollowedCall& call) {
  for (auto& [device, peaks] : devices_.all()) {
    const CallOnDevice& on = call.FindDevice(device, peaks);
    CheckpointedPeaks::Group& group = peaks.GroupNow(call.alike);
    const std::uint64_t without = peaks.live() + group.held - std::max(group.freed, group.kept);
    peaks.Touch(call.alike, static_cast<std::int64_t>(without + on.most));
    group.again = std::max(group.again, on.most);
  }
}

void Recomputation::TouchWaiting() {
  calls_.ForAll([this](FollowedCall& call) {
    if (!call.ended) TouchCutOff(call);
    if (!call.ended || call.made_again) return;
    for (auto& [device, peaks] : devices_.all()) {
      if (const CallOnDevice& on = call.FindDevice(device, peaks); on.settled > 0)
        peaks.Touch(call.alike, MostWhileMadeAgain(call, on, peaks, peaks.live()));
    }
  });
}

}  // namespace memoir
