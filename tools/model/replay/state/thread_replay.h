// One thread in a replay: its open ranges, and its runs that are read but not visited yet.
#ifndef TOOLS_MODEL_REPLAY_STATE_THREAD_REPLAY_H_
#define TOOLS_MODEL_REPLAY_STATE_THREAD_REPLAY_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "tools/model/event/event.h"
#include "tools/model/parts/chunk_source.h"
#include "tools/model/replay/state/forward_operators.h"

namespace memoir {

// A run, and the position of the replay in it.
struct RunCursor {
  RunCursor(std::shared_ptr<Chunk> in_chunk, const Run& a_run)
      : chunk(std::move(in_chunk)), run(a_run), tick(a_run.first_tick + run.tick_delta.Next()) {}

  std::shared_ptr<Chunk> chunk;
  Run run;
  bool started = false;
  bool was_shown = false;          // true: earlier runs contained all records of this run
  std::uint64_t lost_records = 0;  // records that are missing between the previous run and this run
  std::size_t index = 0;           // index of the next event
  Tick tick;                       // tick of the next event
  // Sums of the deltas in the columns of these names, up to the next event.
  std::uint64_t address = 0;
  std::uint64_t serial = 0;
  std::uint64_t stream = 0;
  std::uint64_t correlation = 0;
  std::int64_t sequence = 0;

  v1::EventKind kind() const { return static_cast<v1::EventKind>(run.kind[index]); }
  bool Advance() {  // false: there is no further event
    if (++index == run.kind.size()) return false;
    tick += run.tick_delta.Next();
    return true;
  }
};

// A module call that is still open.
struct OpenModule {
  ModuleId module;
  std::size_t depth = 0;  // number of ranges that were open at the call; later ranges are inside of the module
  bool recompute = false;
};

// The module and the phase of a thread (docs/event_schema.md, "Modules").
struct ModuleContext {
  ModuleId module;
  Phase phase = Phase::kOther;
};

// The stacks of an event.
struct Callstacks {
  StackId own;  // Python stack of the thread, or of the thread for which it works
  // In an autograd node: the stack of the node's forward operator. Invalid outside of autograd nodes, and if the node
  // runs Python code that torch.compile did not generate.
  StackId forward;
};

class ThreadReplay {
 public:
  static constexpr std::size_t kMaxDepth = 1u << 16;  // the ring counts ranges in 16 bits

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

  // Opens a range and derives its nesting from the open ranges. If no range is open, the caller must set `base` and
  // `user_name`. If kMaxDepth ranges are open, only counts the new range and returns nullptr.
  const OpenRange* Push(const OpenRange& begun);
  // Call this function at the end of a range. Returns false if there is no open range to pop: no range is open, or the
  // range that ends was only counted (kMaxDepth). In the second case, subtracts it from that count.
  bool TakeRangeEnd();
  void Pop() {
    stack_.pop_back();
    // The ends of these module calls were lost.
    while (!modules_.empty() && modules_.back().depth > stack_.size()) modules_.pop_back();
  }
  OpenRange* range_at(std::int32_t depth) { return depth < 0 ? nullptr : &stack_[static_cast<std::size_t>(depth)]; }

  std::vector<OpenModule>& modules() { return modules_; }  // outermost first
  const std::vector<OpenModule>& modules() const { return modules_; }
  ForwardOperators& forward_operators() { return forward_operators_; }

  bool optimizer_calls_model = false;  // a module was called inside of an optimizer's range
  StackId callstack;                   // Python stack
  // On a thread of autograd's engine: the thread of the forward operator of the newest autograd node.
  ThreadId forward_thread;
  std::deque<RunCursor> runs;
  // The next four members describe the state after all runs that are read, including runs that are not visited yet.
  std::uint64_t next_record = 0;  // index of the record after the last counted record (RecordCounts)
  // Index of the record after the last run. Pattern rows contain the records from run_end to next_record.
  std::uint64_t run_end = 0;
  bool next_record_known = false;
  bool run_end_known = false;
  Tick NextTick() const { return runs.front().tick; }

 private:
  static void InheritRoles(OpenRange& range, const OpenRange& around) {
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
  std::uint64_t beyond_ = 0;  // number of open ranges that were only counted
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
  if (around > 0) InheritRoles(range, stack_[around - 1]);
  const auto depth = static_cast<std::int32_t>(around);
  range.depth = static_cast<std::uint32_t>(depth);
  if (range.role.backward) range.innermost_backward = depth;
  if (range.role.optimizer) range.innermost_optimizer = depth;
  // Optimizers compute without gradients. An operator with a sequence number inside of an optimizer belongs to the
  // optimizer's closure, which calls the model.
  if (optimizer_calls_model && range.source == RangeSource::kFunction && range.sequence >= 0)
    range.innermost_optimizer = -1;
  if (range.role.region) range.region = range.name;
  if (range.is_operator && range.outermost_operator < 0) range.outermost_operator = depth;
  if (IsUserRange(range.source)) {
    range.innermost_user = depth;
    range.user_name = range.name;
  }
  return &range;
}

inline bool ThreadReplay::TakeRangeEnd() {
  if (beyond_ > 0) {
    --beyond_;
    return false;
  }
  return !stack_.empty();
}

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_THREAD_REPLAY_H_
