// A task is a coroutine: a function that can wait. A task runs when it is called, until it waits for the first time. So
// if a task starts two other tasks and then waits for their results, these two wait for the same replay
// (joint_replays.h).
//
//     Task<int> Sum(JointReplays& replays) {
//       Task<int> one = Count(replays, "one");  // both wait for the same replay
//       Task<int> two = Count(replays, "two");
//       co_return co_await one + co_await two;
//     }
//
// All tasks run on one thread. The arguments that a task takes by reference must outlive it.
#ifndef TOOLS_ANALYZE_PASS_TASK_H_
#define TOOLS_ANALYZE_PASS_TASK_H_

#include <coroutine>
#include <optional>
#include <utility>
#include <vector>

namespace memoir {

template <class Result>
class [[nodiscard]] Task {
 public:
  class promise_type;  // NOLINT(readability-identifier-naming): the language prescribes this name
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  // Ends the coroutine, even if it still waits.
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool done() const { return handle_.done(); }
  Result& result() const { return *handle_.promise().result_; }  // only if done()

  struct Wait {
    Handle task;
    bool await_ready() const { return task.done(); }
    void await_suspend(std::coroutine_handle<> waiting) const { task.promise().waiting_.push_back(waiting); }
    Result& await_resume() const { return *task.promise().result_; }
  };
  struct WaitForValue {
    Wait wait;
    bool await_ready() const { return wait.await_ready(); }
    void await_suspend(std::coroutine_handle<> waiting) const { wait.await_suspend(waiting); }
    Result await_resume() const { return std::move(wait.await_resume()); }
  };
  // `co_await task` waits until the task is done, and returns a reference to its result. Several tasks may wait for one
  // task. `co_await Count(replays)` returns the result itself, because the temporary task is destroyed at the end of
  // the expression.
  Wait operator co_await() const& { return {handle_}; }
  WaitForValue operator co_await() && { return {{handle_}}; }

 private:
  explicit Task(Handle handle) : handle_(handle) {}

  Handle handle_;
};

template <class Result>
class Task<Result>::promise_type {
 public:
  // Resumes the tasks that wait for this task. Each of them may destroy this task, so the list is moved out of it
  // first.
  struct AtEnd {
    bool await_ready() const noexcept { return false; }
    void await_suspend(Handle ended) const noexcept {
      for (const std::coroutine_handle<> waiting : std::exchange(ended.promise().waiting_, {})) waiting.resume();
    }
    void await_resume() const noexcept {}
  };

  Task get_return_object() { return Task(Handle::from_promise(*this)); }
  std::suspend_never initial_suspend() const noexcept { return {}; }
  AtEnd final_suspend() const noexcept { return {}; }
  template <class Value>
  void return_value(Value&& value) {
    result_.emplace(std::forward<Value>(value));
  }
  void unhandled_exception() { throw; }

 private:
  friend class Task;

  std::optional<Result> result_;
  std::vector<std::coroutine_handle<>> waiting_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_TASK_H_
