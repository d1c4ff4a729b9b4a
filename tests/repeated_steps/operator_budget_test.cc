// When operators have taken more of a program's time than they may. Clock and ring are played here.
#include "tracker/repeated_steps/operator_budget.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace memoir {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kBegin = 77 * kSecond;

class FullBudgetTest : public ::testing::Test {
 protected:
  // So many seconds more, in which operators take this share of the time where they are recorded. Returns in how many
  // tenths of a second they were.
  int Run(int seconds, double share) {
    int recorded = 0;
    for (int tenth = 0; tenth < 10 * seconds; ++tenth) {
      now_ += kSecond / 10;
      if (!spent_) segments_ += share * static_cast<double>(kSecond) / 10 / kNsPerExtent;
      recorded += spent_ ? 0 : 1;
      spent_ = budget_.IsSpent(now_, static_cast<std::uint64_t>(segments_));
    }
    return recorded;
  }

  OperatorBudget budget_{{}, kBegin, 1000};
  std::uint64_t now_ = kBegin;
  double segments_ = 1000;
  bool spent_ = false;
};

TEST_F(FullBudgetTest, TheFirstMinuteIsNotBounded) {
  EXPECT_EQ(Run(59, 0.8), 590);
  EXPECT_FALSE(spent_);
  Run(2, 0.8);
  EXPECT_TRUE(spent_);
}

TEST_F(FullBudgetTest, WhatTakesLessIsNeverBounded) { EXPECT_EQ(Run(3600, 0.049), 36000); }

TEST_F(FullBudgetTest, OnAverageItIsTheShare) {
  const int recorded = Run(600, 0.25);
  EXPECT_NEAR(recorded * 0.25 / 6000, 0.05, 0.005);
}

TEST_F(FullBudgetTest, OperatorsComeAgainForAWhileOnceTheShareHasFallen) {
  Run(120, 0.25);
  for (int i = 0; i < 20 * 600 && spent_; ++i) Run(1, 0.25);
  ASSERT_FALSE(spent_);
  EXPECT_GE(Run(5, 0.25), 10) << "a second and more";
}

TEST_F(FullBudgetTest, QuietHoursAreNoCreditForOthers) {
  Run(10 * 3600, 0);
  int recorded = 0;
  while (!spent_) recorded += Run(1, 0.5);
  EXPECT_LE(recorded, 10 * 200) << "of twenty minutes 5 % are one minute";
}

}  // namespace
}  // namespace memoir
