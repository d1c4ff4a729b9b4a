#include "interpose/cuda/block_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace memoir {
namespace {

constexpr std::uint64_t kBase = 0x7000'0000'0000;

// Both words of an entry agree.
TableEntry EntryOf(std::uint32_t number) {
  return {.bytes = std::uint64_t{number} << 32 | number, .index = number, .call = DriverCall::kMalloc, .device = 3};
}
std::atomic<int> torn{0};
std::atomic<int> looked_at{0};

bool IsMeant(const TableEntry& entry, const void*) {
  ++looked_at;
  if (entry.bytes != (std::uint64_t{entry.index} << 32 | entry.index) || entry.device != 3) ++torn;
  return false;
}

// Others give and take blocks, again and again at the same addresses, while one thread looks at all of them.
TEST(BlockTableTest, WhoLooksAtAllBlocksSeesWholeEntries) {
  ASSERT_TRUE(ClearBlockTable());
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&stop, thread] {
      for (std::uint32_t round = 1; !stop; ++round) {
        const std::uint64_t address = kBase + (thread * 64 + round % 64) * 512;
        PutEntry(KeyKind::kBlock, address, EntryOf(round));
        TableEntry found{};
        if (round % 3 == 0) TakeEntry(KeyKind::kBlock, address, &found);
      }
    });
  }
  while (looked_at < 20'000 && torn == 0) MarkBlocks(1, &IsMeant, nullptr);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
}

TEST(BlockTableTest, ABlockThatIsGivenAtAMarkedAddressIsNotMarked) {
  ASSERT_TRUE(ClearBlockTable());
  PutEntry(KeyKind::kBlock, kBase, EntryOf(1));
  PutEntry(KeyKind::kBlock, kBase + 512, EntryOf(2));
  MarkBlocks(7, [](const TableEntry&, const void*) { return true; }, nullptr);
  PutEntry(KeyKind::kBlock, kBase, EntryOf(3));  // its free was not seen
  static std::vector<std::uint32_t> taken;
  taken.clear();
  TakeMarkedBlocks(7, 0, [](std::uint64_t, const TableEntry& entry, std::uint64_t) { taken.push_back(entry.index); });
  EXPECT_EQ(taken, std::vector<std::uint32_t>{2});
  TableEntry entry{};
  ASSERT_TRUE(TakeEntry(KeyKind::kBlock, kBase, &entry));
  EXPECT_EQ(entry.index, 3u);
  EXPECT_FALSE(TakeEntry(KeyKind::kBlock, kBase + 512, &entry));
}

}  // namespace
}  // namespace memoir
