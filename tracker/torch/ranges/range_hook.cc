#include "tracker/torch/ranges/range_hook.h"

#include <ATen/record_function.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <unordered_set>

#include "interpose/ring/ring.h"
#include "interpose/system/errno_keeper.h"
#include "tracker/modules/direct_calls.h"
#include "tracker/modules/function_arguments.h"
#include "tracker/modules/module_calls.h"
#include "tracker/torch/cuda_look.h"
#include "tracker/torch/hooks.h"
#include "tracker/torch/ranges/backward_nodes.h"
#include "tracker/torch/ranges/callback_lock.h"
#include "tracker/torch/ranges/operator_names.h"
#include "tracker/torch/ranges/range_record.h"
#include "tracker/torch/ranges/training_watch.h"

namespace memoir {
namespace {

RangeSource Source(at::RecordScope scope) {
  if (scope == at::RecordScope::BACKWARD_FUNCTION) return RangeSource::kBackward;
  if (scope == at::RecordScope::USER_SCOPE) return RangeSource::kUser;
  return RangeSource::kFunction;
}

// The next two variables are changed under CallbackLock. To switch the hook off and on, Memoir removes it from torch's
// list and adds it again. torch could also disable and enable it in place, but Memoir's own threads switch it on, and
// only the function that adds a callback uses no thread-local variables of torch (hooks.h).
constinit at::CallbackHandle range_hook = at::INVALID_CALLBACK_HANDLE;  // valid while the hook is in torch's list
constinit std::optional<RangeScopes> range_scopes;                      // nullopt before InstallRangeHook is called
constinit std::atomic<pid_t> removes_hook_in{0};  // id of the process in which the hook removes itself; 0: no process

void RemoveHook() noexcept {
  if (range_hook == at::INVALID_CALLBACK_HANDLE) return;
  try {
    at::removeCallback(range_hook);
    range_hook = at::INVALID_CALLBACK_HANDLE;
  } catch (...) {  // no memory: the hook tries again when it is next called
    removes_hook_in.store(getpid(), std::memory_order_relaxed);
  }
}

// If not nullptr, a training watch (training_watch.h) that calls this function replaces the hook when the hook removes
// itself.
constinit std::atomic<void (*)()> watch_after_hook{nullptr};

// Removes the hook if this process has requested the removal. In a forked child, a request of the parent has no effect:
// a thread of the parent may have held torch's lock at the fork, and the child would wait for it for ever.
void RemoveHookIfRequested(const at::RecordFunction& range) {
  if (removes_hook_in.load(std::memory_order_relaxed) != getpid()) return;
  const ErrnoKeeper errno_keeper;
  const auto begins = watch_after_hook.exchange(nullptr, std::memory_order_acq_rel);
  const bool trains = begins != nullptr && IsTraining(range);
  if (trains) begins();
  {
    const CallbackLock lock;
    // 0: meanwhile another thread has removed the hook, or EnableRangeHook has withdrawn the request.
    if (removes_hook_in.exchange(0, std::memory_order_relaxed) == 0) return;
    RemoveHook();
  }
  if (begins != nullptr && !trains) WatchTraining(begins);
}

// Called when torch calls the hook while ranges are not recorded. Does the work that was requested from threads of the
// program (FindCudaBlocksLater, RemoveRangeHookSoon).
void WhileRangesAreOff(const at::RecordFunction& range) {
  if (CudaLookIsDue()) [[unlikely]]
    FindCudaBlocks();
  if (removes_hook_in.load(std::memory_order_relaxed) != 0) [[unlikely]]
    RemoveHookIfRequested(range);
}

void Begin(const at::RecordFunction& range) {
  RangeStart start{};
  start.source = Source(range.scope());
  if (start.source == RangeSource::kFunction) FollowDirectCalls();
  start.name = FindOperatorName(range);
  start.text = range.name();
  start.sequence = range.seqNr();
  const void* parameter = nullptr;
  FunctionArguments given;
  if (start.source == RangeSource::kFunction && start.name == 0) [[unlikely]] {
    ReadFunctionArguments(&given);
    start.given = &given;
  }
  if (start.source == RangeSource::kBackward) [[unlikely]] {
    start.forward_thread = static_cast<std::uint32_t>(range.forwardThreadId());
    start.sequence = ForwardSequence(range);
    parameter = AccumulatedParameter(range);
    start.accumulates = parameter != nullptr;
  }
  if (range.isAsync()) {
    RecordInstantRange(start, range.inputs());
  } else {
    BeginRange(&range, start, range.inputs());
  }
  if (parameter != nullptr) [[unlikely]]
    RecordGradientOf(parameter);
}

// If a callback throws, torch ignores the exception and prints nothing. So OnBegin and OnEnd catch exceptions, and
// count the lost range.
std::unique_ptr<at::ObserverContext> OnBegin(const at::RecordFunction& range) {
  try {
    if (RangeEpoch() != 0) {
      Begin(range);
    } else {
      WhileRangesAreOff(range);
    }
  } catch (...) {
    CountLostRange();
  }
  return nullptr;
}

void OnEnd(const at::RecordFunction& range, at::ObserverContext*) {
  try {
    EndRange(&range, c10::ArrayRef<const c10::IValue>(range.outputs().data(), range.outputs().size()));
  } catch (...) {
    CountLostRange();
  }
}

at::CallbackHandle AddCallback(RangeScopes scopes) {
  std::unordered_set<at::RecordScope, std::hash<at::RecordScope>> wanted = {at::RecordScope::BACKWARD_FUNCTION,
                                                                            at::RecordScope::USER_SCOPE};
  if (scopes == RangeScopes::kAll) wanted.insert(at::RecordScope::FUNCTION);
  return at::addGlobalCallback(
      at::RecordFunctionCallback(&OnBegin, &OnEnd).needsInputs(true).needsOutputs(true).scopes(wanted));
}

constinit std::atomic<const RangeWatcher*> range_watcher{nullptr};

// If RangeWatcher::begins switches on the recording of ranges, records the begin of this range. torch has already
// chosen the callbacks for this range, so it does not call OnBegin for it.
std::unique_ptr<at::ObserverContext> OnWatchedBegin(const at::RecordFunction& range) {
  const RangeWatcher* watcher = range_watcher.load(std::memory_order_acquire);
  return watcher != nullptr && watcher->begins(&range, range.name()) ? OnBegin(range) : nullptr;
}

void OnWatchedEnd(const at::RecordFunction& range, at::ObserverContext* context) {
  const RangeWatcher* watcher = range_watcher.load(std::memory_order_acquire);
  if (watcher == nullptr) return;
  OnEnd(range, context);  // does nothing if the begin is not recorded, or the end is recorded already
  watcher->ends(&range, range.name());
}

}  // namespace

void EnableRangeHook(bool enabled) {
  const CallbackLock lock;
  removes_hook_in.store(0, std::memory_order_relaxed);
  watch_after_hook.store(nullptr, std::memory_order_relaxed);
  if (!enabled) return RemoveHook();
  if (range_hook == at::INVALID_CALLBACK_HANDLE && range_scopes) range_hook = AddCallback(*range_scopes);
}

void RemoveRangeHookSoon() {
  watch_after_hook.store(nullptr, std::memory_order_relaxed);
  removes_hook_in.store(getpid(), std::memory_order_relaxed);
}

bool WatchFromNextRange(void (*begins)()) {
  if (range_hook == at::INVALID_CALLBACK_HANDLE) return false;
  watch_after_hook.store(begins, std::memory_order_release);
  removes_hook_in.store(getpid(), std::memory_order_relaxed);
  return true;
}

// Adds and removes the callback instead of enabling and disabling it, for the reason at `range_hook`.
void WatchUserRanges(const RangeWatcher* watcher) {
  const CallbackLock lock;
  static at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
  range_watcher.store(watcher, std::memory_order_release);
  if ((watcher != nullptr) == (handle != at::INVALID_CALLBACK_HANDLE)) return;
  if (watcher != nullptr) {
    handle = at::addGlobalCallback(
        at::RecordFunctionCallback(&OnWatchedBegin, &OnWatchedEnd).scopes({at::RecordScope::USER_SCOPE}));
    return;
  }
  try {
    at::removeCallback(handle);
    handle = at::INVALID_CALLBACK_HANDLE;
  } catch (...) {  // no memory: the callback stays, and does nothing
  }
}

void InstallRangeHook(RangeScopes scopes) {
  const CallbackLock lock;
  if (range_scopes != scopes) RemoveHook();
  range_scopes = scopes;
}

}  // namespace memoir
