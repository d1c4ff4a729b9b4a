#include "interpose/thread_start.h"

#include <pthread.h>
#include <stdlib.h>

#include <atomic>
#include <cstdint>

#include "interpose/import_slots.h"

namespace memoir {
namespace {

using Body = void* (*)(void*);

struct NewThread {
  Body body;
  void* argument;
};

constinit std::atomic<void (*)()> at_start{nullptr};
constinit std::atomic<std::uint64_t> objects{0};  // loaded when their calls were redirected last
constinit std::atomic<std::size_t> not_redirected{0};

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

// Looking takes a lock of the loader's, which a child would inherit locked if the process forked meanwhile: forks wait.
constinit pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;
void LockLooking() { pthread_mutex_lock(&looking); }
void UnlockLooking() { pthread_mutex_unlock(&looking); }

void Look() {
  const std::uint64_t now = ObjectsLoadedSoFar();
  if (objects.exchange(now, std::memory_order_relaxed) == now) return;
  std::size_t refused = 0;
  RedirectImports("pthread_create", reinterpret_cast<const void*>(&pthread_create),
                  reinterpret_cast<void*>(&CreateThread), &refused);
  not_redirected.store(refused, std::memory_order_relaxed);
}

}  // namespace

bool RunAtThreadStart(void (*function)()) {
  static const bool forks_wait = pthread_atfork(&LockLooking, &UnlockLooking, &UnlockLooking) == 0;
  static_cast<void>(forks_wait);
  at_start.store(function, std::memory_order_release);
  RunAtThreadStartOfLateObjects();
  return not_redirected.load(std::memory_order_relaxed) == 0;
}

void RunAtThreadStartOfLateObjects() {
  if (at_start.load(std::memory_order_acquire) == nullptr) return;
  LockLooking();
  Look();
  UnlockLooking();
}

}  // namespace memoir
