// A set of bytes: ranges against an array that does the same.
#include "simcuda/contents/byte_ranges.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace memoir::simcuda {
namespace {

TEST(ByteRanges, NeighboursAreOneRange) {
  ByteRanges known;
  known.Add(100, 10);
  known.Add(110, 10);
  EXPECT_EQ(known.ranges(), 1u);
  EXPECT_TRUE(known.Contains(100, 20));
  EXPECT_FALSE(known.Contains(99, 2));
  EXPECT_FALSE(known.Contains(119, 2));
  EXPECT_TRUE(known.Contains(5, 0)) << "nothing is known of nothing";
}

TEST(ByteRanges, AreListed) {
  ByteRanges some;
  some.Add(300, 10);
  some.Add(100, 10);
  some.Add(105, 20);
  const std::vector<ByteRange> list = some.List();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].address + list[0].bytes, 125u);
  EXPECT_EQ(list[1].address + list[1].bytes, 310u);
}

TEST(ByteRanges, RemovingTheMiddleLeavesBothEnds) {
  ByteRanges known;
  known.Add(0, 100);
  known.Remove(40, 20);
  EXPECT_TRUE(known.Contains(0, 40));
  EXPECT_TRUE(known.Contains(60, 40));
  EXPECT_FALSE(known.Contains(39, 2));
  known.Remove(0, 1000);
  EXPECT_EQ(known.ranges(), 0u);
}

TEST(ByteRanges, AsAnArrayWouldHaveIt) {
  constexpr std::size_t kBytes = 500;
  std::vector<bool> model(kBytes, false);
  ByteRanges known;
  std::mt19937 random(5);
  for (int i = 0; i < 4000; ++i) {
    const std::size_t first = random() % kBytes, bytes = random() % (kBytes - first);
    const bool add = random() % 2 == 0;
    const auto begin = model.begin() + static_cast<std::ptrdiff_t>(first);
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(bytes), add);
    add ? known.Add(first, bytes) : known.Remove(first, bytes);
    const std::size_t at = random() % kBytes, count = random() % (kBytes - at);
    const auto from = model.begin() + static_cast<std::ptrdiff_t>(at);
    const bool all = std::all_of(from, from + static_cast<std::ptrdiff_t>(count), [](bool b) { return b; });
    ASSERT_EQ(known.Contains(at, count), all) << i;
    ASSERT_LE(known.ranges(), kBytes / 2);
  }
}

}  // namespace
}  // namespace memoir::simcuda
