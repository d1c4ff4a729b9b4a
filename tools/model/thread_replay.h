// One thread in a replay: its open ranges, and its runs that are read but not shown yet.
#ifndef TOOLS_MODEL_THREAD_REPLAY_H_
#define TOOLS_MODEL_THREAD_REPLAY_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "tools/model/chunk_source.h"
#include "tools/model/event.h"
#include "tools/model/forward_operators.h"

namespace memoir {

// A run and how far it has been walked.
struct RunCursor {
  RunCursor(std::shared_ptr<Chunk> in_chunk, const Run& a_run)
      : chunk(std::move(in_chunk)),
        run(a_run),
        has_device(!a_run.device.empty()),
        no_pool_graph(a_run.pool_graph.empty()),
        no_pool_user(a_run.pool_user.empty()),
        has_limit(!a_run.device_limit.empty()),
        has_holds_names(!a_run.holds_name.empty()),
        has_result(!a_run.call_result.empty()),
        has_copy_kind(!a_run.copy_kind.empty()),
        has_graph(!a_run.graph.empty()),
        has_graph_exec(!a_run.graph_exec.empty()),
        has_correlation(!a_run.correlation_delta.empty()),
        tick(a_run.first_tick + run.tick_delta.Next()) {}

  std::shared_ptr<Chunk> chunk;
  Run run;
  bool has_device;
  bool no_pool_graph;
  bool no_pool_user;
  bool has_limit;
  bool has_holds_names;
  bool has_result;
  bool has_copy_kind;
  bool has_graph;
  bool has_graph_exec;
  bool has_correlation;
  bool started = false;
  bool was_shown = false;          // all of its records, by runs before
  std::uint64_t lost_records = 0;  // between the run before and this one
  std::size_t index = 0;           // of the next event
  Tick tick;                       // of the next event
  std::uint64_t address = 0;
  std::uint64_t serial = 0;
  std::uint64_t stream = 0;
  std::uint64_t correlation = 0;
  std::int64_t sequence = 0;

  v1::EventKind kind() const { return static_cast<v1::EventKind>(run.kind[index]); }
  bool Advance() {  // false: that was the last
    if (++index == run.kind.size()) return false;
    tick += run.tick_delta.Next();
    return true;
  }
};

// A module that was called on a thread and has not returned.
struct OpenModule {
  ModuleId module;
  std::size_t depth = 0;  // ranges open when it was called: those are around it, later ones inside
  bool recompute = false;
};

// Where a thread is: docs/event_schema.md, "Modules".
struct ModuleContext {
  ModuleId module;
  Phase phase = Phase::kOther;
};

struct Callstacks {
  StackId own;
  StackId forward;  // where an autograd node runs, and no Python code inside it but such as torch.compile generated
};

class ThreadReplay {
 public:
  static constexpr std::size_t kMaxDepth = 1u << 16;  // the ring counts them in 16 bits

  explicit ThreadReplay(ThreadId id) : id_(id) {}
  ThreadId id() const { return id_; }

  const RangeStack& stack() const { return stack_; }
  const OpenRange* innermost() const { return stack_.empty() ? nullptr : &stack_.back(); }
  const OpenRange* outermost_operator() const {
    return stack_.empty() || stack_.back().outermost_operator < 0
               ? nullptr
               : &stack_[static_cast<std::size_t>(stack_.back().outermost_operator)];
  }
  std::uint64_t operator_call() const {
    const OpenRange* range = outermost_operator();
    return range == nullptr ? 0 : range->call;
  }

  // Nesting is derived here; of a range with nothing around it on its thread `base` and `user_name` are given. Returns
  // nullptr beyond kMaxDepth: the range is only counted.
  const OpenRange* Push(const OpenRange& begun);
  // False when its begin was beyond kMaxDepth, or is not known: there is nothing to end.
  bool CanPop();
  void Pop() {
    stack_.pop_back();
    while (!modules_.empty() && modules_.back().depth > stack_.size()) modules_.pop_back();  // their end was lost
  }
  OpenRange* range_at(std::int32_t depth) { return depth < 0 ? nullptr : &stack_[static_cast<std::size_t>(depth)]; }

  std::vector<OpenModule>& modules() { return modules_; }  // outermost first
  const std::vector<OpenModule>& modules() const { return modules_; }
  ForwardOperators& forward_operators() { return forward_operators_; }

  StackId callstack;  // of Python
  // Of one on which autograd's engine runs: the thread whose forward pass made the node that it ran last.
  ThreadId forward_thread;
  std::deque<RunCursor> runs;
  // As far as runs are read, shown or not.
  std::uint64_t next_record = 0;
  std::uint64_t run_end = 0;  // behind its last run; the records up to next_record are in rows
  bool next_record_known = false;
  bool run_end_known = false;
  Tick NextTick() const { return runs.front().tick; }

 private:
  static void StandInside(OpenRange& range, const OpenRange& around) {
    range.outermost_operator = around.outermost_operator;
    range.innermost_user = around.innermost_user;
    range.innermost_backward = around.innermost_backward;
    range.innermost_optimizer = around.innermost_optimizer;
    range.user_name = around.user_name;
    range.region = around.region;
    range.role.compiled = range.role.compiled || around.role.compiled;
    if (!around.role.compiling) return;
    range.role.compiling = true;
    range.role.tuning = range.role.tuning || around.role.tuning;
  }

  ThreadId id_;
  RangeStack stack_;
  std::uint64_t beyond_ = 0;
  std::vector<OpenModule> modules_;
  ForwardOperators forward_operators_;
};

inline const OpenRange* ThreadReplay::Push(const OpenRange& begun) {
  const std::size_t around = stack_.size();
  if (around >= kMaxDepth) {
    ++beyond_;
    return nullptr;
  }
  stack_.push_back(begun);
  OpenRange& range = stack_.back();
  if (around > 0) StandInside(range, stack_[around - 1]);
  const auto depth = static_cast<std::int32_t>(around);
  range.depth = static_cast<std::uint32_t>(depth);
  if (range.role.backward) range.innermost_backward = depth;
  if (range.role.optimizer) range.innermost_optimizer = depth;
  if (range.role.region) range.region = range.name;
  if (range.is_operator && range.outermost_operator < 0) range.outermost_operator = depth;
  if (IsOfUser(range.source)) {
    range.innermost_user = depth;
    range.user_name = range.name;
  }
  return &range;
}

inline bool ThreadReplay::CanPop() {
  if (beyond_ > 0) {
    --beyond_;
    return false;
  }
  return !stack_.empty();
}

}  // namespace memoir

#endif  // TOOLS_MODEL_THREAD_REPLAY_H_
