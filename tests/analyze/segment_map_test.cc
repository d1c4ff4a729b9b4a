// The unusable part of a device's reserved memory, with layouts drawn by hand.
#include "tools/analyze/segments/segment_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace memoir {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kFar = ~std::uint64_t{0};

ReservedPiece Piece(std::uint64_t mib, bool mapped) { return {.bytes = mib * kMiB, .mapped = mapped}; }

TEST(TouchedBytes, TheFirstBlockKeepsAWholeSegment) {
  const Pages pages = PagesOf(100 * kMiB, Piece(20, false));
  EXPECT_EQ(TouchedBytes(pages, 105 * kMiB, 106 * kMiB, 0, kFar), 20 * kMiB);
  EXPECT_EQ(TouchedBytes(pages, 105 * kMiB, 106 * kMiB, 103 * kMiB, kFar), 0) << "the block before keeps it already";
  EXPECT_EQ(TouchedBytes(pages, 105 * kMiB, 106 * kMiB, 0, 110 * kMiB), 0) << "the next one does";
  EXPECT_EQ(TouchedBytes(pages, 105 * kMiB, 106 * kMiB, 100 * kMiB, 120 * kMiB), 20 * kMiB)
      << "neighbours in other segments do not";
}

TEST(TouchedBytes, OfAnExpandableSegmentEachPageCounts) {
  const Pages pages = PagesOf(100 * kMiB, Piece(100, true));
  EXPECT_EQ(pages.bytes, 20 * kMiB);
  EXPECT_EQ(TouchedBytes(pages, 125 * kMiB, 145 * kMiB, 0, kFar), 40 * kMiB);
  EXPECT_EQ(TouchedBytes(pages, 125 * kMiB, 145 * kMiB, 121 * kMiB, kFar), 20 * kMiB);
  EXPECT_EQ(TouchedBytes(pages, 125 * kMiB, 145 * kMiB, 120 * kMiB, 150 * kMiB), 20 * kMiB);
  EXPECT_EQ(TouchedBytes(pages, 90 * kMiB, 95 * kMiB, 0, kFar), 20 * kMiB) << "of the piece before";
}

TEST(TouchedBytes, OfAnyOrderOfBlocksTheSumIsTheUnion) {
  std::mt19937 random(7);
  const Pages pages = PagesOf(40 * kMiB, Piece(400, true));
  for (int round = 0; round < 50; ++round) {
    std::map<std::uint64_t, std::uint64_t> blocks;  // address, end
    std::uint64_t sum = 0;
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t begin = (40 + random() % 390) * kMiB, end = begin + (1 + random() % 9) * kMiB;
      const auto next = blocks.lower_bound(begin);
      const std::uint64_t before = next == blocks.begin() ? 0 : std::prev(next)->second;
      const std::uint64_t after = next == blocks.end() ? kFar : next->first;
      if (before > begin || after < end) continue;
      sum += TouchedBytes(pages, begin, end, before, after);
      blocks[begin] = end;
    }
    std::uint64_t touched = 0;
    for (std::uint64_t page = 40 * kMiB; page < 440 * kMiB; page += 20 * kMiB) {
      for (const auto& [begin, end] : blocks) {
        if (begin >= page + 20 * kMiB || end <= page) continue;
        touched += 20 * kMiB;
        break;
      }
    }
    EXPECT_EQ(sum, touched);
  }
}

}  // namespace
}  // namespace memoir
