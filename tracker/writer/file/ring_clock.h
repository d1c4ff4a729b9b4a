// Reads all clocks of a recording, as close together as possible. ReadClock may be called on any thread, once the
// process has called ChooseTick. A process that only reads the ring of another process must not call ReadClock, because
// the ticks of the two processes may come from different sources.
#ifndef TRACKER_WRITER_FILE_RING_CLOCK_H_
#define TRACKER_WRITER_FILE_RING_CLOCK_H_

#include <ctime>

#include <protozero/pbf_writer.hpp>

#include "interpose/ring/ring_reader.h"
#include "interpose/system/tick.h"
#include "tracker/writer/events/capture_fields.h"

namespace memoir {

// Reads the clocks several times, because an interrupt or another thread may delay a reading. Returns the reading that
// took the least time.
inline RingClock ReadClock() {
  RingClock best{};
  std::uint64_t least = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 4; ++attempt) {
    timespec real;
    const std::uint64_t before = Tick();
    const std::uint64_t monotonic = MonotonicNs();
    clock_gettime(CLOCK_REALTIME, &real);
    const std::uint64_t after = Tick();
    if (after - before >= least) continue;
    least = after - before;
    const auto seconds = static_cast<std::uint64_t>(real.tv_sec);
    best = {before + least / 2, monotonic, seconds * 1'000'000'000u + static_cast<std::uint64_t>(real.tv_nsec)};
  }
  return best;
}

// Appends a ClockSync as the field `tag` of `message`.
inline void AddClock(protozero::pbf_writer& message, protozero::pbf_tag_type tag, const RingClock& at) {
  protozero::pbf_writer clock(message, tag);
  clock.add_uint64(field::clock_sync::kTick, at.tick);
  clock.add_uint64(field::clock_sync::kMonotonicNs, at.monotonic_ns);
  clock.add_uint64(field::clock_sync::kRealtimeNs, at.realtime_ns);
}

}  // namespace memoir

#endif  // TRACKER_WRITER_FILE_RING_CLOCK_H_
