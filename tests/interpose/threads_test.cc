#include <pthread.h>

#include <atomic>
#include <thread>

#include "interpose/ring/process_ring.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

using ThreadsTest = RingTest;

// Records of 48 to 240 bytes, so that segments end at all kinds of places.
void PutManySizes(std::uint64_t count) {
  ThreadSlot* slot = RingThread();
  ASSERT_NE(slot, nullptr);
  for (std::uint64_t number = 0; number < count; ++number) {
    const std::size_t bytes = kNumberBytes + (number * 7 % 25) * 8;
    ASSERT_TRUE(PutNumber(slot, number, OnEmptyPool::kWait, bytes));
  }
}

TEST_F(ThreadsTest, EveryRecordOfManyProducersArrivesOnceAndInOrder) {
  constexpr std::uint64_t kThreads = 8;
  constexpr std::uint64_t kRecords = 60'000;
  Open(kMinRingBytes);
  std::atomic<bool> done{false};
  Collected collected;
  std::thread consumer([&] {
    while (!done) {
      collected.Drain(reader_.get());
      reader_->WaitForWork(1'000'000);
    }
  });
  std::vector<std::thread> producers;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) producers.emplace_back(PutManySizes, kRecords);
  for (std::thread& producer : producers) producer.join();
  done = true;
  reader_->Wake();
  consumer.join();
  collected.Drain(reader_.get());

  EXPECT_EQ(collected.total(), kThreads * kRecords);
  EXPECT_EQ(collected.next().size(), kThreads);
  for (const auto& [thread, next] : collected.next()) EXPECT_EQ(next, kRecords) << "thread " << thread;
  EXPECT_EQ(RingReadCounters().dropped_records, 0u);
}

TEST_F(ThreadsTest, TenThousandShortThreadsShareTheSlotsAndNeverANumber) {
  constexpr int kThreads = 10'000;
  constexpr int kAtOnce = 50;
  Open(kMinRingBytes);
  Collected collected;
  for (int begun = 0; begun < kThreads; begun += kAtOnce) {
    std::vector<std::thread> threads;
    for (int index = 0; index < kAtOnce; ++index) {
      threads.emplace_back([] {
        for (std::uint64_t number = 0; number < 5; ++number) HookNumber(number);
      });
    }
    for (std::thread& thread : threads) thread.join();
    collected.Drain(reader_.get());
  }
  EXPECT_EQ(collected.next().size(), static_cast<std::size_t>(kThreads));
  EXPECT_EQ(collected.total(), 5u * kThreads);
  EXPECT_EQ(RingReadCounters().dropped_records, 0u);
  EXPECT_EQ(ring_state.map.header->free_slots.load(), kThreadSlots);
  EXPECT_EQ(ring_state.map.header->free_count.load(), kMinRingBytes / kSegmentBytes);
}

TEST_F(ThreadsTest, WithoutAFreeSlotTheRecordCountsAsLost) {
  Open(4u << 20);
  for (std::uint32_t index = 0; index < kThreadSlots; ++index) {
    std::thread([] { RingThread(); }).join();
  }
  std::thread([] { EXPECT_FALSE(HookNumber(0)); }).join();
  EXPECT_EQ(RingReadCounters().dropped_records, 1u);
  EXPECT_EQ(RingReadCounters().slotless_records, 1u);
  reader_->ReleaseConsumed();
  std::thread([] { EXPECT_TRUE(HookNumber(0)); }).join();
}

// Its records are the only ones that come: the reader would be woken for each of them, to find nothing.
TEST_F(ThreadsTest, AThreadWithoutASlotDoesNotWakeTheReader) {
  Open(4u << 20);
  std::atomic<std::uint32_t> live{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (std::uint32_t index = 0; index < kThreadSlots; ++index) {
    threads.emplace_back([&] {
      RingThread();
      ++live;
      live.notify_all();
      done.wait(false);
    });
  }
  for (std::uint32_t seen = live; seen < kThreadSlots; seen = live) live.wait(seen);
  const std::uint32_t wakes = ring_state.map.header->work_word.load();
  for (std::uint64_t number = 0; number < 100; ++number) EXPECT_FALSE(HookNumber(number));
  EXPECT_EQ(RingReadCounters().slotless_records, 100u);
  EXPECT_EQ(ring_state.map.header->work_word.load(), wakes);
  done = true;
  done.notify_all();
  for (std::thread& thread : threads) thread.join();
}

// The tracker keeps a page there: cleared, each thread ever begun would leave one behind.
TEST_F(ThreadsTest, ARecycledSlotKeepsItsScratch) {
  Open(kMinRingBytes);
  ThreadSlot* first = nullptr;
  std::thread([&] {
    first = RingThread();
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->scratch, 0u);
    first->scratch = 0x1234;
  }).join();
  ASSERT_NE(first, nullptr);
  const std::uint32_t first_thread = first->thread;
  reader_->ReleaseConsumed();
  ring_state.map.header->slot_hint = static_cast<std::uint32_t>(first - ring_state.map.slots);
  std::thread([&] {
    ThreadSlot* second = RingThread();
    ASSERT_EQ(second, first);
    EXPECT_NE(second->thread, first_thread);
    EXPECT_EQ(second->scratch, 0x1234u);
  }).join();
}

TEST_F(ThreadsTest, AThreadIsKnownUntilItsRecordsAreRead) {
  Open(kMinRingBytes);
  std::uint32_t number = 0;
  std::thread([&] {
    pthread_setname_np(pthread_self(), "pt_autograd_0");
    ASSERT_TRUE(HookNumber(0));
    memoir_thread_slot->torch_id = 7;
    number = memoir_thread_slot->thread;
    ThreadView view;
    ASSERT_TRUE(reader_->FindThread(number, &view));
    EXPECT_FALSE(view.retired);
    EXPECT_EQ(view.os_id, static_cast<std::uint64_t>(gettid()));
  }).join();
  reader_->ReleaseConsumed();
  ThreadView view;
  ASSERT_TRUE(reader_->FindThread(number, &view));
  EXPECT_TRUE(view.retired);
  EXPECT_STREQ(view.name, "pt_autograd_0");
  EXPECT_EQ(view.torch_id, 7u);
  Collected collected;
  collected.Drain(reader_.get());
  EXPECT_FALSE(reader_->FindThread(number, &view));
}

constinit pthread_key_t late_key = 0;
constinit bool late_kept = false;
void RecordAtExit(void*) { late_kept = HookNumber(1); }

TEST_F(ThreadsTest, WhatOtherExitHandlersRecordStillBelongsToTheThread) {
  Open(kMinRingBytes);
  ASSERT_EQ(pthread_key_create(&late_key, RecordAtExit), 0);  // runs after the ring's own
  std::thread([] {
    pthread_setspecific(late_key, &late_key);
    ASSERT_TRUE(HookNumber(0));
  }).join();
  pthread_key_delete(late_key);
  EXPECT_TRUE(late_kept);
  Collected collected;
  collected.Drain(reader_.get());
  EXPECT_EQ(collected.next().size(), 1u);
  EXPECT_EQ(collected.total(), 2u);
}

}  // namespace
}  // namespace memoir
