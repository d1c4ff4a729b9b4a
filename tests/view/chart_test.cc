#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/view/live/level_plot.h"
#include "tools/view/time/over_time_view.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;

LevelCurve LevelOf(std::vector<std::uint64_t> max_bytes, std::uint64_t peak) {
  LevelCurve level;
  level.max_bytes = std::move(max_bytes);
  level.peak_bytes = peak;
  return level;
}

std::vector<std::string> Chart(std::vector<std::uint64_t> max_bytes, std::uint64_t peak, std::size_t rows) {
  const std::vector<bool> known(max_bytes.size(), true);
  return BlockChart(LevelOf(std::move(max_bytes), peak), known, rows);
}

TEST(BlockChart, FillsInEighths) { EXPECT_THAT(Chart({0, 1, 4, 7, 8}, 8, 1), ElementsAre(" ▁▄▇█")); }

TEST(BlockChart, TallCharts) { EXPECT_THAT(Chart({8, 16, 12}, 16, 2), ElementsAre(" █▄", "███")); }

TEST(BlockChart, BetweenWindowsIsNotNothing) {
  EXPECT_THAT(BlockChart(LevelOf({8, 0, 0, 8}, 8), {true, false, true, true}, 2), ElementsAre("█  █", "█· █"));
}

TEST(BlockChart, AnythingAboveNothingShows) { EXPECT_THAT(Chart({1, 0}, 1'000'000'000, 2), ElementsAre("  ", "▁ ")); }

TEST(BlockChart, NothingAtAll) { EXPECT_THAT(Chart({0, 0}, 0, 1), ElementsAre("  ")); }

DeviceCurve Layers() {
  DeviceCurve curve;
  curve.allocated = LevelOf({0, 1, 4, 2}, 4);
  curve.active = LevelOf({0, 1, 4, 4}, 4);
  curve.reserved = LevelOf({0, 8, 8, 8}, 8);
  curve.known = {true, true, true, true};
  return curve;
}

TEST(LayeredChart, TheDarkestIsWhatIsAllocated) {
  DeviceCurve curve = Layers();
  EXPECT_THAT(LayeredChart(curve, 4), ElementsAre(" ░░░", " ░░░", " ░█▒", " ███"));
  curve.known[2] = false;
  EXPECT_THAT(LayeredChart(curve, 2), ElementsAre(" ░ ░", " █·█"));
}

TEST(MarkerLine, OneLetterABucket) {
  OverTimeCurves over_time;
  over_time.begin_ns = 100;
  over_time.end_ns = 140;
  DeviceCurve curve = Layers();
  EXPECT_EQ(MarkerLine(over_time, curve), "");
  curve.iterations.resize(2);
  curve.iterations[0].fw_start = IterationInstant{100, 0};
  curve.iterations[0].fw_bw_boundary = IterationInstant{110, 1};
  curve.iterations[0].backward_end = IterationInstant{125, 2};
  curve.iterations[1].fw_start = IterationInstant{129, 3};
  curve.iterations[1].optimizer_step = IterationInstant{140, 4};
  EXPECT_EQ(MarkerLine(over_time, curve), "FB+O");
}

TEST(ChartColumns, FollowsTheTerminal) {
  EXPECT_EQ(ChartColumns({.width = 80}), 69u);
  EXPECT_EQ(ChartColumns({.width = 10}), 20u);
}

// The scale ends at the size of the card, unless little of it is used.
TEST(LevelPlot, EndsAtTheSizeOfTheCard) {
  constexpr std::uint64_t kGib = 1u << 30;
  const std::vector<LiveLevel> levels = {{2 * kGib, 4 * kGib}, {4 * kGib, 4 * kGib}};
  EXPECT_THAT(LevelPlot(levels, 8 * kGib, 40, 2), ElementsAre("  8.00 GiB │  ", "         0 │▄█"));
  EXPECT_THAT(LevelPlot(levels, 80 * kGib, 40, 2), ElementsAre("  4.00 GiB │░█", "         0 │██"));
  EXPECT_THAT(LevelPlot(levels, 0, 40, 2), ElementsAre("  4.00 GiB │░█", "         0 │██"));
}

}  // namespace
}  // namespace memoir
