#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/view/over_time_view.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;

TEST(BlockChart, FillsInEighths) { EXPECT_THAT(BlockChart({0, 1, 4, 7, 8}, 8, 1), ElementsAre(" ▁▄▇█")); }

TEST(BlockChart, TallCharts) { EXPECT_THAT(BlockChart({8, 16, 12}, 16, 2), ElementsAre(" █▄", "███")); }

TEST(BlockChart, AnythingAboveNothingShows) {
  EXPECT_THAT(BlockChart({1, 0}, 1'000'000'000, 2), ElementsAre("  ", "▁ "));
}

TEST(BlockChart, NothingAtAll) { EXPECT_THAT(BlockChart({0, 0}, 0, 1), ElementsAre("  ")); }

TEST(ChartColumns, FollowsTheTerminal) {
  EXPECT_EQ(ChartColumns({.width = 80}), 69u);
  EXPECT_EQ(ChartColumns({.width = 10}), 20u);
}

}  // namespace
}  // namespace memoir
