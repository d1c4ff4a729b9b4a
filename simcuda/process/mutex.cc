#include "simcuda/process/mutex.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

namespace memoir::simcuda {

constinit std::atomic<unsigned> ForkGate::word_{0};
constinit thread_local unsigned ForkGate::depth_ = 0;

namespace {

constinit pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

void Wait(const std::atomic<unsigned>& word, unsigned seen) {
  const int error = errno;
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
  errno = error;
}

}  // namespace

void ForkGate::EnterOnceOpen() {
  do {
    if ((word_.fetch_sub(1, std::memory_order_release) & kClosedMask) != 0) WakeAll();
    for (unsigned seen = word_.load(); (seen & kClosedMask) != 0; seen = word_.load()) Wait(word_, seen);
  } while ((word_.fetch_add(1, std::memory_order_acquire) & kClosedMask) != 0);
}

void ForkGate::WakeAll() {
  const int error = errno;
  syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  errno = error;
}

// If the forking thread itself is inside the gate (it forks in a signal handler), it does not wait for itself.
void ForkGate::Close() {
  pthread_mutex_lock(&loading);
  const unsigned own = depth_ > 0 ? 1 : 0;
  for (unsigned seen = word_.fetch_add(kClosed) + kClosed; (seen & ~kClosedMask) != own;
       seen = word_.load(std::memory_order_acquire))
    Wait(word_, seen);
}

void ForkGate::Open() {
  word_.fetch_sub(kClosed, std::memory_order_release);
  WakeAll();
  pthread_mutex_unlock(&loading);
}

// The child has one thread. Threads of the parent that waited to enter the gate or to fork do not exist in the child.
void ForkGate::OpenInChild() {
  word_.store(depth_ > 0 ? 1 : 0, std::memory_order_release);
  pthread_mutex_unlock(&loading);
}

// Registers the handlers when the library is loaded. Before a fork, handlers that were registered later run first:
// - Handlers of later libraries run while the gate is open. They may wait for threads that hold their locks and call
//   this library (interpose/imports/loader_list_guard.h).
// - The handlers of an allocator other than libc's must lock the allocator after the gate is closed, because threads
//   inside the gate allocate. The call of malloc makes this allocator register its handlers first, so that they run
//   last.
void ForkGate::Register() {
  void* volatile const first = std::malloc(1);
  std::free(first);
  pthread_atfork(&Close, &Open, &OpenInChild);
}

LibraryLoadLock::LibraryLoadLock() { pthread_mutex_lock(&loading); }

LibraryLoadLock::~LibraryLoadLock() { pthread_mutex_unlock(&loading); }

}  // namespace memoir::simcuda
