// cudaMalloc's addresses, as NVIDIA's driver was seen to deal them: chunks of 32 MiB steps from the top of what is
// free, what a chunk has left over, newest first, and what becomes of chunks that were given back.
#include "simcuda/addresses/block_addresses.h"

#include <iterator>
#include <map>
#include <random>

#include "gtest/gtest.h"

namespace memoir::simcuda {
namespace {

constexpr std::uint64_t kMebibyte = 1u << 20;
constexpr std::uint64_t kStep = 2 * kMebibyte;

class BlockAddressesTest : public testing::Test {
 protected:
  void SetUp() override {
    space.Reserve(60, 4096 * kMebibyte, 4096 * kMebibyte);
    ASSERT_EQ(space.size(), 4096 * kMebibyte);
    top = (space.base() + space.size()) / BlockAddresses::kChunkStep * BlockAddresses::kChunkStep;
  }

  std::uint64_t Take(std::uint64_t mebibytes) { return blocks.Take(mebibytes * kMebibyte, kStep); }
  void Give(std::uint64_t address, std::uint64_t mebibytes) { blocks.Give(address, mebibytes * kMebibyte); }
  std::uint64_t Below(std::uint64_t mebibytes) const { return top - mebibytes * kMebibyte; }

  AddressSpace space;
  BlockAddresses blocks{space, AddressOrder::kLinux};
  std::uint64_t top = 0;
};

TEST_F(BlockAddressesTest, ChunksOf32MebibytesDescend) {
  EXPECT_EQ(Take(20), Below(32));
  EXPECT_EQ(Take(20), Below(64));
  EXPECT_EQ(Take(100), Below(64 + 128));
  EXPECT_EQ(Take(32), Below(192 + 32));
}

TEST_F(BlockAddressesTest, WhatIsLeftOverGoesToTheNewestChunksFirst) {
  const std::uint64_t old = Take(100), newer = Take(100), newest = Take(40);
  EXPECT_EQ(Take(20), newest + 40 * kMebibyte);
  EXPECT_EQ(Take(20), newer + 100 * kMebibyte) << "4 MiB of the newest are too few";
  EXPECT_EQ(Take(20), old + 100 * kMebibyte);
  EXPECT_EQ(Take(2), newest + 60 * kMebibyte);
  EXPECT_LT(Take(20), newest) << "and where none has room, a chunk below";
}

TEST_F(BlockAddressesTest, WithinAChunkTheSmallestHoleThatSufficesIsTaken) {
  const std::uint64_t first = Take(20), second = Take(2);
  ASSERT_EQ(second, first + 20 * kMebibyte);
  Give(first, 20);
  EXPECT_EQ(Take(10), second + 2 * kMebibyte);
  EXPECT_EQ(Take(10), first);
  EXPECT_EQ(Take(10), first + 10 * kMebibyte);
}

TEST_F(BlockAddressesTest, AnEmptyChunkIsGivenBackAndTheHighestHoleComesFirst) {
  const std::uint64_t first = Take(60), second = Take(60), third = Take(60), fourth = Take(60);
  Give(fourth, 60);
  Give(first, 60);
  Give(second, 60);
  EXPECT_EQ(Take(32), first + 32 * kMebibyte);
  EXPECT_EQ(Take(60), Below(32 + 64)) << "of another size, as nothing of the old chunks is remembered";
  EXPECT_NE(third, 0u);
}

// A mapping with an alignment takes room for one step more (less a page), and gives that back.
TEST_F(BlockAddressesTest, AHoleOfExactlyTheSizeIsNotFilled) {
  const std::uint64_t first = Take(32), second = Take(64), third = Take(32);
  EXPECT_EQ(first, Below(32));
  Give(second, 64);
  const std::uint64_t below = Take(64);
  EXPECT_LT(below, third);
  EXPECT_EQ(Take(32), second + 32 * kMebibyte) << "its upper half has room for one of 32 MiB";
  EXPECT_EQ(Take(32), below - 32 * kMebibyte) << "its lower half has not";
}

TEST_F(BlockAddressesTest, UnderWslTheyAscend) {
  BlockAddresses wsl(space, AddressOrder::kWsl);
  const std::uint64_t bottom =
      (space.base() + BlockAddresses::kChunkStep - 1) / BlockAddresses::kChunkStep * BlockAddresses::kChunkStep;
  EXPECT_EQ(wsl.Take(20 * kMebibyte, kStep), bottom);
  EXPECT_EQ(wsl.Take(40 * kMebibyte, kStep), bottom + 32 * kMebibyte);
  EXPECT_EQ(wsl.Take(10 * kMebibyte, kStep), bottom + (32 + 40) * kMebibyte);
  wsl.Give(bottom, 20 * kMebibyte);
  EXPECT_EQ(wsl.Take(32 * kMebibyte, kStep), bottom);
}

TEST_F(BlockAddressesTest, WhereThereIsNoRoomForAChunkAnyHoleWillDo) {
  const std::uint64_t rest = space.size() - 40 * kMebibyte, all = space.Take(rest, kStep);
  ASSERT_NE(all, 0u);
  const std::uint64_t block = Take(30);
  EXPECT_NE(block, 0u);
  EXPECT_EQ(Take(30), 0u);
  Give(block, 30);
  EXPECT_EQ(Take(30), block);
}

// None overlap, and giving everything back leaves one hole.
TEST_F(BlockAddressesTest, RandomProgramsNeverOverlap) {
  std::mt19937 random(11);
  std::map<std::uint64_t, std::uint64_t> live;
  for (int step = 0; step < 20'000; ++step) {
    if (!live.empty() && random() % 2 == 0) {
      const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      blocks.Give(victim->first, victim->second);
      live.erase(victim);
      continue;
    }
    const std::uint64_t bytes = (1 + random() % 40) * kStep, address = blocks.Take(bytes, kStep);
    if (address == 0) continue;
    ASSERT_TRUE(space.Contains(address) && space.Contains(address + bytes - 1));
    const auto after = live.lower_bound(address);
    ASSERT_TRUE(after == live.end() || address + bytes <= after->first);
    ASSERT_TRUE(after == live.begin() || std::prev(after)->first + std::prev(after)->second <= address);
    live[address] = bytes;
  }
  EXPECT_GT(live.size(), 10u);
  for (const auto& [address, bytes] : live) blocks.Give(address, bytes);
  EXPECT_NE(space.Take(space.size() - kStep, kStep), 0u);
}

}  // namespace
}  // namespace memoir::simcuda
