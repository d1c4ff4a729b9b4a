// LiveGrowth that is clear, and what only looks like it.
#include "tools/analyze/live/growth_series.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace memoir {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::optional<LiveGrowth> Judged(std::uint64_t steps, const auto& level) {
  GrowthSeries series;
  for (std::uint64_t step = 0; step < steps; ++step) series.Add(step, static_cast<std::uint64_t>(level(step)));
  return series.FindGrowth();
}

TEST(GrowthTest, FindsALeak) {
  const auto growth = Judged(200, [](std::uint64_t step) { return 100 * kMiB + step * kMiB; });
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->bytes_per_step, static_cast<double>(kMiB), 1);
  EXPECT_EQ(growth->since_step, 0u);
}

TEST(GrowthTest, FindsALeakUnderNoiseThatIsLargerThanAStepOfIt) {
  std::mt19937 random(1);
  const auto growth =
      Judged(2000, [&](std::uint64_t step) { return 100 * kMiB + step * kMiB / 4 + random() % (8 * kMiB); });
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->bytes_per_step, static_cast<double>(kMiB) / 4, static_cast<double>(kMiB) / 16);
}

TEST(GrowthTest, FindsALeakThatBeganLate) {
  const auto growth =
      Judged(100'000, [](std::uint64_t step) { return 100 * kMiB + (step > 80'000 ? (step - 80'000) * 4096 : 0); });
  ASSERT_TRUE(growth);
  EXPECT_GE(growth->since_step, 70'000u);
  EXPECT_NEAR(growth->bytes_per_step, 4096, 200);
}

TEST(GrowthTest, SaysNothingOfNoise) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    EXPECT_FALSE(Judged(16 + seed * 7, [&](std::uint64_t) { return 100 * kMiB + random() % (20 * kMiB); })) << seed;
  }
}

TEST(GrowthTest, SaysNothingOfWhatIsFreedEverySoManySteps) {
  EXPECT_FALSE(Judged(1000, [](std::uint64_t step) { return 100 * kMiB + step % 50 * kMiB; }))
      << "freed every 50 steps";
}

TEST(GrowthTest, SaysNothingOfWarmUpAndOfCachesThatFill) {
  EXPECT_FALSE(Judged(500, [](std::uint64_t step) { return 100 * kMiB + std::min<std::uint64_t>(step, 100) * kMiB; }));
  EXPECT_FALSE(
      Judged(500, [](std::uint64_t step) { return 100.0 * kMiB * (1 - std::exp(-static_cast<double>(step) / 50)); }));
}

TEST(GrowthTest, SaysNothingOfFewSteps) {
  EXPECT_FALSE(Judged(15, [](std::uint64_t step) { return 100 * kMiB + step * kMiB; }));
}

TEST(GrowthTest, ForgetsAPastLeakThatHasStopped) {
  EXPECT_FALSE(
      Judged(3000, [](std::uint64_t step) { return 100 * kMiB + std::min<std::uint64_t>(step, 1500) * kMiB; }));
}

}  // namespace
}  // namespace memoir
