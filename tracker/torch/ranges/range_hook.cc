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

// Used under CallbackLock. The hook is removed and added again, not disabled and enabled. Of torch's four functions for
// this, only the one that adds a callback uses no thread-local state of torch.
constinit at::CallbackHandle range_hook = at::INVALID_CALLBACK_HANDLE;  // valid while the hook is in torch's list
constinit std::optional<RangeScopes> range_scopes;                      // nullopt if the start of a recording failed
constinit std::atomic<pid_t> leaves_in{0};  // process in which the hook must remove itself; 0: none

void Leave() noexcept {
  if (range_hook == at::INVALID_CALLBACK_HANDLE) return;
  try {
    at::removeCallback(range_hook);
    range_hook = at::INVALID_CALLBACK_HANDLE;
  } catch (...) {  // no memory: the hook tries again when it is next called
    leaves_in.store(getpid(), std::memory_order_relaxed);
  }
}

// The function that a training watch calls. If it is not nullptr, the watch replaces the hook when the hook is removed.
constinit std::atomic<void (*)()> watches_instead{nullptr};

// Removes the hook if this process has requested it. In a forked child, a request of the parent has no effect, because
// a thread of the parent may have held torch's lock at the fork.
void LeaveIfAsked(const at::RecordFunction& range) {
  if (leaves_in.load(std::memory_order_relaxed) != getpid()) return;
  const ErrnoKeeper errno_keeper;
  const auto begins = watches_instead.exchange(nullptr, std::memory_order_acq_rel);
  const bool trains = begins != nullptr && IsTraining(range);
  if (trains) begins();
  {
    const CallbackLock lock;
    // The hook is in use again, or another thread has removed it.
    if (leaves_in.exchange(0, std::memory_order_relaxed) == 0) return;
    Leave();
  }
  if (begins != nullptr && !trains) WatchTraining(begins);
}

// Called if torch calls the hook while ranges are not recorded. Does the work that Memoir's own threads have requested
// from threads of the program.
void WhileRangesAreOff(const at::RecordFunction& range) {
  if (CudaLookIsDue()) [[unlikely]]
    FindCudaBlocks();
  if (leaves_in.load(std::memory_order_relaxed) != 0) [[unlikely]]
    LeaveIfAsked(range);
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

// Counts exceptions, because torch silently ignores the exceptions of callbacks.
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

// Records the begin of a user range with which recording of ranges begins (RangeWatcher::begins returns true). torch
// chose the callbacks of this range before, so the hook above is not called for it.
std::unique_ptr<at::ObserverContext> OnWatchedBegin(const at::RecordFunction& range) {
  const RangeWatcher* watcher = range_watcher.load(std::memory_order_acquire);
  return watcher != nullptr && watcher->begins(&range, range.name()) ? OnBegin(range) : nullptr;
}

void OnWatchedEnd(const at::RecordFunction& range, at::ObserverContext* context) {
  const RangeWatcher* watcher = range_watcher.load(std::memory_order_acquire);
  if (watcher == nullptr) return;
  OnEnd(range, context);  // ignores a range whose begin is not recorded, or whose end is recorded already
  watcher->ends(&range, range.name());
}

}  // namespace

void EnableRangeHook(bool enabled) {
  const CallbackLock lock;
  leaves_in.store(0, std::memory_order_relaxed);
  watches_instead.store(nullptr, std::memory_order_relaxed);
  if (!enabled) return Leave();
  if (range_hook == at::INVALID_CALLBACK_HANDLE && range_scopes) range_hook = AddCallback(*range_scopes);
}

void RemoveRangeHookSoon() {
  watches_instead.store(nullptr, std::memory_order_relaxed);
  leaves_in.store(getpid(), std::memory_order_relaxed);
}

bool WatchFromNextRange(void (*begins)()) {
  if (range_hook == at::INVALID_CALLBACK_HANDLE) return false;
  watches_instead.store(begins, std::memory_order_release);
  leaves_in.store(getpid(), std::memory_order_relaxed);
  return true;
}

// Adds and removes the callback instead of enabling and disabling it, for the same reason as the hook above.
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
  if (range_scopes != scopes) Leave();
  range_scopes = scopes;
}

}  // namespace memoir
