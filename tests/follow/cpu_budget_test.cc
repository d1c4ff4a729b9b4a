#include "tools/follow/cpu_budget.h"

#include "gtest/gtest.h"

namespace memoir {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(CpuBudgetTest, SpendsItsCreditThenReadsMemoryAlone) {
  CpuBudget budget(0.02, 100'000'000);
  EXPECT_TRUE(budget.ReadsInFull());
  budget.Spend(60'000'000, true);
  EXPECT_TRUE(budget.ReadsInFull());
  budget.Spend(60'000'000, true);
  EXPECT_FALSE(budget.ReadsInFull());
}

TEST(CpuBudgetTest, ReadsInFullAgainWhenItHasSavedForAWholeStep) {
  CpuBudget budget(0.02, 0);
  budget.SetChunksOfStep(5);
  budget.AdvanceTo(kSecond);
  budget.Spend(10'000'000, true);  // a chunk costs 10 ms: five of them are to be saved, and what is owed
  ASSERT_FALSE(budget.ReadsInFull());
  budget.AdvanceTo(3 * kSecond);
  EXPECT_FALSE(budget.ReadsInFull());
  budget.AdvanceTo(5 * kSecond);
  EXPECT_TRUE(budget.ReadsInFull());
}

// Over an hour in which everything costs far too much, it takes no more than its share for what is read in full.
TEST(CpuBudgetTest, KeepsItsShareOverAnHour) {
  CpuBudget budget(0.02);
  std::uint64_t spent = 0;
  for (std::uint64_t second = 1; second <= 3600; ++second) {
    budget.AdvanceTo(second * kSecond);
    const bool full = budget.ReadsInFull();
    const std::uint64_t cost = full ? 150'000'000 : 5'000'000;
    spent += cost;
    budget.Spend(cost, full);
  }
  EXPECT_LT(static_cast<double>(spent) / (3600.0 * kSecond), 0.021);
  EXPECT_GT(static_cast<double>(spent) / (3600.0 * kSecond), 0.015) << "what it may take, it takes";
}

TEST(CpuBudgetTest, HasNoBoundWhereNoneIsAskedFor) {
  CpuBudget budget(2);
  for (int i = 0; i < 100; ++i) budget.Spend(kSecond, true);
  EXPECT_TRUE(budget.ReadsInFull());
}

}  // namespace
}  // namespace memoir
