#include "tools/view/time/time_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace memoir {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// 100 buckets of 0.1 s; something happens in those from 10 to 19, and from 80 to 99.
std::vector<bool> Changes() {
  std::vector<bool> changes(100);
  for (std::size_t i = 0; i < 100; ++i) changes[i] = (i >= 10 && i < 20) || i >= 80;
  return changes;
}

TEST(TimeScaleTest, BeginsAtTheFirstBucketAndCutsWhatIsQuietShort) {
  const TimeScale scale(0, 10 * kSecond, Changes(), 10, 100, 1100);
  EXPECT_EQ(scale.begin_ns(), kSecond);
  const std::vector<TimeScale::Gap> gaps = scale.Gaps();
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].ns, 6 * kSecond);
  EXPECT_LT(gaps[0].right - gaps[0].left, 50);
  EXPECT_DOUBLE_EQ(scale.X(kSecond), 100);
  EXPECT_DOUBLE_EQ(scale.X(10 * kSecond), 1100);
  // One second before the gap and two behind it, on one scale.
  EXPECT_NEAR(2 * (gaps[0].left - 100), 1100 - gaps[0].right, 1e-6);
}

TEST(TimeScaleTest, EveryBucketIsOnSomeColumn) {
  for (const std::size_t first : {std::size_t{0}, std::size_t{10}}) {
    const TimeScale scale(0, 10 * kSecond, Changes(), first, 100, 160);
    std::set<std::size_t> shown;
    for (double x = 100; x < 160; ++x) {
      const auto [begin, end] = scale.BucketsAt(x);
      ASSERT_LT(begin, end);
      ASSERT_LE(end, 100u);
      for (std::size_t i = begin; i < end; ++i) shown.insert(i);
    }
    EXPECT_EQ(shown.size(), 100 - first);
  }
}

TEST(TimeScaleTest, OneScaleWhereNothingIsQuiet) {
  const TimeScale scale(5 * kSecond, 6 * kSecond, std::vector<bool>(100, true), 0, 0, 1000);
  EXPECT_TRUE(scale.Gaps().empty());
  EXPECT_DOUBLE_EQ(scale.X(5 * kSecond + kSecond / 2), 500);
  std::vector<std::string> texts;
  for (const TimeScale::AxisTick& tick : scale.Ticks()) texts.push_back(tick.text);
  EXPECT_THAT(texts, ::testing::ElementsAre("5.0000 s", "5.2 s", "5.4 s", "5.6 s", "5.8 s", "6.0 s"));
}

TEST(TimeScaleTest, HoursHaveTicksOfMinutes) {
  const TimeScale scale(0, 7200 * kSecond, std::vector<bool>(100, true), 0, 0, 1000);
  const std::vector<TimeScale::AxisTick> ticks = scale.Ticks();
  ASSERT_GE(ticks.size(), 3u);
  EXPECT_EQ(ticks[1].text, "0:30 h");
  for (std::size_t i = 1; i < ticks.size(); ++i) EXPECT_GE(ticks[i].x - ticks[i - 1].x, 70);
}

TEST(TimeScaleTest, DaysHaveTicksOfHours) {
  const TimeScale scale(0, 200 * 3600 * kSecond, std::vector<bool>(100, true), 0, 0, 1000);
  EXPECT_EQ(scale.Ticks()[1].text, "24:00 h");
}

TEST(TimeScaleTest, TimesThatCannotBeEnd) {
  const TimeScale scale(20'000'000 * kSecond, 20'000'000 * kSecond, {true}, 0, 110, 1180);
  EXPECT_GE(scale.Ticks().size(), 1u);
}

TEST(TimeScaleTest, ARecordingWithoutLengthOrChange) {
  for (const std::size_t buckets : {0u, 1u, 50u}) {
    const TimeScale scale(kSecond, kSecond, std::vector<bool>(buckets), 7, 0, 1000);
    EXPECT_TRUE(scale.Gaps().empty());
    EXPECT_EQ(scale.BucketsAt(999).second, std::max<std::size_t>(buckets, 1));
    EXPECT_EQ(scale.Ticks().size(), 1u);
  }
}

}  // namespace
}  // namespace memoir
