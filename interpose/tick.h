// The clock of the event path: the time-stamp counter where it is invariant (x86-64, aarch64), else CLOCK_MONOTONIC in
// nanoseconds. Which one is decided once, before recording starts; ticks compare across threads and cores.
#ifndef INTERPOSE_TICK_H_
#define INTERPOSE_TICK_H_

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "interpose/export.h"

namespace memoir {

extern "C" MEMOIR_INTERPOSE_API bool memoir_tick_is_counter;  // set by ChooseTick()

// Decides the source and returns its rate estimate in ticks per second (measured over some milliseconds when it is a
// counter).
MEMOIR_INTERPOSE_API std::uint64_t ChooseTick();

inline std::uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// A sixteenth of the x86 counter, 4 to 8 ns: the bits below are noise of the measurement, and cost half a byte per
// event on disk.
inline constexpr int kCounterShift = 4;

inline std::uint64_t Tick() {
#if defined(__x86_64__)
  if (memoir_tick_is_counter) [[likely]]
    return __rdtsc() >> kCounterShift;
#elif defined(__aarch64__)
  if (memoir_tick_is_counter) [[likely]] {
    std::uint64_t value;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
  }
#endif
  return MonotonicNs();
}

}  // namespace memoir

#endif  // INTERPOSE_TICK_H_
