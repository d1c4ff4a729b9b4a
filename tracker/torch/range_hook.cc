#include "tracker/torch/range_hook.h"

#include <ATen/record_function.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <unordered_set>

#include "interpose/errno_keeper.h"
#include "interpose/ring.h"
#include "tracker/modules/direct_calls.h"
#include "tracker/modules/function_arguments.h"
#include "tracker/modules/module_calls.h"
#include "tracker/torch/backward_nodes.h"
#include "tracker/torch/callback_lock.h"
#include "tracker/torch/cuda_allocator_hook.h"
#include "tracker/torch/hooks.h"
#include "tracker/torch/operator_names.h"
#include "tracker/torch/range_record.h"
#include "tracker/torch/training_watch.h"

namespace memoir {
namespace {

RangeSource Source(at::RecordScope scope) {
  if (scope == at::RecordScope::BACKWARD_FUNCTION) return RangeSource::kBackward;
  if (scope == at::RecordScope::USER_SCOPE) return RangeSource::kUser;
  return RangeSource::kFunction;
}

// Under CallbackLock. Taken out and put in rather than disabled and enabled: of these, putting in alone asks nothing of
// what torch keeps for the calling thread.
constinit at::CallbackHandle range_hook = at::INVALID_CALLBACK_HANDLE;  // in torch's list, or not
constinit std::optional<RangeScopes> range_scopes;                      // none: a start that got no further
constinit std::atomic<pid_t> leaves_in{0};  // the process in which the hook is to take itself out

void Leave() noexcept {
  if (range_hook == at::INVALID_CALLBACK_HANDLE) return;
  try {
    at::removeCallback(range_hook);
    range_hook = at::INVALID_CALLBACK_HANDLE;
  } catch (...) {  // no memory: again with its next call
    leaves_in.store(getpid(), std::memory_order_relaxed);
  }
}

constinit std::atomic<void (*)()> watches_instead{nullptr};  // from when it leaves

// Not in a forked child, unless it was asked itself: another thread of its parent's may have held torch's lock.
void LeaveIfAsked(const at::RecordFunction& range) {
  if (leaves_in.load(std::memory_order_relaxed) != getpid()) return;
  const ErrnoKeeper errno_keeper;
  const auto begins = watches_instead.exchange(nullptr, std::memory_order_acq_rel);
  const bool trains = begins != nullptr && IsTraining(range);
  if (trains) begins();
  {
    const CallbackLock lock;
    if (leaves_in.exchange(0, std::memory_order_relaxed) == 0) return;  // it records, or another thread was first
    Leave();
  }
  if (begins != nullptr && !trains) WatchTraining(begins);
}

// Ranges are off, and torch calls the hook all the same: it does what threads of Memoir's own have left to the
// program's.
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

// torch takes what a callback throws, and goes on without a word.
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

// A range that opens a window is not seen by the hook above: torch chose its hooks before.
std::unique_ptr<at::ObserverContext> OnWatchedBegin(const at::RecordFunction& range) {
  const RangeWatcher* watcher = range_watcher.load(std::memory_order_acquire);
  return watcher != nullptr && watcher->begins(&range, range.name()) ? OnBegin(range) : nullptr;
}

void OnWatchedEnd(const at::RecordFunction& range, at::ObserverContext* context) {
  const RangeWatcher* watcher = range_watcher.load(std::memory_order_acquire);
  if (watcher == nullptr) return;
  OnEnd(range, context);  // passes over what it never saw, or has closed
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

void LetRangeHookLeave() {
  watches_instead.store(nullptr, std::memory_order_relaxed);
  leaves_in.store(getpid(), std::memory_order_relaxed);
}

bool WatchFromNextRange(void (*begins)()) {
  if (range_hook == at::INVALID_CALLBACK_HANDLE) return false;
  watches_instead.store(begins, std::memory_order_release);
  leaves_in.store(getpid(), std::memory_order_relaxed);
  return true;
}

// Put in and taken out, as the hook above and for its reason.
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
  } catch (...) {  // no memory: it is called for nothing
  }
}

void InstallRangeHook(RangeScopes scopes) {
  const CallbackLock lock;
  if (range_scopes != scopes) Leave();
  range_scopes = scopes;
}

}  // namespace memoir
