// Which ranges open and close a window of ranges, and which steps are those that were asked for.
#include "tracker/session/control/recording_windows.h"

#include <gtest/gtest.h>

namespace memoir {
namespace {

RecordingWindows OfRange(const char* range) {
  WindowOptions options;
  options.range = ParseRange(range);
  return RecordingWindows(options);
}

TEST(WindowsTest, ARangeOfAnotherThreadDoesNotCloseTheOneThatIsWanted) {
  RecordingWindows windows = OfRange("work#1");
  const int first = 0, second = 0, third = 0;
  windows.BeginRange(&first, "work");
  EXPECT_FALSE(windows.is_open());
  windows.BeginRange(&second, "work");
  EXPECT_TRUE(windows.is_open());
  windows.EndRange(&first, "work");
  EXPECT_TRUE(windows.is_open());
  windows.BeginRange(&third, "work");
  windows.EndRange(&second, "work");
  EXPECT_FALSE(windows.is_open()) << "the third is not the one";
  windows.EndRange(&third, "work");
  EXPECT_FALSE(windows.is_open());
}

TEST(WindowsTest, WithoutANumberEachOpens) {
  RecordingWindows windows = OfRange("work");
  const int outer = 0, inner = 0, other = 0;
  windows.BeginRange(&outer, "work");
  windows.BeginRange(&inner, "work");
  windows.BeginRange(&other, "rest");
  windows.EndRange(&other, "rest");
  windows.EndRange(&outer, "work");
  EXPECT_TRUE(windows.is_open());
  windows.EndRange(&inner, "work");
  EXPECT_FALSE(windows.is_open());
}

TEST(WindowsTest, OneThatWasOpenBeforeTheRecordingClosesNothing) {
  RecordingWindows windows = OfRange("work#0");
  const int before = 0, wanted = 0;
  windows.BeginRange(&wanted, "work");
  windows.EndRange(&before, "work");
  EXPECT_TRUE(windows.is_open());
}

TEST(WindowsTest, StepsThatAreAskedForBeginWithTheNextOne) {
  RecordingWindows windows({});
  windows.BeginStep(7);
  windows.RequestSteps(2);
  EXPECT_TRUE(windows.is_waiting());
  EXPECT_FALSE(windows.in_request());
  const auto first = windows.BeginStep(8);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->opens, 2u);
  EXPECT_FALSE(first->closes);
  EXPECT_FALSE(windows.is_waiting());
  const auto second = windows.BeginStep(9);
  EXPECT_TRUE(windows.in_request());
  EXPECT_EQ(second->opens, 0u);
  EXPECT_FALSE(second->closes);
  const auto behind = windows.BeginStep(10);
  EXPECT_FALSE(windows.in_request());
  EXPECT_TRUE(behind->closes);
  EXPECT_FALSE(windows.BeginStep(11)->closes) << "once";
}

TEST(WindowsTest, StepsThatAreAskedForMeanwhileTakeTheirPlace) {
  RecordingWindows windows({});
  windows.RequestSteps(5);
  windows.BeginStep(0);
  windows.RequestSteps(1);
  const auto mark = windows.BeginStep(1);
  EXPECT_TRUE(mark->closes);
  EXPECT_EQ(mark->opens, 1u);
  EXPECT_TRUE(windows.BeginStep(2)->closes);
  windows.RequestSteps(3);
  windows.RequestSteps(0);
  EXPECT_EQ(windows.BeginStep(3)->opens, 0u) << "asked for no more";
}

// Steps of an optimizer, the profiler, a module: the first available kind, also in a recording of ranges.
TEST(WindowsTest, WhateverBeginsStepsBeginsThoseThatWereAskedFor) {
  RecordingWindows windows = OfRange("work");
  windows.RequestSteps(2);
  const int range = 0;
  windows.BeginRange(&range, "Optimizer.step#Adam.step");
  const auto behind = windows.EndRange(&range, "Optimizer.step#Adam.step");
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->opens, 2u);
  EXPECT_EQ(behind->source, RecordingWindows::StepSource::kOptimizer);
  EXPECT_FALSE(windows.EndRange(&range, "Optimizer.step#Other.step")) << "the first one counts";
  const auto profiled = windows.BeginRange(&range, "ProfilerStep#4");
  ASSERT_TRUE(profiled);
  EXPECT_EQ(profiled->step, 4u);
  EXPECT_TRUE(windows.in_request());
  EXPECT_FALSE(windows.EndRange(&range, "Optimizer.step#Adam.step")) << "the better source took over";
  EXPECT_FALSE(windows.NoteModuleCall(64));
  EXPECT_TRUE(windows.BeginRange(&range, "ProfilerStep#5")->closes);
}

}  // namespace
}  // namespace memoir
