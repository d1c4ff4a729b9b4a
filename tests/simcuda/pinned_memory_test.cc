// Pinned host memory: of CUDA's own, and the program's that it registered.
#include "simcuda/machine/pinned_memory.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace memoir::simcuda {
namespace {

TEST(PinnedMemory, IsOrdinaryMemoryThatIsRemembered) {
  PinnedMemory memory;
  auto* const bytes = static_cast<char*>(memory.Allocate(5000));
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(bytes[4999], 0);
  std::memset(bytes, 1, 5000);
  EXPECT_TRUE(memory.IsPinned(bytes) && memory.IsPinned(bytes + 4999));
  EXPECT_FALSE(memory.IsPinned(bytes - 1) || memory.IsPinned(bytes + 8192)) << "whole pages are";
  EXPECT_EQ(memory.pinned_bytes(), 8192u);
  EXPECT_FALSE(memory.Free(bytes + 1));
  EXPECT_FALSE(memory.Unregister(bytes)) << "it was not registered";
  EXPECT_TRUE(memory.Free(bytes));
  EXPECT_FALSE(memory.Free(bytes));
  EXPECT_EQ(memory.pinned_bytes(), 0u);
}

TEST(PinnedMemory, TheProgramsOwnIsRegisteredOnce) {
  PinnedMemory memory;
  std::vector<char> own(10'000);
  EXPECT_EQ(memory.Register(own.data(), 4000), PinnedMemory::RegisterResult::kYes);
  EXPECT_EQ(memory.Register(own.data() + 3999, 10), PinnedMemory::RegisterResult::kOverlaps);
  EXPECT_EQ(memory.Register(own.data() + 4000, 6000), PinnedMemory::RegisterResult::kYes);
  EXPECT_FALSE(memory.Free(own.data())) << "it is not CUDA's";
  EXPECT_TRUE(memory.Unregister(own.data()));
  EXPECT_FALSE(memory.IsPinned(own.data()));
  EXPECT_TRUE(memory.IsPinned(own.data() + 4000));
}

TEST(PinnedMemory, WhatTheSystemRefusesIsRefused) {
  PinnedMemory memory;
  EXPECT_EQ(memory.Allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(memory.Allocate(std::size_t{1} << 60), nullptr);
  EXPECT_EQ(memory.pinned_bytes(), 0u);
}

TEST(PinnedMemory, NoMoreIsPinnedThanTheBoundAllows) {
  PinnedMemory memory(3 * 4096);
  std::vector<char> own(8192);
  void* const block = memory.Allocate(5000);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(memory.Allocate(4097), nullptr);
  EXPECT_EQ(memory.Register(own.data(), 8192), PinnedMemory::RegisterResult::kRefused);
  EXPECT_EQ(memory.Register(own.data(), 4096), PinnedMemory::RegisterResult::kYes);
  EXPECT_EQ(memory.pinned_bytes(), 3u * 4096);
  EXPECT_TRUE(memory.Free(block));
  EXPECT_TRUE(memory.Unregister(own.data()));
  EXPECT_EQ(memory.pinned_bytes(), 0u);
}

}  // namespace
}  // namespace memoir::simcuda
