#include "tools/model/event/tick_clock.h"

#include <algorithm>
#include <cmath>

namespace memoir {
namespace {

// The shortest time between two readings. The rate between closer readings would be too inexact, because the clocks of
// one reading are not read at exactly the same time.
constexpr double kMinApartNs = 10e6;
constexpr double kMaxDeviation = 0.01;  // the largest deviation of a reading from `ticks_per_second`

// Returns `to` - `from`. Does not use std::int64_t, because damaged ticks may differ by more than the range of this
// type.
double Difference(std::uint64_t to, std::uint64_t from) {
  return to >= from ? static_cast<double>(to - from) : -static_cast<double>(from - to);
}

}  // namespace

TickClock::TickClock(const v1::ProcessInfo& info, std::uint64_t offset_ns) : offset_ns_(offset_ns) {
  readings_.push_back({info.start().tick(), info.start().monotonic_ns()});
  has_estimate_ = info.ticks_per_second() != 0;
  if (has_estimate_) ns_per_tick_ = 1e9 / static_cast<double>(info.ticks_per_second());
}

void TickClock::Add(const v1::ClockSync& reading) {
  const Reading& last = readings_.back();
  if (reading.tick() <= last.tick || reading.monotonic_ns() <= last.ns) return;
  const double apart = Difference(reading.monotonic_ns(), last.ns);
  if (has_estimate_) {
    const double estimated = Difference(reading.tick(), last.tick) * ns_per_tick_;
    if (apart < kMinApartNs || std::abs(apart - estimated) > kMaxDeviation * estimated) return;
  }
  readings_.push_back({reading.tick(), reading.monotonic_ns()});
}

// Returns the index of the first reading of a pair of consecutive readings: the pair around `tick`, or the nearest
// pair.
std::size_t TickClock::FirstOfPair(Tick tick) const {
  std::size_t next = readings_.size();  // the reading after `tick`, usually one of the last
  while (next > 1 && readings_[next - 1].tick > tick && readings_.size() - next < 4) --next;
  if (next > 1 && readings_[next - 1].tick > tick) {
    const auto after = std::upper_bound(readings_.begin(), readings_.end(), tick,
                                        [](Tick value, const Reading& reading) { return value < reading.tick; });
    next = static_cast<std::size_t>(after - readings_.begin());
  }
  return std::min(next == 0 ? 0 : next - 1, readings_.size() < 2 ? 0 : readings_.size() - 2);
}

std::uint64_t TickClock::Nanoseconds(Tick tick) const {
  const std::size_t first = FirstOfPair(tick);
  const Reading& from = readings_[first];
  double rate = ns_per_tick_;
  if (first + 1 < readings_.size()) {
    const Reading& to = readings_[first + 1];
    rate = Difference(to.ns, from.ns) / Difference(to.tick, from.tick);
  }
  // Computes with differences, because a double represents them to the nanosecond, but not the absolute times.
  const double start = Difference(from.ns, readings_.front().ns);
  const double ns = start + Difference(tick, from.tick) * rate + static_cast<double>(offset_ns_);
  if (ns <= 0) return 0;
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): positive; llround would slow down every event
  return ns < 9e18 ? static_cast<std::uint64_t>(ns + 0.5) : static_cast<std::uint64_t>(9e18);
}

}  // namespace memoir
