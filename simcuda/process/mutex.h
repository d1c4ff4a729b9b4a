// A mutex that a forked child always finds unlocked, and lazy objects that a forked child never finds half constructed.
//
// A forked child has one thread. A mutex that another thread held at the fork would stay locked in the child for ever,
// and every CUDA call that needs it would hang. So a thread enters the process's gate before it locks a mutex. A fork
// first closes the gate and waits until no thread is inside. Mutex works with std::lock_guard. Any thread, but not in a
// signal handler.
//
//   a thread     Enter ── lock ── ... ── unlock ── Leave      inside, a thread locks further mutexes directly
//   a fork       close, wait until the gate is empty ── fork ── parent and child: open
//
// A thread inside the gate may wait only for other Mutexes: not for the loader's lock, nor for a lock that a handler of
// forks takes (pthread_atfork).
#ifndef SIMCUDA_PROCESS_MUTEX_H_
#define SIMCUDA_PROCESS_MUTEX_H_

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
  // The lower half counts threads inside the gate; the upper half counts forks that closed it.
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

// Held while a library is loaded or looked up. Without this lock, a child that is forked during a load could inherit
// inconsistent lists of the loader. A fork also waits for this lock, before it closes the gate. Must not be held inside
// the gate: the loader may wait for a thread that wants to enter the gate to register its kernels.
class LibraryLoadLock {
 public:
  LibraryLoadLock();
  ~LibraryLoadLock();
  LibraryLoadLock(const LibraryLoadLock&) = delete;
  LibraryLoadLock& operator=(const LibraryLoadLock&) = delete;
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

// An object that is created at its first use. Replaces a function's static variable, which a forked child could find
// half constructed. constinit; never destroyed, because CUDA is called until the process ends.
template <typename T>
class LazyObject {
 public:
  constexpr LazyObject() = default;

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

#endif  // SIMCUDA_PROCESS_MUTEX_H_
