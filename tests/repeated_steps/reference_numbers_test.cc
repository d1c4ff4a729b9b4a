// Numbers are counted wherever they come in the list.
#include "tracker/repeated_steps/reference_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

namespace memoir::reference_numbers {
namespace {

class KnownNumbersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MapTable());
    Clear();
  }
  static std::vector<std::uint64_t> Numbers(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> numbers(count);
    for (std::uint64_t& number : numbers) number = random();
    return numbers;
  }
  Cursor cursor_{0};
};

TEST_F(KnownNumbersTest, AreCountedUpToTheMost) {
  const std::vector<std::uint64_t> numbers = Numbers(1000, 1);
  for (std::uint32_t round = 1; round <= kMostCounted + 2; ++round) {
    for (const std::uint64_t number : numbers) {
      EXPECT_EQ(TimesSeen(number, cursor_), std::min(round - 1, kMostCounted));
      EXPECT_EQ(Count(number, cursor_), std::min(round, kMostCounted));
    }
  }
  for (const std::uint64_t number : Numbers(1000, 2)) EXPECT_EQ(TimesSeen(number, cursor_), 0u);
}

// In turn, backward, in leaps, and by cursors that are anywhere.
TEST_F(KnownNumbersTest, AreFoundInAnyOrder) {
  const std::vector<std::uint64_t> numbers = Numbers(4096, 3);
  for (const std::uint64_t number : numbers) Count(number, cursor_);
  for (const std::size_t leap : {1u, 2u, 3u, 5u, 4095u, 1001u}) {
    Cursor cursor{static_cast<std::uint32_t>(37 * leap)};
    for (std::size_t i = 0, at = 0; i < numbers.size(); ++i, at = (at + leap) % numbers.size())
      ASSERT_EQ(TimesSeen(numbers[at], cursor), 1u) << leap;
  }
  Cursor behind{kMostNumbers - 1};
  EXPECT_EQ(TimesSeen(numbers[7], behind), 1u);
}

TEST_F(KnownNumbersTest, AreForgotten) {
  for (const std::uint64_t number : Numbers(100, 4)) Count(number, cursor_);
  Clear();
  for (const std::uint64_t number : Numbers(100, 4)) EXPECT_EQ(TimesSeen(number, cursor_), 0u);
  EXPECT_EQ(Count(5, cursor_), 1u);
  EXPECT_EQ(TimesSeen(5, cursor_), 1u);
}

TEST_F(KnownNumbersTest, AreNoMoreThanTheListHolds) {
  const std::vector<std::uint64_t> numbers = Numbers(kMostNumbers + 100, 5);
  std::size_t counted = 0;
  for (const std::uint64_t number : numbers) counted += Count(number, cursor_);
  EXPECT_TRUE(IsFull());
  EXPECT_LE(counted, kMostNumbers);
  EXPECT_GE(counted, kMostNumbers * 9 / 10);  // where too many have the same slots, the last ones are left out
  EXPECT_EQ(Count(numbers.back(), cursor_), 0u);
  EXPECT_EQ(Count(numbers.front(), cursor_), 2u);
}

TEST_F(KnownNumbersTest, OfSeveralThreadsAreAllThere) {
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      Cursor cursor{0};
      for (std::uint32_t round = 1; round <= 2; ++round) {
        for (const std::uint64_t number : Numbers(20'000, thread)) Count(number, cursor);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::size_t missing = 0;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    for (const std::uint64_t number : Numbers(20'000, thread)) missing += TimesSeen(number, cursor_) == 0;
  }
  EXPECT_EQ(missing, 0u);  // what one thread lost the first time it counted the second
}

}  // namespace
}  // namespace memoir::reference_numbers
