// The tried values, and the messages for programs whose need does not grow with the value.
#include "tools/analyze/fit/largest_fit.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Judge = std::function<FitOutcome(std::uint64_t)>;

Judge FitsUpTo(std::uint64_t largest) {
  return [largest](std::uint64_t value) { return value <= largest ? FitOutcome::kFits : FitOutcome::kDoesNotFit; };
}

// How many values were tried.
std::size_t Search(LargestFit& search, std::size_t at_once, const Judge& judge) {
  for (auto values = search.ChooseValues(at_once); !values.empty(); values = search.ChooseValues(at_once)) {
    for (const std::uint64_t value : values) {
      EXPECT_FALSE(search.tried().contains(value)) << value << " was tried before";
      search.Add(value, judge(value));
    }
  }
  return search.tried().size();
}

TEST(LargestFit, FindsEveryAnswer) {
  for (const std::size_t at_once : {1, 2, 7}) {
    for (std::uint64_t answer = 3; answer <= 130; ++answer) {
      LargestFit search(3, 130, 1);
      EXPECT_LE(Search(search, at_once, FitsUpTo(answer)), 9u + 6u * at_once);
      EXPECT_EQ(search.largest(), answer);
      EXPECT_THAT(search.contradictions(), IsEmpty());
      if (answer < 130) {
        EXPECT_EQ(search.next_that_fails(), answer + 1);
      }
    }
  }
}

TEST(LargestFit, KeepsToTheStep) {
  LargestFit search(8, 511, 8);
  Search(search, 2, FitsUpTo(100));
  EXPECT_EQ(search.largest(), 96u);
  EXPECT_EQ(search.next_that_fails(), 104u);
  for (const auto& [value, outcome] : search.tried()) EXPECT_EQ(value % 8, 0u);
  EXPECT_EQ(search.tried().rbegin()->first, 504u);
}

TEST(LargestFit, OneValueAlone) {
  LargestFit search(5, 5, 1);
  EXPECT_THAT(search.ChooseValues(4), ElementsAre(5u));
  search.Add(5, FitOutcome::kFits);
  EXPECT_THAT(search.ChooseValues(4), IsEmpty());
  EXPECT_EQ(search.largest(), 5u);
}

TEST(LargestFit, NothingFits) {
  LargestFit search(1, 512, 1);
  Search(search, 2, FitsUpTo(0));
  EXPECT_FALSE(search.largest());
  EXPECT_EQ(search.next_that_fails(), 1u);
}

TEST(LargestFit, FromZeroAndVeryFar) {
  LargestFit search(0, 999'999'999, 1);
  EXPECT_LE(Search(search, 1, FitsUpTo(123'456'789)), 9u + 31u);
  EXPECT_EQ(search.largest(), 123'456'789u);
}

TEST(LargestFit, ValuesThatFailForAnotherReasonBoundNothing) {
  LargestFit search(1, 64, 1);
  Search(search, 1, [](std::uint64_t value) { return value % 2 == 1 ? FitOutcome::kFailed : FitsUpTo(37)(value); });
  EXPECT_EQ(search.largest(), 36u);
  EXPECT_EQ(search.next_that_fails(), 38u);
}

TEST(LargestFit, OnlyFailuresAbove) {
  LargestFit search(1, 64, 1);
  Search(search, 2, [](std::uint64_t value) { return value > 8 ? FitOutcome::kFailed : FitOutcome::kFits; });
  EXPECT_FALSE(search.next_that_fails());
  EXPECT_LE(search.largest(), 8u);
}

TEST(LargestFit, ASmallerOneThatDoesNotFitIsSaid) {
  LargestFit search(1, 256, 1);
  Search(search, 1, [](std::uint64_t value) { return value == 16 ? FitOutcome::kDoesNotFit : FitsUpTo(100)(value); });
  EXPECT_EQ(search.largest(), 100u);
  EXPECT_EQ(search.next_that_fails(), 101u);
  EXPECT_THAT(search.contradictions(), ElementsAre(16u));
}

}  // namespace
}  // namespace memoir
