// Ranks without peers, such as the only rank of a pipeline's stage, are compared with their own first steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/summarized_rank.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A stage of a pipeline, with its bytes in each step in MiB.
v1::RecordingSummary Stage(std::uint32_t rank, const std::vector<std::uint64_t>& steps) {
  v1::RecordingSummary recording = Recording(rank, 0, {"stage" + std::string(rank + 1, 'a')});
  v1::DeviceSummary& device = *recording.mutable_devices(0);
  device.set_window_steps(1);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    v1::StepWindow& window = *device.add_windows();
    window.set_first_step(step);
    window.set_allocated(steps[step] * kMiB);
    device.set_peak_allocated_bytes(std::max<std::uint64_t>(device.peak_allocated_bytes(), steps[step] * kMiB));
  }
  return recording;
}

const std::vector<std::uint64_t> kEven(12, 60);

TEST(LoneRanksTest, AStageThatNeedsMoreFromSomeStepOnIsOdd) {
  const OddRanks found =
      Found({Stage(0, kEven), Stage(1, {70, 70, 70, 70, 70, 70, 70, 75, 80, 85, 90, 95, 40}), Stage(2, kEven)});
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kRose);
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(1));
  EXPECT_EQ(found.odd[0].value, 95 * kMiB);
  EXPECT_EQ(found.odd[0].usual, 70 * kMiB);
  EXPECT_EQ(found.odd[0].since_step, 7);
}

TEST(LoneRanksTest, AShortRiseIsNotOdd) {
  EXPECT_THAT(Found({Stage(0, {60, 60, 60, 60, 60, 60, 60, 60, 90, 60, 90, 60}), Stage(1, kEven)}).odd, IsEmpty());
}

TEST(LoneRanksTest, ARiseOfSeveralRanksIsNotOdd) {
  const std::vector<std::uint64_t> longer = {60, 60, 60, 60, 60, 60, 62, 62, 62, 62, 62, 62};  // sequences
  EXPECT_THAT(
      Found({Stage(0, longer), Stage(1, {60, 60, 60, 60, 60, 60, 90, 90, 90, 90, 90, 90}), Stage(2, kEven)}).odd,
      IsEmpty());
}

TEST(LoneRanksTest, VaryingBatchSizesAreNotOdd) {
  EXPECT_THAT(Found({Stage(0, {60, 40, 60, 44, 50, 52, 58, 55, 51, 66, 69, 68}), Stage(1, kEven)}).odd, IsEmpty());
}

TEST(LoneRanksTest, ALeakThatOtherRanksDoNotHaveIsFound) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Stage(rank, kEven));
    v1::GrowthSummary& growth = *recordings.back().add_growth();
    growth.set_kind("leak");
    growth.set_place(rank == 2 ? "train.py:7" : "train.py:3");  // three ranks keep their losses
    growth.set_bytes(80 * kMiB);
    growth.set_steps(8);
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kGrowth);
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(2));
}

}  // namespace
}  // namespace memoir
