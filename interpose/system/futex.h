// The futex operations wait and wake, for threads of one process. A wait may end early without a cause, so callers test
// their condition again.
#ifndef INTERPOSE_SYSTEM_FUTEX_H_
#define INTERPOSE_SYSTEM_FUTEX_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace memoir {

// Sleeps until FutexWakeAll is called for `word`, for at most `max_ns` nanoseconds. Returns at once if `*word` is not
// `expected`.
inline void FutexWait(std::atomic<std::uint32_t>* word, std::uint32_t expected, std::uint64_t max_ns) {
  timespec timeout;
  timeout.tv_sec = static_cast<time_t>(max_ns / 1'000'000'000u);
  timeout.tv_nsec = static_cast<long>(max_ns % 1'000'000'000u);
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr, 0);
}

// Wakes all threads of this process that sleep in FutexWait with `word`.
inline void FutexWakeAll(std::atomic<std::uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace memoir

#endif  // INTERPOSE_SYSTEM_FUTEX_H_
