#include "tools/model/clock.h"

#include <algorithm>

namespace memoir {

Clock::Clock(const v1::ProcessInfo& info, std::uint64_t offset_ns) : offset_ns_(offset_ns) {
  readings_.push_back({info.start().tick(), info.start().monotonic_ns()});
  if (info.ticks_per_second() != 0) ns_per_tick_ = 1e9 / static_cast<double>(info.ticks_per_second());
}

void Clock::Add(const v1::ClockSync& reading) {
  const Reading& last = readings_.back();
  if (reading.tick() <= last.tick || reading.monotonic_ns() <= last.ns) return;
  readings_.push_back({reading.tick(), reading.monotonic_ns()});
}

std::uint64_t Clock::Nanoseconds(Tick tick) const {
  std::size_t next = readings_.size();   // the reading after `tick`
  while (next > 1 && readings_[next - 1].tick > tick && readings_.size() - next < 4) --next;
  if (next > 1 && readings_[next - 1].tick > tick) {
    const auto after = std::upper_bound(readings_.begin(), readings_.end(), tick,
                                        [](Tick value, const Reading& reading) { return value < reading.tick; });
    next = static_cast<std::size_t>(after - readings_.begin());
  }
  const std::size_t first = std::min(next == 0 ? 0 : next - 1, readings_.size() < 2 ? 0 : readings_.size() - 2);
  const Reading& from = readings_[first];
  double rate = ns_per_tick_;
  if (first + 1 < readings_.size()) {
    const Reading& to = readings_[first + 1];
    rate = static_cast<double>(to.ns - from.ns) / static_cast<double>(to.tick - from.tick);
  }
  // Differences are small enough for a double to hold them to the nanosecond; the values themselves are not.
  const double since = static_cast<double>(static_cast<std::int64_t>(tick - from.tick)) * rate;
  const double start = static_cast<double>(from.ns - readings_.front().ns);
  const double ns = start + since + static_cast<double>(offset_ns_);
  if (ns <= 0) return 0;
  return ns < 9e18 ? static_cast<std::uint64_t>(ns + 0.5) : static_cast<std::uint64_t>(9e18);
}

}  // namespace memoir
