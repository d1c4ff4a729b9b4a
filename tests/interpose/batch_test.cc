#include <cstring>

#include "interpose/ring/ring_batch.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

using RingBatchTest = RingTest;

void AddNumber(RingBatch& batch, std::uint64_t number) {
  std::uint8_t* place = batch.Reserve(kNumberBytes, OnEmptyPool::kWait);
  ASSERT_NE(place, nullptr);
  AllocateRecord record{};
  record.header.words = kNumberBytes / 8;
  record.header.kind = RecordKind::kAllocate;
  record.address = number;
  record.serial = ~number;
  std::memcpy(place, &record, sizeof record);
  batch.Add(kNumberBytes);
}

TEST_F(RingBatchTest, NothingIsSeenBeforeTheEnd) {
  Open(kMinRingBytes);
  ASSERT_TRUE(HookNumber(0));
  Collected collected;
  ASSERT_EQ(collected.Drain(reader_.get()), 1u);
  {
    RingBatch batch(RingThread());
    AddNumber(batch, 1);
    AddNumber(batch, 2);
    EXPECT_EQ(collected.Drain(reader_.get()), 0u);
  }
  EXPECT_EQ(collected.Drain(reader_.get()), 1u);
  EXPECT_EQ(collected.total(), 3u);
}

TEST_F(RingBatchTest, GoesOnInTheNextSegmentAndKeepsTheOrder) {
  Open(kMinRingBytes);
  std::uint64_t number = 0;
  while (number < 21'000) {
    RingBatch batch(RingThread());
    for (int i = 0; i < 7; ++i) AddNumber(batch, number++);
  }
  Collected collected;
  EXPECT_GT(collected.Drain(reader_.get()), 20u);
  EXPECT_EQ(collected.total(), 21'000u);
  EXPECT_EQ(RingReadCounters().dropped_records, 0u);
}

TEST_F(RingBatchTest, AnEmptyOneLeavesNoRecord) {
  Open(kMinRingBytes);
  ASSERT_TRUE(HookNumber(0));
  { const RingBatch batch(RingThread()); }
  ASSERT_TRUE(HookNumber(1));
  Collected collected;
  collected.Drain(reader_.get());
  EXPECT_EQ(collected.total(), 2u);
}

}  // namespace
}  // namespace memoir
