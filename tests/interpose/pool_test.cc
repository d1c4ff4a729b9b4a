#include <atomic>
#include <thread>

#include "interpose/ring/process_ring.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

constexpr std::uint64_t kSegments = kMinRingBytes / kSegmentBytes;
constexpr std::uint64_t kRecordsOfSegment = kSegmentBytes / kNumberBytes;
constexpr std::uint64_t kRecordsOfRing = kSegments * kRecordsOfSegment;

class PoolTest : public RingTest {
 protected:
  void SetUp() override { Open(kMinRingBytes); }
  void TearDown() override {
    ring_state.max_wait_ns = 5'000'000'000;
    RingTest::TearDown();
  }
  std::uint64_t Put(std::uint64_t first, std::uint64_t count, OnEmptyPool on_empty) {
    std::uint64_t kept = 0;
    for (std::uint64_t number = first; number < first + count; ++number) kept += HookNumber(number, on_empty);
    return kept;
  }
};

TEST_F(PoolTest, WhatDoesNotFitIsDroppedCountedAndSeenAsAGap) {
  EXPECT_EQ(Put(0, kRecordsOfRing + 1'000, OnEmptyPool::kDrop), kRecordsOfRing);
  EXPECT_EQ(RingReadCounters().dropped_records, 1'000u);
  EXPECT_EQ(RingReadCounters().waits, 0u);
  Collected collected;
  EXPECT_EQ(collected.Drain(reader_.get()), kSegments);

  EXPECT_EQ(Put(kRecordsOfRing + 1'000, 10, OnEmptyPool::kDrop), 10u);
  RingExtentView view;
  ASSERT_EQ(reader_->Scan(&view, 1), 1u);
  EXPECT_EQ(view.first_record, kRecordsOfRing + 1'000);  // the gap is exactly what was counted
  EXPECT_EQ(collected.Take(view, true), 10u);
}

TEST_F(PoolTest, AWaitInVainIsBoundedAndHappensOncePerStall) {
  ring_state.max_wait_ns = 20'000'000;
  EXPECT_EQ(Put(0, kRecordsOfRing + 100, OnEmptyPool::kWait), kRecordsOfRing);
  const RingCounters first = RingReadCounters();
  EXPECT_EQ(first.waits, 1u);
  EXPECT_GE(first.wait_ns, 20'000'000u);
  EXPECT_EQ(first.dropped_records, 100u);

  Collected collected;
  collected.Drain(reader_.get());
  EXPECT_EQ(Put(kRecordsOfRing + 100, kRecordsOfRing + 5, OnEmptyPool::kWait), kRecordsOfRing);
  EXPECT_EQ(RingReadCounters().waits, 2u);
  EXPECT_EQ(RingReadCounters().dropped_records, 105u);
}

TEST_F(PoolTest, AWaitingThreadGoesOnWhenSegmentsComeBack) {
  std::atomic<bool> done{false};
  std::thread producer([&] {
    EXPECT_EQ(Put(0, 3 * kRecordsOfRing, OnEmptyPool::kWait), 3 * kRecordsOfRing);
    done = true;
  });
  // Nothing is read before the producer stands still.
  while (RingReadCounters().waits == 0) std::this_thread::yield();
  Collected collected;
  while (!done) collected.Drain(reader_.get());
  producer.join();
  collected.Drain(reader_.get());
  EXPECT_EQ(collected.total(), 3 * kRecordsOfRing);
  EXPECT_EQ(RingReadCounters().dropped_records, 0u);
}

// More live threads than segments: the wait's bound is for segments that are on their way back.
TEST_F(PoolTest, WhereThreadsHoldAllSegmentsNobodyWaitsForLong) {
  ring_state.max_wait_ns = 3'000'000'000;
  std::atomic<std::uint64_t> live{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> owners;
  for (std::uint64_t owner = 0; owner < kSegments; ++owner) {
    owners.emplace_back([&] {
      EXPECT_TRUE(HookNumber(0));
      ++live;
      live.notify_all();
      done.wait(false);
    });
  }
  for (std::uint64_t seen = live; seen < kSegments; seen = live) live.wait(seen);
  EXPECT_FALSE(HookNumber(0));
  EXPECT_EQ(RingReadCounters().waits, 1u);
  EXPECT_LT(RingReadCounters().wait_ns, 3'000'000'000u);
  done = true;
  done.notify_all();
  for (std::thread& owner : owners) owner.join();
  Collected collected;
  collected.Drain(reader_.get());
  EXPECT_TRUE(HookNumber(1));
  EXPECT_EQ(ring_state.map.header->full_count.load(), 0u);
}

TEST_F(PoolTest, SwitchingOffEndsAWait) {
  std::thread producer([&] { Put(0, kRecordsOfRing + 1, OnEmptyPool::kWait); });
  while (RingReadCounters().waits == 0) std::this_thread::yield();
  SetRecordingEnabled(false);
  producer.join();  // the wait's own bound is 5 s
  EXPECT_LT(RingReadCounters().wait_ns, 5'000'000'000u);
  EXPECT_EQ(RingReadCounters().dropped_records, 1u);
}

TEST_F(PoolTest, TheReaderIsWokenWhenLessThanHalfIsFree) {
  reader_->WaitForWork(0);
  std::thread producer([&] { Put(0, kRecordsOfRing * 6 / 10, OnEmptyPool::kDrop); });
  reader_->WaitForWork(UINT64_C(3600) * 1'000'000'000);  // without the wake, an hour
  producer.join();
  EXPECT_LT(ring_state.map.header->free_count.load(), kSegments / 2);
}

TEST_F(PoolTest, WakeBeforeTheWaitIsNotLost) {
  reader_->Wake();
  reader_->WaitForWork(UINT64_C(3600) * 1'000'000'000);
}

TEST_F(PoolTest, AllSegmentsAreBackWhenAllIsRead) {
  Collected collected;
  for (std::uint64_t round = 0; round < 20; ++round) {
    Put(round * kRecordsOfRing / 2, kRecordsOfRing / 2, OnEmptyPool::kDrop);
    collected.Drain(reader_.get());
  }
  EXPECT_EQ(collected.total(), 10 * kRecordsOfRing);
  EXPECT_GE(ring_state.map.header->free_count.load(), kSegments - 1);  // one is the thread's own
}

}  // namespace
}  // namespace memoir
