#include "interpose/imports/thread_start.h"

#include <pthread.h>
#include <stdlib.h>

#include <atomic>
#include <cstdint>

#include "interpose/imports/import_slots.h"
#include "interpose/imports/loader_list_guard.h"

namespace memoir {
namespace {

using Body = void* (*)(void*);

// The function that the program passed to pthread_create, and its argument.
struct NewThread {
  Body body;
  void* argument;
};

constinit std::atomic<void (*)()> at_start{nullptr};   // the function that each new thread runs first
constinit std::atomic<std::size_t> not_redirected{0};  // import slots whose page could not be made writable

// Runs on each new thread in place of the program's function.
void* RunThread(void* given) {
  const NewThread thread = *static_cast<NewThread*>(given);
  free(given);
  at_start.load(std::memory_order_acquire)();
  return thread.body(thread.argument);
}

// Called in place of pthread_create.
int CreateThread(pthread_t* made, const pthread_attr_t* attributes, Body body, void* argument) {
  auto* thread = static_cast<NewThread*>(malloc(sizeof(NewThread)));
  if (thread == nullptr) return pthread_create(made, attributes, body, argument);
  *thread = {body, argument};
  const int failed = pthread_create(made, attributes, &RunThread, thread);
  if (failed != 0) free(thread);
  return failed;
}

// Decides when RedirectCalls examines the loaded objects again. Used only while holding a LoaderListGuard.
struct Examinations {
  std::uint64_t objects;            // count of loaded objects when the calls of all of them were redirected
  std::uint64_t objects_last_time;  // count of loaded objects at the last call of RedirectCalls
  unsigned pause;                   // number of calls of RedirectCalls without an examination, between two examinations
  unsigned left;                    // number of these calls until the next examination
};
constinit Examinations examinations{};

// Returns true if RedirectCalls has to examine the loaded objects now. `objects`: count of loaded objects. The loader
// adds an object to its list before it fills the object's slots, so RedirectCalls must examine the object again later.
// The intervals grow, because the loader may never finish an object.
bool IsExaminationDue(std::uint64_t objects) {
  constexpr unsigned kLongestPause = 1023;
  if (objects == examinations.objects) return false;
  if (objects != examinations.objects_last_time) {
    examinations.objects_last_time = objects;
    examinations.pause = examinations.left = 0;
  }
  if (examinations.left > 0) {
    --examinations.left;
    return false;
  }
  examinations.left = examinations.pause;
  if (examinations.pause < kLongestPause) examinations.pause = examinations.pause * 2 + 1;
  return true;
}

// Redirects the calls of pthread_create in all loaded objects, if an examination of the objects is due.
void RedirectCalls() {
  const std::uint64_t objects = ObjectsLoadedSoFar();
  if (!IsExaminationDue(objects)) return;
  std::size_t refused = 0, loading = 0;
  RedirectImports("pthread_create", reinterpret_cast<const void*>(&pthread_create),
                  reinterpret_cast<void*>(&CreateThread), &refused, &loading);
  not_redirected.store(refused, std::memory_order_relaxed);
  if (loading == 0) examinations.objects = objects;
}

}  // namespace

bool RunAtThreadStart(void (*function)()) {
  RegisterLoaderForkWait();
  at_start.store(function, std::memory_order_release);
  RunAtThreadStartOfLateObjects();
  return not_redirected.load(std::memory_order_relaxed) == 0;
}

void RunAtThreadStartOfLateObjects() {
  if (at_start.load(std::memory_order_acquire) == nullptr) return;
  const LoaderListGuard turn(LoaderListGuard::Patience::kWaits);
  RedirectCalls();
}

}  // namespace memoir
