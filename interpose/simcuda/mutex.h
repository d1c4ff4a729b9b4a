// A mutex that no forked child finds locked, and objects that are made at their first use.
//
// A child has one thread: what another thread had locked at the fork stays locked in the child for ever, and with it
// the call of CUDA that wants it. So whoever locks enters a gate that is the process's, and a fork closes it first: it
// waits until no thread is inside. It is std::mutex for std::lock_guard. Any thread, but no signal handler.
//
//   a thread     Enter ── lock ── ... ── unlock ── Leave      further locks of a thread that is inside do not ask
//   a fork       close, wait until nobody is inside ── fork ── parent and child: open
//
// Who is inside waits for nothing but other Mutexes: not for the loader's lock, nor for one that a fork takes as well.
#ifndef INTERPOSE_SIMCUDA_MUTEX_H_
#define INTERPOSE_SIMCUDA_MUTEX_H_

#include <atomic>
#include <mutex>

namespace memoir::simcuda {

class ForkGate {
 public:
  static void Enter() {
    if (depth_++ == 0 && (word_.fetch_add(1, std::memory_order_acquire) & kClosedMask) != 0) EnterOnceOpen();
  }
  static void Leave() {
    if (--depth_ == 0 && (word_.fetch_sub(1, std::memory_order_release) & kClosedMask) != 0) WakeAll();
  }

 private:
  // Threads inside in the lower half, forks that closed it in the upper.
  static constexpr unsigned kClosed = 1u << 16;
  static constexpr unsigned kClosedMask = ~(kClosed - 1);

  static void EnterOnceOpen();
  static void WakeAll();
  static void Close();
  static void Open();
  static void OpenInChild();
  static void Register() __attribute__((constructor));

  static constinit std::atomic<unsigned> word_;  // a futex
  static constinit thread_local unsigned depth_;
};

// Whoever loads a library, or looks for one that is loaded: in a child that was forked meanwhile the loader's own lists
// may be half written. A fork waits for that as well, before it closes the gate. Not inside of it: the loader may wait
// for a thread that wants to enter, to register its kernels.
class LibraryLoad {
 public:
  LibraryLoad();
  ~LibraryLoad();
  LibraryLoad(const LibraryLoad&) = delete;
  LibraryLoad& operator=(const LibraryLoad&) = delete;
};

class Mutex {
 public:
  constexpr Mutex() = default;

  void lock() {
    ForkGate::Enter();
    mutex_.lock();
  }
  void unlock() {
    mutex_.unlock();
    ForkGate::Leave();
  }

 private:
  std::mutex mutex_;
};

// Instead of a function's static variable, whose first use a child can find half done as well. constinit; never
// destroyed, as CUDA is called until the very end.
template <typename T>
class MadeOnce {
 public:
  constexpr MadeOnce() = default;

  // `make` returns a new T.
  template <typename Make>
  T& Get(const Make& make) {
    if (T* const made = GetIfMade()) return *made;
    const std::lock_guard lock(mutex_);
    if (made_.load(std::memory_order_relaxed) == nullptr) made_.store(make(), std::memory_order_release);
    return *made_.load(std::memory_order_relaxed);
  }
  T& Get() {
    return Get([] { return new T; });
  }
  T* GetIfMade() const { return made_.load(std::memory_order_acquire); }

 private:
  std::atomic<T*> made_{nullptr};
  Mutex mutex_;
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_MUTEX_H_
