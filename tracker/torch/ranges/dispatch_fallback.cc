#include "tracker/torch/ranges/dispatch_fallback.h"

#include <ATen/SequenceNumber.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "interpose/ring/ring.h"
#include "tracker/modules/direct_calls.h"
#include "tracker/torch/ranges/dispatch_key.h"
#include "tracker/torch/ranges/operator_names.h"
#include "tracker/torch/ranges/range_record.h"

namespace memoir {
namespace {

using Values = c10::ArrayRef<const c10::IValue>;

// Returns the topmost `count` values of the stack. These are the arguments of a boxed kernel before its call, and its
// results afterwards.
Values Top(const torch::jit::Stack& stack, std::size_t count) {
  return Values(stack.data() + stack.size() - count, count);
}

constinit std::atomic<bool> recording_operators{false};

bool AnyRequiresGrad(Values values) {
  for (const c10::IValue& value : values) {
    if (value.isTensor() && value.toTensor().requires_grad()) return true;
    if (!value.isTensorList()) continue;
    for (const c10::IValue& element : value.toListRef()) {
      if (element.toTensor().requires_grad()) return true;
    }
  }
  return false;
}

// The value of at::sequence_number::peek() when this thread last ran an operator for which autograd had made a node.
// peek() returns the number that the next node will get.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint64_t taken_sequence = 0;

// Returns the sequence number of the autograd node that autograd has just made for this operator; -1 if it made no
// node. Autograd makes the node before it calls the operator. If taken_sequence equals the next number, autograd has
// made no node since the previous operator.
std::int64_t SequenceOfNewNode(Values arguments) {
  const std::uint64_t next = at::sequence_number::peek();
  if (next == taken_sequence || !c10::GradMode::is_enabled() || !AnyRequiresGrad(arguments)) return -1;
  taken_sequence = next;
  return static_cast<std::int64_t>(next) - 1;
}

RangeStart StartOf(const c10::FunctionSchema& schema, Values arguments) {
  RangeStart start{};
  start.source = RangeSource::kDispatch;
  start.name = FindOperatorName(schema);
  start.text = schema.name().c_str();
  start.sequence = SequenceOfNewNode(arguments);
  // Marks an operator that runs while torch or the program has disabled all Python modes on this thread
  // (torch._C._DisableTorchDispatch, as in FSDP). A TorchDispatchMode, such as a memory tracker in Python, does not see
  // such an operator. A reader that shows only what such a mode sees omits the operator.
  if (start.sequence < 0 && c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::Python))
    start.sequence = kUnseenByModes;
  return start;
}

// Calls `work`, which is code of Memoir. If `work` throws, counts the range as lost, because the program's operator
// must not fail.
template <class Work>
void Guarded(const Work& work) {
  try {
    work();
  } catch (...) {
    CountLostRange();
  }
}

// Records an operator while it runs: the constructor records its begin, End its end and its results. If the operator's
// kernel throws, the destructor records the end, without results.
class alignas(8) RunningOperator {  // its address identifies the range
 public:
  RunningOperator(const c10::FunctionSchema& schema, Values arguments) {
    Guarded([&] {
      FollowDirectCalls();
      BeginRange(this, StartOf(schema, arguments), arguments);
    });
  }
  ~RunningOperator() {
    if (!ended_) End({});
  }
  RunningOperator(const RunningOperator&) = delete;
  RunningOperator& operator=(const RunningOperator&) = delete;

  void End(Values results) {
    Guarded([&] { EndRange(this, results); });
    ended_ = true;
  }

 private:
  bool ended_ = false;
};

// Returns true for the operators with which record_function begins and ends a user range. Such an operator is recorded
// as a range without duration. With a duration, it would overlap the user range: the user range begins inside of the
// first operator and ends inside of the second.
bool BeginsOrEndsUserRange(const c10::FunctionSchema& schema) { return schema.name().starts_with("profiler::"); }

// The fallback: torch calls it for each operator. Records the operator, and calls the kernel below the key.
void OnOperator(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard inside(kFallbackKey);
  const c10::DispatchKeySet below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kFallbackKey);
  if (RangeEpoch() == 0 || !recording_operators.load(std::memory_order_relaxed)) {
    return op.redispatchBoxed(below, stack);
  }
  const c10::FunctionSchema& schema = op.schema();
  const Values arguments = Top(*stack, schema.arguments().size());
  if (BeginsOrEndsUserRange(schema)) [[unlikely]] {
    Guarded([&] { RecordInstantRange(StartOf(schema, arguments), arguments); });
    return op.redispatchBoxed(below, stack);
  }
  RunningOperator running(schema, arguments);
  op.redispatchBoxed(below, stack);
  running.End(Top(*stack, schema.returns().size()));
}

// Returns true if kFallbackKey is not in use: no fallback and no operator is registered for it, and torch has computed
// no kernel of aten::add for it.
bool KeyIsFree() {
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  const std::optional<c10::OperatorHandle> add = dispatcher.findSchema({"aten::add", "Tensor"});
  return !dispatcher.hasBackendFallbackForDispatchKey(kFallbackKey) && add.has_value() &&
         !add->hasComputedKernelForDispatchKey(kFallbackKey) &&
         dispatcher.getRegistrationsForDispatchKey(kFallbackKey).empty();
}

}  // namespace

bool RegisterDispatchFallback(char* problem, std::size_t size) {
  // Never freed, because operators may run until the process ends.
  static c10::RegistrationHandleRAII* handle = nullptr;
  if (handle != nullptr) return true;
  if (!KeyIsFree()) {
    std::snprintf(problem, size, "another library has the dispatch key \"Fake\"");
    return false;
  }
  try {
    handle = new c10::RegistrationHandleRAII(c10::Dispatcher::singleton().registerFallback(
        kFallbackKey, c10::KernelFunction::makeFromBoxedFunction<&OnOperator>(), "memoir"));
  } catch (const c10::Error& failure) {  // for example because another library has registered the key first
    const std::string text = failure.what_without_backtrace();
    std::snprintf(problem, size, "torch refuses the dispatch key \"Fake\" (%s)",
                  text.substr(0, text.find('\n')).c_str());
    return false;
  }
  return true;
}

void RecordDispatchedOperators(bool on) {
  recording_operators.store(on, std::memory_order_relaxed);
  if (on) ShowOperatorsOfAllThreads();
}

}  // namespace memoir
