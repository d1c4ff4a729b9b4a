#include "interpose/thread_start.h"

#include <pthread.h>
#include <stdlib.h>

#include <atomic>

#include "interpose/import_slots.h"

namespace memoir {
namespace {

using Body = void* (*)(void*);

struct NewThread {
  Body body;
  void* argument;
};

constinit std::atomic<void (*)()> at_start{nullptr};

void* RunThread(void* given) {
  const NewThread thread = *static_cast<NewThread*>(given);
  free(given);
  at_start.load(std::memory_order_acquire)();
  return thread.body(thread.argument);
}

int CreateThread(pthread_t* made, const pthread_attr_t* attributes, Body body, void* argument) {
  auto* thread = static_cast<NewThread*>(malloc(sizeof(NewThread)));
  if (thread == nullptr) return pthread_create(made, attributes, body, argument);
  *thread = {body, argument};
  const int failed = pthread_create(made, attributes, &RunThread, thread);
  if (failed != 0) free(thread);
  return failed;
}

}  // namespace

bool RunAtThreadStart(void (*function)()) {
  const bool first = at_start.exchange(function, std::memory_order_acq_rel) == nullptr;
  static constinit std::size_t redirected = 0;
  if (first) {
    redirected = RedirectImports("pthread_create", reinterpret_cast<const void*>(&pthread_create),
                                 reinterpret_cast<void*>(&CreateThread));
  }
  return redirected > 0;
}

}  // namespace memoir
