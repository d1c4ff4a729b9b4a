// The clock of events: the time-stamp counter if it is invariant (x86-64, aarch64), else CLOCK_MONOTONIC in
// nanoseconds. The source is chosen once, before recording starts. Ticks of all threads and cores are comparable.
#ifndef INTERPOSE_SYSTEM_TICK_H_
#define INTERPOSE_SYSTEM_TICK_H_

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "interpose/system/export.h"

namespace memoir {

extern "C" MEMOIR_INTERPOSE_API bool memoir_tick_is_counter;  // set by ChooseTick()

// Chooses the source and returns an estimate of its rate in ticks per second. On x86-64 it measures the counter's rate
// for 5 ms.
MEMOIR_INTERPOSE_API std::uint64_t ChooseTick();

inline std::uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// A tick is 16 counts of the x86 counter, 4 to 8 ns. Lower bits are noise, and would cost half a byte per event on
// disk.
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

#endif  // INTERPOSE_SYSTEM_TICK_H_
