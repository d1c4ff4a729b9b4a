// Stop and start again in one process: threads come along with slots of the ring that was.
#include <semaphore>
#include <thread>

#include "interpose/lifecycle.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

class ReopenTest : public RingTest {
 protected:
  void Reopen() {
    SetRecordingEnabled(false);
    reader_.reset();
    RingClose();
    EXPECT_TRUE(folder_.IsEmpty());
    EXPECT_STREQ(RingPath(), "");
    Open(kMinRingBytes);
  }
};

TEST_F(ReopenTest, ThreadsAttachAnewAndStartOver) {
  Open(kMinRingBytes);
  std::binary_semaphore begun{0}, reopened{0};
  std::thread other([&] {
    for (std::uint64_t number = 0; number < 10; ++number) ASSERT_TRUE(HookNumber(number));
    begun.release();
    reopened.acquire();
    for (std::uint64_t number = 0; number < 10; ++number) ASSERT_TRUE(HookNumber(number));
  });
  begun.acquire();
  Reopen();
  reopened.release();
  other.join();
  Collected collected;
  collected.Drain(reader_.get());
  EXPECT_EQ(collected.total(), 10u);
  EXPECT_EQ(RingReadCounters().dropped_records, 0u);
}

TEST_F(ReopenTest, ACallerThatKeptItsSlotLosesOneCountedRecord) {
  Open(kMinRingBytes);
  std::binary_semaphore begun{0}, reopened{0};
  std::thread other([&] {
    ThreadSlot* slot = RingAttachThread();
    ASSERT_TRUE(PutNumber(slot, 0, OnEmptyPool::kWait));
    begun.release();
    reopened.acquire();
    EXPECT_FALSE(PutNumber(slot, 1, OnEmptyPool::kWait));
    EXPECT_EQ(memoir_thread_slot, nullptr);
    EXPECT_TRUE(HookNumber(0));
  });
  begun.acquire();
  Reopen();
  reopened.release();
  other.join();
  EXPECT_EQ(RingReadCounters().dropped_records, 1u);
}

TEST_F(ReopenTest, LateHooksAfterCloseAreHarmless) {
  Open(kMinRingBytes);
  ThreadSlot* slot = RingThread();
  ASSERT_TRUE(PutNumber(slot, 0, OnEmptyPool::kWait));
  std::uint8_t* place = RingReserve(slot, kNumberBytes, OnEmptyPool::kWait);
  reader_.reset();
  RingClose();
  std::memset(place, 1, kNumberBytes);  // was between reserve and commit all the while
  RingCommit(slot, kNumberBytes);
  EXPECT_EQ(RingReserve(slot, kNumberBytes, OnEmptyPool::kWait), nullptr);
  EXPECT_EQ(RingAttachThread(), nullptr);
  EXPECT_EQ(RingDefineOperator("a", "b", nullptr, 0), 0u);
  SetRecordingEnabled(true);
  EXPECT_FALSE(RecordingEnabled());
}

TEST_F(ReopenTest, ASecondRingIsRefusedWhileOneIsOpen) {
  Open(kMinRingBytes);
  EXPECT_NE(OpenRingIn(folder_.path(), kMinRingBytes).find("already open"), std::string::npos);
  EXPECT_TRUE(HookNumber(0));
}

}  // namespace
}  // namespace memoir
