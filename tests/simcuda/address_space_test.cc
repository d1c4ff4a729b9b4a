// Addresses of a device: lowest first, neighbours merge, and other requests are refused.
#include "simcuda/addresses/address_space.h"

#include <sys/resource.h>

#include <map>
#include <random>

#include "gtest/gtest.h"

namespace memoir::simcuda {
namespace {

constexpr std::uint64_t kMebibyte = 1u << 20;
constexpr std::uint64_t kStep = 2 * kMebibyte;

class AddressSpaceTest : public testing::Test {
 protected:
  void SetUp() override {
    space.Reserve(63, 64 * kMebibyte, 64 * kMebibyte);
    ASSERT_EQ(space.size(), 64 * kMebibyte);
  }

  AddressSpace space;
};

TEST_F(AddressSpaceTest, TheLowestGapThatSufficesIsTaken) {
  const std::uint64_t first = space.Take(kStep, kStep), second = space.Take(2 * kStep, kStep),
                      third = space.Take(kStep, kStep);
  EXPECT_EQ(second, first + kStep);
  EXPECT_EQ(third, second + 2 * kStep);
  space.Give(first, kStep);
  space.Give(second, 2 * kStep);
  EXPECT_EQ(space.Take(3 * kStep, kStep), first) << "neighbours are one gap again";
}

TEST_F(AddressSpaceTest, AlignmentLeavesWhatLiesBeforeFree) {
  constexpr std::uint64_t kAlignment = 16 * kMebibyte;
  std::uint64_t last = space.Take(kStep, kStep);
  if ((last + kStep) % kAlignment == 0) last = space.Take(kStep, kStep);  // the region may begin anywhere
  const std::uint64_t aligned = space.Take(kStep, kAlignment);
  EXPECT_EQ(aligned % kAlignment, 0u);
  EXPECT_GT(aligned, last + kStep);
  EXPECT_EQ(space.Take(kStep, kStep), last + kStep);
}

TEST_F(AddressSpaceTest, TheHighestAlignedGapLeavesRoomForItsAlignment) {
  constexpr std::uint64_t kAlignment = 4 * kMebibyte;
  const std::uint64_t top = (space.base() + space.size()) / kAlignment * kAlignment;
  const std::uint64_t first = space.TakeHighest(kAlignment, kAlignment), second = space.TakeHighest(kStep, kAlignment),
                      third = space.TakeHighest(kAlignment, kAlignment);
  EXPECT_EQ(first, top - kAlignment);
  EXPECT_EQ(second, first - kAlignment);
  EXPECT_EQ(third, second - kAlignment);
  space.Give(second, kStep);
  EXPECT_EQ(space.TakeHighest(kAlignment, kAlignment), third - kAlignment) << "a gap of that very size is too small";
  space.Give(first, kAlignment);
  EXPECT_EQ(space.TakeHighest(kAlignment, kAlignment), first);
}

TEST_F(AddressSpaceTest, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(space.Take(65 * kMebibyte, kStep), 0u);
  const std::uint64_t all = space.Take(64 * kMebibyte - kStep, kStep);
  ASSERT_NE(all, 0u);
  EXPECT_TRUE(space.Contains(all));
  EXPECT_FALSE(space.Contains(space.base() + space.size()));
  EXPECT_FALSE(space.Contains(space.base() - 1));
  space.Give(all, 64 * kMebibyte - kStep);
  EXPECT_EQ(space.Take(64 * kMebibyte - kStep, kStep), all);
}

// As a plain map of blocks would have it: none overlap, and giving everything back leaves one gap.
TEST_F(AddressSpaceTest, RandomProgramsNeverOverlap) {
  std::mt19937 random(7);
  std::map<std::uint64_t, std::uint64_t> blocks;
  for (int step = 0; step < 5000; ++step) {
    if (!blocks.empty() && random() % 2 == 0) {
      const auto victim = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random() % blocks.size()));
      space.Give(victim->first, victim->second);
      blocks.erase(victim);
      continue;
    }
    const std::uint64_t bytes = (1 + random() % 4) * kStep, address = space.Take(bytes, kStep);
    if (address == 0) continue;
    ASSERT_TRUE(space.Contains(address) && space.Contains(address + bytes - 1));
    const auto after = blocks.lower_bound(address);
    ASSERT_TRUE(after == blocks.end() || address + bytes <= after->first);
    ASSERT_TRUE(after == blocks.begin() || std::prev(after)->first + std::prev(after)->second <= address);
    blocks[address] = bytes;
  }
  EXPECT_GT(blocks.size(), 3u);
  for (const auto& [address, bytes] : blocks) space.Give(address, bytes);
  EXPECT_NE(space.Take(space.size() - kStep, kStep), 0u);
}

TEST(AddressSpaceLimit, LessIsTakenUnderALimitAndNothingBelowTheLeast) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers' own mappings are larger than any limit";
#endif
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 8ull << 30;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  AddressSpace less, none;
  less.Reserve(61, 1ull << 40, 1ull << 30);
  none.Reserve(62, 1ull << 40, 16ull << 30);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_GE(less.size(), 1ull << 30);
  EXPECT_LT(less.size(), 8ull << 30);
  EXPECT_EQ(none.size(), 0u);
}

}  // namespace
}  // namespace memoir::simcuda
