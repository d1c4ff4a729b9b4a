// Pools of the caching allocator: the blocks of each, and their names.
#include "tools/analyze/grouping/pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/analyze/summarised.h"
#include "tests/captures/capture_builder.h"

namespace memoir {
namespace {

using testing::BytesAtPeak;
using ::testing::Pair;
using testing::ProcessBuilder;
using testing::RowNamed;
using testing::Summarise;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kMebibyte = 1u << 20;

Block In(std::uint64_t bytes, std::uint64_t stream = 0, std::uint32_t graph = 0, std::uint32_t user = 0) {
  Block block;
  block.bytes = bytes;
  block.stream = stream;
  block.pool_graph = graph;
  block.pool_user = user;
  return block;
}

TEST(Pools, AreToldApartBySizeStreamAndPrivatePool) {
  Pools pools;
  const std::uint32_t small = pools.NumberOf(In(kMebibyte));
  const std::uint32_t large = pools.NumberOf(In(kMebibyte + 512));
  const std::uint32_t stream = pools.NumberOf(In(512, 0x7f12));
  const std::uint32_t graph = pools.NumberOf(In(4 * kMebibyte, 0x7f12, 1));
  const std::uint32_t user = pools.NumberOf(In(512, 0, 0, 3));
  EXPECT_EQ(pools.NumberOf(In(512)), small);
  EXPECT_EQ(pools.NumberOf(In(20 * kMebibyte)), large);
  EXPECT_EQ(pools.LabelOf(small), "default pool, up to 1 MiB");
  EXPECT_EQ(pools.LabelOf(large), "default pool, over 1 MiB");
  EXPECT_EQ(pools.LabelOf(stream), "default pool, up to 1 MiB, stream 0x7f12");
  EXPECT_EQ(pools.LabelOf(graph), "graph pool (1, 0), over 1 MiB, stream 0x7f12");
  EXPECT_EQ(pools.LabelOf(user), "MemPool (0, 3), up to 1 MiB");
}

TEST(Pools, HaveTheSegmentsThatTheirBlocksAreCutFrom) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.Allocate(0x10, 100);
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x200000, 2 * kMebibyte).AllocateBlock(cuda, 0x200000, 512);
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x800000, 2 * kMebibyte)
      .AllocateBlock(cuda, 0x800000, 2 * kMebibyte);
  SummaryOptions options;
  options.by = GroupBy::kPool;
  const Summary summary = Summarise(process, options);
  EXPECT_THAT(BytesAtPeak(summary),
              UnorderedElementsAre(Pair("(no caching allocator)", 100), Pair("default pool, up to 1 MiB", 512),
                                   Pair("default pool, over 1 MiB", 2 * kMebibyte)));
  EXPECT_EQ(RowNamed(summary, "default pool, up to 1 MiB").total.reserved_bytes, 2 * kMebibyte);
  EXPECT_EQ(RowNamed(summary, "default pool, over 1 MiB").total.reserved_bytes, 2 * kMebibyte);
}

}  // namespace
}  // namespace memoir
