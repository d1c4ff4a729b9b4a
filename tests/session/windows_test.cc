// Which ranges open and close a window of ranges, and which steps are those that were asked for.
#include "tracker/session/windows.h"

#include <gtest/gtest.h>

namespace memoir {
namespace {

Windows OfRange(const char* range) {
  WindowOptions options;
  options.range = ParseRange(range);
  return Windows(options);
}

TEST(WindowsTest, ARangeOfAnotherThreadDoesNotCloseTheOneThatIsWanted) {
  Windows windows = OfRange("work#1");
  const int first = 0, second = 0, third = 0;
  windows.RangeBegins(&first, "work");
  EXPECT_FALSE(windows.open());
  windows.RangeBegins(&second, "work");
  EXPECT_TRUE(windows.open());
  windows.RangeEnds(&first, "work");
  EXPECT_TRUE(windows.open());
  windows.RangeBegins(&third, "work");
  windows.RangeEnds(&second, "work");
  EXPECT_FALSE(windows.open()) << "the third is not the one";
  windows.RangeEnds(&third, "work");
  EXPECT_FALSE(windows.open());
}

TEST(WindowsTest, WithoutANumberEachOpens) {
  Windows windows = OfRange("work");
  const int outer = 0, inner = 0, other = 0;
  windows.RangeBegins(&outer, "work");
  windows.RangeBegins(&inner, "work");
  windows.RangeBegins(&other, "rest");
  windows.RangeEnds(&other, "rest");
  windows.RangeEnds(&outer, "work");
  EXPECT_TRUE(windows.open());
  windows.RangeEnds(&inner, "work");
  EXPECT_FALSE(windows.open());
}

TEST(WindowsTest, OneThatWasOpenBeforeTheRecordingClosesNothing) {
  Windows windows = OfRange("work#0");
  const int before = 0, wanted = 0;
  windows.RangeBegins(&wanted, "work");
  windows.RangeEnds(&before, "work");
  EXPECT_TRUE(windows.open());
}

TEST(WindowsTest, StepsThatAreAskedForBeginWithTheNextOne) {
  Windows windows({});
  windows.StepBegins(7);
  windows.Ask(2);
  EXPECT_TRUE(windows.waits());
  EXPECT_FALSE(windows.in_asked());
  const auto first = windows.StepBegins(8);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->opens, 2u);
  EXPECT_FALSE(first->closes);
  EXPECT_FALSE(windows.waits());
  const auto second = windows.StepBegins(9);
  EXPECT_TRUE(windows.in_asked());
  EXPECT_EQ(second->opens, 0u);
  EXPECT_FALSE(second->closes);
  const auto behind = windows.StepBegins(10);
  EXPECT_FALSE(windows.in_asked());
  EXPECT_TRUE(behind->closes);
  EXPECT_FALSE(windows.StepBegins(11)->closes) << "once";
}

TEST(WindowsTest, StepsThatAreAskedForMeanwhileTakeTheirPlace) {
  Windows windows({});
  windows.Ask(5);
  windows.StepBegins(0);
  windows.Ask(1);
  const auto mark = windows.StepBegins(1);
  EXPECT_TRUE(mark->closes);
  EXPECT_EQ(mark->opens, 1u);
  EXPECT_TRUE(windows.StepBegins(2)->closes);
  windows.Ask(3);
  windows.Ask(0);
  EXPECT_EQ(windows.StepBegins(3)->opens, 0u) << "asked for no more";
}

// Of an optimizer, the profiler, a module: the first that there is, and in a recording of ranges as well.
TEST(WindowsTest, WhateverBeginsStepsBeginsThoseThatWereAskedFor) {
  Windows windows = OfRange("work");
  windows.Ask(2);
  const int range = 0;
  windows.RangeBegins(&range, "Optimizer.step#Adam.step");
  const auto behind = windows.RangeEnds(&range, "Optimizer.step#Adam.step");
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->opens, 2u);
  EXPECT_EQ(behind->source, Windows::StepSource::kOptimizer);
  EXPECT_FALSE(windows.RangeEnds(&range, "Optimizer.step#Other.step")) << "the first one counts";
  const auto profiled = windows.RangeBegins(&range, "ProfilerStep#4");
  ASSERT_TRUE(profiled);
  EXPECT_EQ(profiled->step, 4u);
  EXPECT_TRUE(windows.in_asked());
  EXPECT_FALSE(windows.RangeEnds(&range, "Optimizer.step#Adam.step")) << "the better source took over";
  EXPECT_FALSE(windows.ModuleBegins(64));
  EXPECT_TRUE(windows.RangeBegins(&range, "ProfilerStep#5")->closes);
}

}  // namespace
}  // namespace memoir
