// Ticks to nanoseconds: exact between good readings, and never absurd by a bad one.
#include "tools/model/event/tick_clock.h"

#include <gtest/gtest.h>

#include <limits>

namespace memoir {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kRate = 150'000'000;  // ticks per second: a sixteenth of 2.4 GHz
constexpr std::uint64_t kStartTick = 7'000'000'000'000;
constexpr std::uint64_t kStartNs = 90'000 * kSecond;

v1::ProcessInfo Process(std::uint64_t ticks_per_second = kRate) {
  v1::ProcessInfo info;
  info.set_ticks_per_second(ticks_per_second);
  info.mutable_start()->set_tick(kStartTick);
  info.mutable_start()->set_monotonic_ns(kStartNs);
  return info;
}

v1::ClockSync Reading(std::uint64_t tick, std::uint64_t ns) {
  v1::ClockSync reading;
  reading.set_tick(tick);
  reading.set_monotonic_ns(ns);
  return reading;
}

TEST(ClockTest, GoesByTheRateWithoutAReading) {
  const TickClock clock(Process(), 5);
  EXPECT_EQ(clock.Nanoseconds(kStartTick), 5u);
  EXPECT_EQ(clock.Nanoseconds(kStartTick + 3 * kRate), 3 * kSecond + 5);
}

TEST(ClockTest, ReadingsAreBetterThanTheRate) {
  TickClock clock(Process(kRate / 1000 * 1002), 0);  // the estimate is 0.2 % off
  clock.Add(Reading(kStartTick + kRate, kStartNs + kSecond));
  clock.Add(Reading(kStartTick + 2 * kRate, kStartNs + 2 * kSecond));
  EXPECT_EQ(clock.Nanoseconds(kStartTick + kRate / 2), kSecond / 2);
  EXPECT_EQ(clock.Nanoseconds(kStartTick + 5 * kRate), 5 * kSecond);
}

// As memoir-drain once wrote them: nanoseconds in the place of ticks.
TEST(ClockTest, AReadingThatContradictsTheRateIsLeftOut) {
  TickClock clock(Process(), 0);
  clock.Add(Reading(kStartTick + kRate / 50, kStartNs + kSecond / 50));
  clock.Add(Reading(kStartNs + kSecond, kStartNs + kSecond));
  EXPECT_EQ(clock.Nanoseconds(kStartTick + kRate), kSecond);
  clock.Add(Reading(kStartTick + 2 * kRate, kStartNs + 2 * kSecond + kSecond / 10));
  EXPECT_EQ(clock.Nanoseconds(kStartTick + 2 * kRate), 2 * kSecond);
}

TEST(ClockTest, ReadingsTooCloseTogetherMakeNoSlope) {
  TickClock clock(Process(), 0);
  clock.Add(Reading(kStartTick + 1500, kStartNs + 10'099));  // 10 us: a 1 % that means nothing
  EXPECT_EQ(clock.Nanoseconds(kStartTick + 60 * kRate), 60 * kSecond);
}

TEST(ClockTest, NeverGoesBackward) {
  for (const std::uint64_t rate :
       {std::uint64_t{0}, std::uint64_t{1}, kRate, std::numeric_limits<std::uint64_t>::max()}) {
    TickClock clock(Process(rate), 0);
    clock.Add(Reading(kStartTick + 1, kStartNs + 1'000'000 * kSecond));
    clock.Add(Reading(kStartTick + kRate, kStartNs + 1));
    clock.Add(Reading(1, 1));
    clock.Add(Reading(std::numeric_limits<std::uint64_t>::max() - 1, std::numeric_limits<std::uint64_t>::max()));
    std::uint64_t before = 0;
    for (const std::uint64_t tick :
         {std::uint64_t{0}, std::uint64_t{1}, kStartTick, kStartTick + 1, kStartTick + 2, kStartTick + kRate,
          std::uint64_t{1} << 63, (std::uint64_t{1} << 63) + 2 * kStartTick, ~std::uint64_t{0}}) {
      const std::uint64_t now = clock.Nanoseconds(tick);
      EXPECT_GE(now, before) << "rate " << rate << " tick " << tick;
      before = now;
    }
  }
}

}  // namespace
}  // namespace memoir
