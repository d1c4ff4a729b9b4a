// How often `memoir summarize --every` looks.
#include "tools/cli/ranks/look_pace.h"

#include <gtest/gtest.h>

namespace memoir {
namespace {

TEST(LookPaceTest, AsOftenAsAskedWhileLooksAreCheap) {
  EXPECT_DOUBLE_EQ(SecondsToNextExamination(0, 2, 5), 5);
  EXPECT_DOUBLE_EQ(SecondsToNextExamination(0.1, 2, 5), 5);
}

TEST(LookPaceTest, ThenSoThatItsShareOfACoreIsKept) {
  EXPECT_DOUBLE_EQ(SecondsToNextExamination(1, 2, 5), 50);
  EXPECT_DOUBLE_EQ(SecondsToNextExamination(1, 100, 0.5), 1);
}

}  // namespace
}  // namespace memoir
