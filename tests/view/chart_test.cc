#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/view/over_time_view.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;

DeviceCurve Curve(std::vector<std::uint64_t> max_bytes, std::uint64_t peak) {
  DeviceCurve curve;
  curve.in_window.assign(max_bytes.size(), true);
  curve.max_bytes = std::move(max_bytes);
  curve.peak_bytes = peak;
  return curve;
}

TEST(BlockChart, FillsInEighths) { EXPECT_THAT(BlockChart(Curve({0, 1, 4, 7, 8}, 8), 1), ElementsAre(" ▁▄▇█")); }

TEST(BlockChart, TallCharts) { EXPECT_THAT(BlockChart(Curve({8, 16, 12}, 16), 2), ElementsAre(" █▄", "███")); }

TEST(BlockChart, BetweenWindowsIsNotNothing) {
  DeviceCurve curve = Curve({8, 0, 0, 8}, 8);
  curve.in_window[1] = false;
  EXPECT_THAT(BlockChart(curve, 2), ElementsAre("█  █", "█· █"));
}

TEST(BlockChart, AnythingAboveNothingShows) {
  EXPECT_THAT(BlockChart(Curve({1, 0}, 1'000'000'000), 2), ElementsAre("  ", "▁ "));
}

TEST(BlockChart, NothingAtAll) { EXPECT_THAT(BlockChart(Curve({0, 0}, 0), 1), ElementsAre("  ")); }

TEST(ChartColumns, FollowsTheTerminal) {
  EXPECT_EQ(ChartColumns({.width = 80}), 69u);
  EXPECT_EQ(ChartColumns({.width = 10}), 20u);
}

}  // namespace
}  // namespace memoir
