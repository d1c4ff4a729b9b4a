#include "tracker/torch/range_hook.h"

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <unordered_set>

#include "interpose/ring.h"
#include "tracker/modules/direct_calls.h"
#include "tracker/modules/module_calls.h"
#include "tracker/torch/backward_nodes.h"
#include "tracker/torch/callback_lock.h"
#include "tracker/torch/hooks.h"
#include "tracker/torch/operator_names.h"
#include "tracker/torch/range_record.h"

namespace memoir {
namespace {

RangeSource Source(at::RecordScope scope) {
  if (scope == at::RecordScope::BACKWARD_FUNCTION) return RangeSource::kBackward;
  if (scope == at::RecordScope::USER_SCOPE) return RangeSource::kUser;
  return RangeSource::kFunction;
}

std::unique_ptr<at::ObserverContext> OnBegin(const at::RecordFunction& range) {
  if (RangeEpoch() == 0) return nullptr;
  RangeStart start{};
  start.source = Source(range.scope());
  if (start.source == RangeSource::kFunction) FollowDirectCalls();
  start.name = FindOperatorName(range);
  start.text = range.name();
  start.sequence = range.seqNr();
  const void* parameter = nullptr;
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
  return nullptr;
}

void OnEnd(const at::RecordFunction& range, at::ObserverContext*) {
  EndRange(&range, c10::ArrayRef<const c10::IValue>(range.outputs().data(), range.outputs().size()));
}

at::CallbackHandle AddCallback(RangeScopes scopes) {
  std::unordered_set<at::RecordScope, std::hash<at::RecordScope>> wanted = {at::RecordScope::BACKWARD_FUNCTION,
                                                                            at::RecordScope::USER_SCOPE};
  if (scopes == RangeScopes::kAll) wanted.insert(at::RecordScope::FUNCTION);
  return at::addGlobalCallback(
      at::RecordFunctionCallback(&OnBegin, &OnEnd).needsInputs(true).needsOutputs(true).scopes(wanted));
}

constinit at::CallbackHandle range_hook = at::INVALID_CALLBACK_HANDLE;
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
  if (range_hook == at::INVALID_CALLBACK_HANDLE) return;  // a start that got no further
  if (enabled) {
    at::reenableCallback(range_hook);
  } else {
    at::disableCallback(range_hook);
  }
}

void WatchUserRanges(const RangeWatcher* watcher) {
  const CallbackLock lock;
  static at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
  range_watcher.store(watcher, std::memory_order_release);
  if (handle == at::INVALID_CALLBACK_HANDLE) {
    if (watcher == nullptr) return;
    handle = at::addGlobalCallback(
        at::RecordFunctionCallback(&OnWatchedBegin, &OnWatchedEnd).scopes({at::RecordScope::USER_SCOPE}));
  } else if (watcher == nullptr) {
    at::disableCallback(handle);
  } else {
    at::reenableCallback(handle);
  }
}

void InstallRangeHook(RangeScopes scopes) {
  const CallbackLock lock;
  static RangeScopes installed = scopes;
  if (range_hook != at::INVALID_CALLBACK_HANDLE && installed == scopes) return;
  if (range_hook != at::INVALID_CALLBACK_HANDLE) at::removeCallback(range_hook);
  range_hook = AddCallback(scopes);
  installed = scopes;
}

}  // namespace memoir
