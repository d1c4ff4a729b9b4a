#include "tools/analyze/pass/joint_replays.h"

#include <algorithm>
#include <utility>

#include "tools/analyze/pass/visitor_group.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

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
  bool may_stop = true;
  for (const PassInReplay* const one : resumed_) {
    passes.insert(passes.begin(), &one->pass_);
    options.tensors = options.tensors || one->needs_.tensors;
    options.first_seen = options.first_seen || one->needs_.first_seen;
    options.modules = options.modules || one->needs_.modules;
    may_stop = may_stop && one->needs_.go_on;
  }
  if (may_stop) {
    options.go_on = [this] {
      return std::ranges::any_of(resumed_, [](const PassInReplay* one) { return one->needs_.go_on(); });
    };
  }
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
