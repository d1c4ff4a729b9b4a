// Addresses to numbers while entries come, move and go on another thread.
#include "tracker/modules/address_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace memoir {
namespace {

TEST(AddressTableTest, FindsWhatIsSetUntilItIsForgotten) {
  const auto table = std::make_unique<AddressTable>();
  EXPECT_EQ(table->Find(0x1000), AddressTable::kUnknown);
  EXPECT_TRUE(table->Set(0x1000, 7));
  EXPECT_EQ(table->Find(0x1000), 7u);
  table->Forget(0x1000, 8);
  EXPECT_EQ(table->Find(0x1000), 7u) << "it is another object's";
  table->Forget(0x1000, 7);
  EXPECT_EQ(table->Find(0x1000), AddressTable::kUnknown);
}

TEST(AddressTableTest, FullItRefuses) {
  const auto table = std::make_unique<AddressTable>();
  for (std::uint64_t i = 1; i <= AddressTable::kMost; ++i)
    ASSERT_TRUE(table->Set(i * 16, static_cast<std::uint32_t>(i)));
  EXPECT_FALSE(table->Set(1 << 30, 1));
  table->Forget(16, AddressTable::kUnknown);
  EXPECT_TRUE(table->Set(1 << 30, 1));
  for (std::uint64_t i = 2; i <= AddressTable::kMost; ++i) ASSERT_EQ(table->Find(i * 16), i);
}

// Addresses that all belong into the same slot: what is forgotten makes the next one move.
std::vector<std::uint64_t> Neighbours(std::size_t count) {
  std::uint64_t inverse = 1;  // of the factor by which the table spreads addresses
  for (int i = 0; i < 6; ++i) inverse *= 2 - 0x9e3779b97f4a7c15u * inverse;
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 1; found.size() < count; ++i) {
    if (const std::uint64_t address = i * inverse; address >> 60 == 0) found.push_back(address << 4);
  }
  return found;
}

TEST(AddressTableTest, NeverFindsTheNumberOfAnother) {
  constexpr std::uint32_t kRounds = 200'000;
  const std::vector<std::uint64_t> addresses = Neighbours(kRounds);
  const auto table = std::make_unique<AddressTable>();
  std::atomic<std::uint32_t> first{0};  // of the two that are in the table
  std::atomic<bool> reading{false};
  std::uint64_t wrong = 0, found = 0;
  ASSERT_TRUE(table->Set(addresses[0], 0));
  std::thread reader([&] {
    for (std::uint32_t at = 0; at + 1 < kRounds; at = first.load(std::memory_order_relaxed)) {
      const std::uint32_t value = table->Find(addresses[at]);
      wrong += value != at && value != AddressTable::kUnknown ? 1 : 0;
      found += value == at ? 1 : 0;
      reading.store(true, std::memory_order_relaxed);
    }
  });
  while (!reading.load(std::memory_order_relaxed))
    std::this_thread::yield();  // a thread's start can take longer than all the rounds
  for (std::uint32_t next = 1; next < kRounds; ++next) {
    EXPECT_TRUE(table->Set(addresses[next], next));
    table->Forget(addresses[next - 1], next - 1);  // `next` takes its place
    first.store(next, std::memory_order_relaxed);
  }
  reader.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(found, 0u);
}

}  // namespace
}  // namespace memoir
