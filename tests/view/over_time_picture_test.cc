// Which devices a picture of bytes over time shows.
#include "tools/view/time/over_time_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/time/over_time_curves.h"

namespace memoir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Ranks with one GPU each, in a folder. A higher rank has a higher peak.
class OverTimePicture : public ::testing::Test {
 protected:
  void Record(std::uint32_t ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      testing::ProcessOptions options;
      options.rank = rank;
      options.world_size = ranks;
      options.pid = 100 + rank;
      testing::ProcessBuilder process(options);
      const std::uint32_t gpu = process.AddDevice("cuda", 0);
      process.ChangeSegment(v1::SEGMENT_ALLOCATE, gpu, 0x10000, 20 << 20);
      process.AllocateBlock(gpu, 0x10000, (rank + 1) << 20).FreeBlock(gpu, 0x10000);
      process.WriteTo(folder_.path());
    }
    absl::StatusOr<Capture> capture = Capture::Open(folder_.path());
    ASSERT_TRUE(capture.ok()) << capture.status();
    capture_ = *std::move(capture);
    OverTimeOptions options;
    options.buckets = kPictureBuckets;
    absl::StatusOr<OverTimeCurves> over_time = AnalyzeOverTime(*capture_, options);
    ASSERT_TRUE(over_time.ok()) << over_time.status();
    over_time_ = *std::move(over_time);
  }

  testing::TemporaryFolder folder_;
  std::optional<Capture> capture_;
  OverTimeCurves over_time_;
};

TEST_F(OverTimePicture, ShowsOddRanksFirstAndCountsTheDevicesThatDoNotFit) {
  Record(5);
  EXPECT_FALSE(FitsInPicture(over_time_));
  EXPECT_THAT(OverTimeSvg(*capture_, over_time_, kLight, {1}),
              AllOf(HasSubstr("rank 1 cuda:0, an odd rank"), HasSubstr("rank 3"), HasSubstr("rank 4"),
                    Not(HasSubstr("rank 0")), Not(HasSubstr("rank 2")), HasSubstr("and 2 more devices")));
  EXPECT_THAT(OverTimeSvg(*capture_, over_time_), AllOf(HasSubstr("rank 2"), HasSubstr("rank 3"), HasSubstr("rank 4"),
                                                        Not(HasSubstr("rank 1")), Not(HasSubstr("odd rank"))));
}

TEST_F(OverTimePicture, ShowsAllDevicesThatFit) {
  Record(3);
  EXPECT_TRUE(FitsInPicture(over_time_));
  EXPECT_THAT(OverTimeSvg(*capture_, over_time_),
              AllOf(HasSubstr("rank 0"), HasSubstr("rank 1"), HasSubstr("rank 2"), Not(HasSubstr("more device"))));
}

}  // namespace
}  // namespace memoir
