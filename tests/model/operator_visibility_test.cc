// If operators come back in the middle of one, its thread's operator is unknown until the next range begins.
#include "tools/model/replay/state/operator_visibility.h"

#include <gtest/gtest.h>

namespace memoir {
namespace {

TEST(OperatorSightTest, EverythingIsSeenUntilLessIsRecorded) {
  OperatorVisibility sight;
  EXPECT_TRUE(sight.IsVisible(ThreadId{0}) && sight.IsVisible(ThreadId{9}));
  sight.SwitchLevel(v1::LEVEL_MEMORY);
  EXPECT_FALSE(sight.IsVisible(ThreadId{0}));
}

TEST(OperatorSightTest, AThreadIsSeenFromItsNextRangeOn) {
  OperatorVisibility sight;
  sight.BeginRange(ThreadId{0});
  sight.SwitchLevel(v1::LEVEL_MEMORY);
  sight.SwitchLevel(v1::LEVEL_ALL);
  EXPECT_FALSE(sight.IsVisible(ThreadId{0}));
  sight.BeginRange(ThreadId{0});
  EXPECT_TRUE(sight.IsVisible(ThreadId{0}));
  EXPECT_FALSE(sight.IsVisible(ThreadId{1})) << "it may be in an operator that began before";
}

TEST(OperatorSightTest, AStepBeginsBetweenOperators) {
  OperatorVisibility sight;
  sight.SwitchLevel(v1::LEVEL_MEMORY);
  sight.BeginStep(ThreadId{0});
  EXPECT_FALSE(sight.IsVisible(ThreadId{0}));
  sight.SwitchLevel(v1::LEVEL_ALL);
  sight.BeginStep(ThreadId{0});
  EXPECT_TRUE(sight.IsVisible(ThreadId{0}));
}

TEST(OperatorSightTest, TheReaderMayTakeMemoryAlone) {
  OperatorVisibility sight;
  sight.SetSkimming(true);
  sight.BeginRange(ThreadId{0});
  EXPECT_FALSE(sight.IsVisible(ThreadId{0}));
  sight.SetSkimming(false);
  sight.BeginRange(ThreadId{0});
  EXPECT_TRUE(sight.IsVisible(ThreadId{0}));
}

TEST(OperatorSightTest, BehindEvictedPartsItGoesOnAtTheLevelOfTheKeyframe) {
  OperatorVisibility sight;
  sight.SwitchLevel(v1::LEVEL_MEMORY);
  sight.ContinueAt(v1::LEVEL_ALL);
  EXPECT_TRUE(sight.IsVisible(ThreadId{0}));
  sight.SetSkimming(true);
  sight.ContinueAt(v1::LEVEL_ALL);
  EXPECT_FALSE(sight.IsVisible(ThreadId{0})) << "the reader takes memory alone";
  sight.SetSkimming(false);
  sight.ContinueAt(v1::LEVEL_MEMORY);
  EXPECT_FALSE(sight.IsVisible(ThreadId{0}));
}

}  // namespace
}  // namespace memoir
