// Which ranges open and close a window of ranges.
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

}  // namespace
}  // namespace memoir
