#include "tracker/torch/ranges/dispatch_key.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <atomic>
#include <cstdio>

#include "interpose/imports/thread_start.h"

namespace memoir {
namespace {

constinit std::atomic<bool> shown{false};  // true: each thread includes kFallbackKey

}  // namespace

void ShowOperatorsOfAllThreads() {
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
  if (shown.load(std::memory_order_relaxed)) c10::impl::tls_set_dispatch_key_included(kFallbackKey, true);
}

}  // namespace memoir
