// One reading of all clocks, as close together as can be. Any thread.
#ifndef TRACKER_WRITER_CLOCK_H_
#define TRACKER_WRITER_CLOCK_H_

#include <ctime>

#include "interpose/ring_reader.h"
#include "interpose/tick.h"

namespace memoir {

inline RingClock ReadClock() {
  timespec real;
  const std::uint64_t monotonic = MonotonicNs();
  const std::uint64_t tick = Tick();
  clock_gettime(CLOCK_REALTIME, &real);
  return {tick, monotonic, static_cast<std::uint64_t>(real.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(real.tv_nsec)};
}

}  // namespace memoir

#endif  // TRACKER_WRITER_CLOCK_H_
