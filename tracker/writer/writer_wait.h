// Lets threads of the program wait for the writer's thread, as long as the writer's thread makes progress. If a file
// system does not respond, the waiting thread gives up, so that the program can end.
#ifndef TRACKER_WRITER_WRITER_WAIT_H_
#define TRACKER_WRITER_WRITER_WAIT_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "interpose/system/futex.h"
#include "interpose/system/tick.h"

namespace memoir {

class WriterWait {
 public:
  // `patience_ns`: the longest wait while the writer's thread makes no progress.
  explicit WriterWait(std::uint64_t patience_ns) : patience_ns_(patience_ns) {}

  // Called by the writer's thread after a change that other threads may wait for, and after each chunk.
  void NoteProgress() noexcept {
    steps_.fetch_add(1, std::memory_order_seq_cst);
    FutexWakeAll(&steps_);
  }

  // Called by other threads. Waits until `is_done` returns true; calls `is_done` under `lock`. Returns false if the
  // writer's thread hangs.
  template <class IsDone>
  bool WaitUntil(std::unique_lock<std::mutex>& lock, const IsDone& is_done) {
    std::uint64_t without_progress_ns = 0;
    for (std::uint32_t seen = steps_.load(std::memory_order_seq_cst); !is_done();) {
      if (without_progress_ns >= patience_ns_) return false;
      lock.unlock();
      const std::uint64_t waited_ns = WaitForStep(seen);
      lock.lock();
      const std::uint32_t now = steps_.load(std::memory_order_seq_cst);
      without_progress_ns = now == seen ? without_progress_ns + waited_ns : 0;
      seen = now;
    }
    return true;
  }

 private:
  static constexpr std::uint64_t kSliceNs = 100'000'000;

  // Waits for progress, at most kSliceNs, and returns the waited time in nanoseconds. The result is at most 2 *
  // kSliceNs: if the process was stopped during the wait, this time must not count.
  std::uint64_t WaitForStep(std::uint32_t seen) {
    const std::uint64_t begin = MonotonicNs();
    FutexWait(&steps_, seen, kSliceNs);
    return std::min(MonotonicNs() - begin, 2 * kSliceNs);
  }

  const std::uint64_t patience_ns_;
  std::atomic<std::uint32_t> steps_{0};
};

}  // namespace memoir

#endif  // TRACKER_WRITER_WRITER_WAIT_H_
