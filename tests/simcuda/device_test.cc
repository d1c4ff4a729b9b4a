// Budget, addresses, blocks and physical memory of a device.
#include "simcuda/machine/device.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "simcuda/configuration/configuration.h"
#include "simcuda/machine/virtual_memory.h"

namespace memoir::simcuda {
namespace {

CardProfile SmallCard() {
  CardProfile profile;
  profile.memory = 100 * kMiB;
  profile.context = 10 * kMiB;
  return profile;
}

class DeviceTest : public testing::Test {
 protected:
  std::uint64_t Allocate(std::uint64_t bytes) { return device.Allocate(bytes, BlockKind::kDevice, kGranularity); }

  Contents contents;
  Device device{0, SmallCard(), contents};
};

TEST_F(DeviceTest, TheContextIsChargedOnce) {
  EXPECT_FALSE(device.started());
  EXPECT_EQ(device.Info().used, 0u);
  EXPECT_TRUE(device.Start() && device.Start());
  EXPECT_EQ(device.Info().used, 10 * kMiB);
}

TEST_F(DeviceTest, ExactlyWhatIsFreeFits) {
  EXPECT_EQ(Allocate(90 * kMiB + 1), 0u);
  const std::uint64_t all = Allocate(90 * kMiB);
  ASSERT_NE(all, 0u);
  EXPECT_EQ(Allocate(1), 0u);
  EXPECT_TRUE(device.Free(all, BlockKind::kDevice));
  EXPECT_EQ(device.Info().used, 10 * kMiB);
  EXPECT_EQ(device.Info().peak, 100 * kMiB);
}

TEST_F(DeviceTest, HugeRequestsAreRefused) {
  EXPECT_EQ(Allocate(UINT64_MAX), 0u);
  EXPECT_EQ(Allocate(UINT64_MAX - kGranularity), 0u);
  EXPECT_FALSE(device.Charge(UINT64_MAX, BudgetHolder::kMapped));
  EXPECT_EQ(device.Info().used, 10 * kMiB);
}

TEST_F(DeviceTest, BlocksAreRoundedAndFound) {
  const std::uint64_t address = Allocate(3 * kMiB);
  EXPECT_EQ(address % kGranularity, 0u);
  EXPECT_EQ(device.BlockAt(address + 4 * kMiB - 1)->address, address);
  EXPECT_FALSE(device.BlockAt(address + 4 * kMiB));
  EXPECT_EQ(device.BlockAt(address)->bytes, 4 * kMiB);
}

TEST_F(DeviceTest, OnlyWhatWasAllocatedIsFreed) {
  const std::uint64_t address = Allocate(4 * kMiB);
  EXPECT_FALSE(device.Free(address + kGranularity, BlockKind::kDevice));
  EXPECT_FALSE(device.Free(address, BlockKind::kAddresses));
  EXPECT_TRUE(device.Free(address, BlockKind::kDevice));
  EXPECT_FALSE(device.Free(address, BlockKind::kDevice));
}

TEST_F(DeviceTest, AFreedBlockIsZeroForItsNextOwner) {
  const std::uint64_t address = Allocate(1);
  contents.Copy(reinterpret_cast<void*>(address), "secret", 6);
  device.Free(address, BlockKind::kDevice);
  ASSERT_EQ(Allocate(1), address);
  EXPECT_EQ(*reinterpret_cast<const char*>(address), '\0');
  EXPECT_EQ(contents.kept_bytes(), 0u);
}

// The sum of what lives, blocks that do not overlap, and a program that sees the same addresses each time.
TEST_F(DeviceTest, RandomProgramsAddUp) {
  std::vector<std::uint64_t> first;
  for (int run = 0; run < 2; ++run) {
    Contents own;
    Device same(3, SmallCard(), own);
    ASSERT_TRUE(same.Start());
    std::map<std::uint64_t, std::uint64_t> live;
    std::vector<std::uint64_t> addresses;
    std::uint64_t lowest = UINT64_MAX;
    std::uint64_t expected = 10 * kMiB;
    std::mt19937 random(5);
    for (int i = 0; i < 3000; ++i) {
      if (random() % 2 == 0 && !live.empty()) {
        auto block = live.begin();
        std::advance(block, random() % live.size());
        ASSERT_TRUE(same.Free(block->first, BlockKind::kDevice));
        expected -= block->second;
        live.erase(block);
      } else {
        const std::uint64_t bytes = (1 + random() % 10) * kGranularity;
        const std::uint64_t address = same.Allocate(bytes, BlockKind::kDevice, kGranularity);
        ASSERT_EQ(address != 0, expected + bytes <= 100 * kMiB);
        if (address == 0) continue;
        const auto next = live.upper_bound(address);
        ASSERT_TRUE(next == live.end() || address + bytes <= next->first);
        ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= address);
        live[address] = bytes;
        lowest = std::min(lowest, address);
        addresses.push_back(address);
        expected += bytes;
      }
      ASSERT_EQ(same.Info().used, expected);
    }
    for (std::uint64_t& address : addresses) address -= lowest;  // regions of devices that live together differ
    if (run == 0) first = addresses;
    EXPECT_EQ(addresses, first);
  }
}

class VirtualMemoryTest : public DeviceTest {
 protected:
  VirtualMemoryTest() { addresses = device.Allocate(64 * kMiB, BlockKind::kAddresses, kGranularity); }
  VirtualMemory memory;
  std::uint64_t addresses = 0;
};

TEST_F(VirtualMemoryTest, AddressesCostNothingAndPhysicalMemoryDoes) {
  EXPECT_EQ(device.Info().used, 10 * kMiB);
  const auto handle = memory.Create(device, 20 * kMiB);
  ASSERT_NE(handle, 0u);
  EXPECT_EQ(device.Info().used, 30 * kMiB);
  EXPECT_EQ(memory.Create(device, 71 * kMiB), 0u);
  EXPECT_EQ(memory.physical_bytes(), 20 * kMiB);
}

TEST_F(VirtualMemoryTest, LivesUntilHandleAndMappingAreGone) {
  const auto handle = memory.Create(device, 20 * kMiB);
  ASSERT_TRUE(memory.Map(addresses, 20 * kMiB, handle));
  EXPECT_TRUE(memory.Release(handle));
  EXPECT_FALSE(memory.Release(handle));
  EXPECT_EQ(device.Info().used, 30 * kMiB);
  const auto again = memory.Retain(addresses + kMiB);
  EXPECT_EQ(again, handle);
  EXPECT_TRUE(memory.Unmap(addresses, 20 * kMiB));
  EXPECT_EQ(device.Info().used, 30 * kMiB);
  EXPECT_TRUE(memory.Release(again));
  EXPECT_EQ(device.Info().used, 10 * kMiB);
  EXPECT_EQ(memory.Retain(addresses), 0u);
}

TEST_F(VirtualMemoryTest, UnmapsSeveralAtOnceAndNothingInPart) {
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto handle = memory.Create(device, 4 * kMiB);
    ASSERT_TRUE(memory.Map(addresses + i * 4 * kMiB, 4 * kMiB, handle));
    memory.Release(handle);
  }
  EXPECT_FALSE(memory.Unmap(addresses, 6 * kMiB));
  EXPECT_FALSE(memory.Unmap(addresses + 32 * kMiB, 4 * kMiB));
  EXPECT_TRUE(memory.Unmap(addresses, 12 * kMiB));
  EXPECT_EQ(device.Info().used, 14 * kMiB);
}

TEST_F(VirtualMemoryTest, BadMapsAreRefused) {
  const auto handle = memory.Create(device, 4 * kMiB);
  EXPECT_FALSE(memory.Map(addresses, 2 * kMiB, handle));
  EXPECT_FALSE(memory.Map(addresses, 4 * kMiB, handle + 1));
  EXPECT_TRUE(memory.Map(addresses, 4 * kMiB, handle));
  EXPECT_FALSE(memory.Map(addresses + 2 * kMiB, 4 * kMiB, handle));
}

TEST_F(VirtualMemoryTest, UnmappedBytesAreGone) {
  const auto handle = memory.Create(device, 4 * kMiB);
  ASSERT_TRUE(memory.Map(addresses, 4 * kMiB, handle));
  contents.Copy(reinterpret_cast<void*>(addresses), "x", 1);
  memory.Unmap(addresses, 4 * kMiB);
  EXPECT_EQ(contents.kept_bytes(), 0u);
}

}  // namespace
}  // namespace memoir::simcuda
