// Helpers that all sources of the builder share.
#ifndef TESTS_CAPTURES_CAPTURE_ENCODING_H_
#define TESTS_CAPTURES_CAPTURE_ENCODING_H_

#include <xxhash.h>

#include <cstdint>
#include <string>

#include "tests/captures/capture_builder.h"

namespace memoir::testing {

// Kinds of entries that a part has defined already.
enum Defined { kName, kLayout, kSignature, kThread, kDevice, kStack };

inline std::string Hash(const std::string& text) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(text.data(), text.size()));
  return std::string(reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest);
}

// To the value before, which it replaces.
inline std::int64_t Difference(std::uint64_t value, std::uint64_t& last) {
  const std::uint64_t difference = value - last;
  last = value;
  return static_cast<std::int64_t>(difference);
}

inline v1::ClockSync ClockAt(std::uint64_t tick, const ProcessOptions& options) {
  v1::ClockSync clock;
  clock.set_tick(tick);
  clock.set_monotonic_ns(5'000'000'000 + static_cast<std::uint64_t>(static_cast<double>(tick) * options.ns_per_tick));
  clock.set_realtime_ns(options.start_realtime_ns + tick - options.start_tick);
  return clock;
}

}  // namespace memoir::testing

#endif  // TESTS_CAPTURES_CAPTURE_ENCODING_H_
