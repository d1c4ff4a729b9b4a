// Where operators come back in the middle of one, nobody knows what its thread allocates until the next range begins.
#include "tools/model/operator_sight.h"

#include <gtest/gtest.h>

namespace memoir {
namespace {

TEST(OperatorSightTest, EverythingIsSeenUntilLessIsRecorded) {
  OperatorSight sight;
  EXPECT_TRUE(sight.Sees(ThreadId{0}) && sight.Sees(ThreadId{9}));
  sight.Switch(v1::LEVEL_MEMORY);
  EXPECT_FALSE(sight.Sees(ThreadId{0}));
}

TEST(OperatorSightTest, AThreadIsSeenFromItsNextRangeOn) {
  OperatorSight sight;
  sight.RangeBegins(ThreadId{0});
  sight.Switch(v1::LEVEL_MEMORY);
  sight.Switch(v1::LEVEL_ALL);
  EXPECT_FALSE(sight.Sees(ThreadId{0}));
  sight.RangeBegins(ThreadId{0});
  EXPECT_TRUE(sight.Sees(ThreadId{0}));
  EXPECT_FALSE(sight.Sees(ThreadId{1})) << "it may be in an operator that began before";
}

TEST(OperatorSightTest, AStepBeginsBetweenOperators) {
  OperatorSight sight;
  sight.Switch(v1::LEVEL_MEMORY);
  sight.StepBegins(ThreadId{0});
  EXPECT_FALSE(sight.Sees(ThreadId{0}));
  sight.Switch(v1::LEVEL_ALL);
  sight.StepBegins(ThreadId{0});
  EXPECT_TRUE(sight.Sees(ThreadId{0}));
}

TEST(OperatorSightTest, TheReaderMayTakeMemoryAlone) {
  OperatorSight sight;
  sight.Skim(true);
  sight.RangeBegins(ThreadId{0});
  EXPECT_FALSE(sight.Sees(ThreadId{0}));
  sight.Skim(false);
  sight.RangeBegins(ThreadId{0});
  EXPECT_TRUE(sight.Sees(ThreadId{0}));
}

TEST(OperatorSightTest, BehindEvictedPartsItGoesOnAtTheLevelOfTheKeyframe) {
  OperatorSight sight;
  sight.Switch(v1::LEVEL_MEMORY);
  sight.GoOnAt(v1::LEVEL_ALL);
  EXPECT_TRUE(sight.Sees(ThreadId{0}));
  sight.Skim(true);
  sight.GoOnAt(v1::LEVEL_ALL);
  EXPECT_FALSE(sight.Sees(ThreadId{0})) << "the reader takes memory alone";
  sight.Skim(false);
  sight.GoOnAt(v1::LEVEL_MEMORY);
  EXPECT_FALSE(sight.Sees(ThreadId{0}));
}

}  // namespace
}  // namespace memoir
