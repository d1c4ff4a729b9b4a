#include "tracker/torch/dispatch_fallback.h"

#include <ATen/SequenceNumber.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "interpose/ring.h"
#include "interpose/thread_start.h"
#include "tracker/modules/direct_calls.h"
#include "tracker/torch/operator_names.h"
#include "tracker/torch/range_record.h"

namespace memoir {
namespace {

constexpr c10::DispatchKey kKey = c10::DispatchKey::Fake;

using Values = c10::ArrayRef<const c10::IValue>;

// The topmost `count` values, where a boxed kernel finds its arguments and leaves its results.
Values Top(const torch::jit::Stack& stack, std::size_t count) {
  return Values(stack.data() + stack.size() - count, count);
}

constinit std::atomic<bool> recording_operators{false};
constinit std::atomic<bool> shown{false};  // the key is included on every new thread

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

// The number that an operator of this thread took last.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint64_t taken_sequence = 0;

// The sequence number of the autograd node that was just made for this operator, -1 when none was: autograd, which has
// already been here, makes it first and calls the operator below then. A number that an earlier operator took is no
// other one's: that operator had the node.
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
  // What torch, or a program, puts all Python modes aside for: torch._C._DisableTorchDispatch, as in FSDP.
  if (start.sequence < 0 && c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::Python))
    start.sequence = kUnseenByModes;
  return start;
}

// Whatever fails in Memoir is no failure of the operator's: it is counted then, and not recorded.
template <class Work>
void Guarded(const Work& work) {
  try {
    work();
  } catch (...) {
    CountLostRange();
  }
}

// One operator while it runs. Ended by its destructor when the kernel throws, then without results.
class alignas(8) RunningOperator {  // its address is the range's
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

// The operators behind record_function: the range that one of them begins outlives it.
bool BeginsOrEndsUserRange(const c10::FunctionSchema& schema) { return schema.name().starts_with("profiler::"); }

void OnOperator(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard inside(kKey);
  const c10::DispatchKeySet below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey);
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

bool KeyIsFree() {
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  const std::optional<c10::OperatorHandle> add = dispatcher.findSchema({"aten::add", "Tensor"});
  return !dispatcher.hasBackendFallbackForDispatchKey(kKey) && add.has_value() &&
         !add->hasComputedKernelForDispatchKey(kKey) && dispatcher.getRegistrationsForDispatchKey(kKey).empty();
}

}  // namespace

bool RegisterDispatchFallback(char* problem, std::size_t size) {
  // Leaked on purpose: operators run until the very end.
  static c10::RegistrationHandleRAII* handle = nullptr;
  if (handle != nullptr) return true;
  if (!KeyIsFree()) {
    std::snprintf(problem, size, "another library has the dispatch key \"Fake\"");
    return false;
  }
  try {
    handle = new c10::RegistrationHandleRAII(c10::Dispatcher::singleton().registerFallback(
        kKey, c10::KernelFunction::makeFromBoxedFunction<&OnOperator>(), "memoir"));
  } catch (const c10::Error& failure) {  // such as another thread's library that was quicker
    const std::string text = failure.what_without_backtrace();
    std::snprintf(problem, size, "torch refuses the dispatch key \"Fake\" (%s)",
                  text.substr(0, text.find('\n')).c_str());
    return false;
  }
  return true;
}

void RecordDispatchedOperators(bool on) {
  recording_operators.store(on, std::memory_order_relaxed);
  if (!on) return;
  if (!shown.exchange(true, std::memory_order_relaxed) && !RunAtThreadStart(&ShowOperatorsOfThisThread)) {
    std::fputs(
        "memoir: ops=dispatch: no permission to change the slots by which threads are started: operators of other "
        "threads "
        "are recorded from their first range or allocation on\n",
        stderr);
  }
  ShowOperatorsOfThisThread();
}

void ShowOperatorsOfThisThread() {
  if (shown.load(std::memory_order_relaxed)) c10::impl::tls_set_dispatch_key_included(kKey, true);
}

}  // namespace memoir
