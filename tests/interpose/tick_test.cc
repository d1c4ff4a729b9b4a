#include "interpose/system/tick.h"

#include <gtest/gtest.h>

namespace memoir {
namespace {

class TickTest : public testing::Test {
 protected:
  void TearDown() override { memoir_tick_is_counter = was_counter_; }
  bool was_counter_ = memoir_tick_is_counter;
};

// Ticks are read outside of the monotonic clock's span and inside it: true however long the thread is kept waiting.
TEST_F(TickTest, TheRateTiesTicksToTheMonotonicClock) {
  const auto rate = static_cast<double>(ChooseTick());
  const std::uint64_t outer_tick = Tick();
  const std::uint64_t outer_ns = MonotonicNs();
  const std::uint64_t inner_tick = Tick();
  while (MonotonicNs() - outer_ns < 20'000'000) {
  }
  const std::uint64_t inner_tick_end = Tick();
  const std::uint64_t outer_ns_end = MonotonicNs();
  const std::uint64_t outer_tick_end = Tick();
  const auto seconds = static_cast<double>(outer_ns_end - outer_ns) * 1e-9;
  EXPECT_LE(static_cast<double>(inner_tick_end - inner_tick) / rate, seconds * 1.01);
  EXPECT_GE(static_cast<double>(outer_tick_end - outer_tick) / rate, seconds * 0.99);
}

TEST_F(TickTest, WithoutACounterTicksAreNanoseconds) {
  memoir_tick_is_counter = false;
  const std::uint64_t before = MonotonicNs();
  const std::uint64_t tick = Tick();
  const std::uint64_t after = MonotonicNs();
  EXPECT_LE(before, tick);
  EXPECT_LE(tick, after);
}

}  // namespace
}  // namespace memoir
