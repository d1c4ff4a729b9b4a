// Which block an address means.
#include "simcuda/contents/allocator_blocks.h"

#include "gtest/gtest.h"

namespace memoir::simcuda {

bool operator==(const ByteRange& a, const ByteRange& b) { return a.address == b.address && a.bytes == b.bytes; }

namespace {

constexpr ByteRange kSegment{1000, 1000};

TEST(AllocatorBlocks, AnAddressMeansItsBlock) {
  AllocatorBlocks blocks;
  blocks.Add(1100, 50);
  EXPECT_EQ(blocks.FindAround(1100, kSegment), (ByteRange{1100, 50}));
  EXPECT_EQ(blocks.FindAround(1149, kSegment), (ByteRange{1100, 50}));
}

TEST(AllocatorBlocks, WhereNoneIsKnownItMeansWhatLiesBetween) {
  AllocatorBlocks blocks;
  EXPECT_EQ(blocks.FindAround(1500, kSegment), kSegment);
  blocks.Add(1100, 50);
  blocks.Add(1600, 50);
  blocks.Add(5000, 50);
  EXPECT_EQ(blocks.FindAround(1050, kSegment), (ByteRange{1000, 100}));
  EXPECT_EQ(blocks.FindAround(1150, kSegment), (ByteRange{1150, 450}));
  EXPECT_EQ(blocks.FindAround(1999, kSegment), (ByteRange{1650, 350}));
}

TEST(AllocatorBlocks, ANewBlockEndsThoseThatItOverlaps) {
  AllocatorBlocks blocks;
  blocks.Add(1000, 100);
  blocks.Add(1100, 100);
  blocks.Add(1200, 100);
  blocks.Add(1050, 151);
  EXPECT_EQ(blocks.FindAround(1200, kSegment), (ByteRange{1050, 151}));
  EXPECT_EQ(blocks.FindAround(1000, kSegment), (ByteRange{1000, 50}));
  EXPECT_EQ(blocks.FindAround(1250, kSegment), (ByteRange{1201, 799}));
}

}  // namespace
}  // namespace memoir::simcuda
