// Lets the analyses of one answer share replays. An analysis is a task (task.h). A task waits once for each of its
// passes. When all tasks wait, one replay runs the passes of all of them. So there are as many replays as the task with
// the most passes has passes. Decoded chunks are kept for later replays, up to a bound.
//
//     Task<absl::StatusOr<Total>> FindTotal(JointReplays& replays) {
//       PeakPass peak;
//       co_await replays.Next(peak);
//       TotalPass total(peak.instant());
//       const absl::StatusOr<ReplayReport> report = co_await replays.Next(total, {.modules = true});
//       if (!report.ok()) co_return report.status();
//       co_return total.Take();
//     }
//
//     JointReplays replays(capture, selection);
//     absl::StatusOr<Total> total = replays.Finish(FindTotal(replays));
#ifndef TOOLS_ANALYZE_PASS_JOINT_REPLAYS_H_
#define TOOLS_ANALYZE_PASS_JOINT_REPLAYS_H_

#include <coroutine>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"

namespace memoir {

// The fields of ReplayOptions that a pass chooses.
struct ReplayNeeds {
  bool tensors = false;
  bool first_seen = false;
  bool modules = false;
  // Returns false when the pass needs no more events. A replay stops early only if all its passes need no more events,
  // or if a pass with `stops_all` needs no more events. Empty: the pass needs all events.
  std::function<bool()> go_on = {};
  bool stops_all = false;  // true: if this pass stops, the replay ends, and the caller ignores the other passes
};

class JointReplays {
 public:
  // Each replay visits the processes of the selected rank, and reports its progress to Selection::progress.
  JointReplays(const Capture& capture, const Selection& selection);
  JointReplays(const JointReplays&) = delete;
  JointReplays& operator=(const JointReplays&) = delete;

  const Capture& capture() const { return capture_; }
  const Selection& selection() const { return selection_; }

  // The result of Next(). A task waits for the next replay by `co_await` of this object. If the task is destroyed while
  // it waits, this object is destroyed too, and the next replay omits the pass.
  class PassInReplay {
   public:
    PassInReplay(JointReplays& replays, Visitor& pass, ReplayNeeds needs)
        : replays_(replays), pass_(pass), needs_(std::move(needs)) {}
    PassInReplay(const PassInReplay&) = delete;
    PassInReplay& operator=(const PassInReplay&) = delete;
    ~PassInReplay() { replays_.Forget(*this); }

    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> task) {
      task_ = task;
      replays_.waiting_.push_back(this);
    }
    absl::StatusOr<ReplayReport> await_resume() const { return replays_.report_; }

   private:
    friend class JointReplays;

    JointReplays& replays_;
    Visitor& pass_;
    ReplayNeeds needs_;
    std::coroutine_handle<> task_;
  };
  // `co_await Next(pass, needs)` runs the pass in the next replay, and returns the report of that replay. `pass` must
  // outlive the wait.
  PassInReplay Next(Visitor& pass, ReplayNeeds needs = {}) { return {*this, pass, std::move(needs)}; }

  // Returns a task that does the same as Next(), for a caller that is not a coroutine: `Finish(Run(pass, needs))`.
  Task<absl::StatusOr<ReplayReport>> Run(Visitor& pass, ReplayNeeds needs);

  // Replays the capture until the task is done. Other waiting tasks take part in the same replays.
  template <class Result>
  Result& Finish(const Task<Result>& task) {
    while (!task.done()) ReplayOnce();
    return task.result();
  }
  template <class Result>
  Result Finish(Task<Result>&& task) {
    return std::move(Finish(task));
  }

 private:
  void ReplayOnce();
  void Forget(const PassInReplay& pass);

  const Capture& capture_;
  const Capture::SharedDecoding shared_;
  const Selection& selection_;
  std::vector<PassInReplay*> waiting_;  // passes that wait for the next replay
  // Passes of the newest replay whose tasks are not resumed yet, in reverse order.
  std::vector<PassInReplay*> resumed_;
  absl::StatusOr<ReplayReport> report_;  // report of the newest replay
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_JOINT_REPLAYS_H_
