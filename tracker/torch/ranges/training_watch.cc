#include "tracker/torch/ranges/training_watch.h"

#include <ATen/record_function.h>

#include <atomic>
#include <cstring>
#include <memory>

#include "interpose/system/errno_keeper.h"
#include "tracker/torch/ranges/callback_lock.h"

namespace memoir {
namespace {

constinit std::atomic<void (*)()> training_begins{nullptr};

std::unique_ptr<at::ObserverContext> OnBegin(const at::RecordFunction& range) {
  const ErrnoKeeper errno_keeper;
  const auto begins = training_begins.load(std::memory_order_acquire);
  if (begins != nullptr && IsTraining(range)) begins();
  return nullptr;
}

}  // namespace

bool IsTraining(const at::RecordFunction& range) {
  constexpr char kOptimizer[] = "Optimizer.step#";
  return range.scope() == at::RecordScope::BACKWARD_FUNCTION ||
         std::strncmp(range.name(), kOptimizer, sizeof kOptimizer - 1) == 0;
}

void WatchTraining(void (*begins)()) {
  const CallbackLock lock;
  static at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
  const bool was_on = training_begins.exchange(begins, std::memory_order_acq_rel) != nullptr;
  if (handle == at::INVALID_CALLBACK_HANDLE) {
    if (begins == nullptr) return;
    handle = at::addGlobalCallback(
        at::RecordFunctionCallback(&OnBegin).scopes({at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
  } else if (begins == nullptr) {
    at::disableCallback(handle);
  } else if (!was_on) {
    at::reenableCallback(handle);
  }
}

}  // namespace memoir
