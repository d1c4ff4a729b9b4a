#include "tools/analyze/pass/joint_replays.h"

#include <algorithm>
#include <utility>

#include "tools/analyze/pass/visitor_group.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

bool GoesOn(const ReplayNeeds& needs) { return !needs.go_on || needs.go_on(); }

}  // namespace

JointReplays::JointReplays(const Capture& capture, const Selection& selection)
    : capture_(capture), shared_(capture), selection_(selection) {}

Task<absl::StatusOr<ReplayReport>> JointReplays::Run(Visitor& pass, ReplayNeeds needs) {
  co_return co_await Next(pass, std::move(needs));
}

void JointReplays::ReplayOnce() {
  resumed_.assign(waiting_.rbegin(), waiting_.rend());
  waiting_.clear();
  std::vector<Visitor*> passes;
  ReplayOptions options = ReplayOptionsFor(selection_, false, false);
  for (const PassInReplay* const in_replay : resumed_) {
    passes.insert(passes.begin(), &in_replay->pass_);
    options.tensors = options.tensors || in_replay->needs_.tensors;
    options.first_seen = options.first_seen || in_replay->needs_.first_seen;
    options.modules = options.modules || in_replay->needs_.modules;
  }
  options.go_on = [this] {
    bool goes_on = false;
    for (const PassInReplay* const in_replay : resumed_) {
      const bool needs_more = GoesOn(in_replay->needs_);
      if (!needs_more && in_replay->needs_.stops_all) return false;
      goes_on = goes_on || needs_more;
    }
    return goes_on;
  };
  VisitorGroup all(passes);
  report_ = capture_.Replay(passes.size() == 1 ? *passes.front() : all, options);
  while (!resumed_.empty()) {
    const std::coroutine_handle<> task = resumed_.back()->task_;
    resumed_.pop_back();
    task.resume();
  }
}

void JointReplays::Forget(const PassInReplay& pass) {
  std::erase(waiting_, &pass);
  std::erase(resumed_, &pass);
}

}  // namespace memoir
