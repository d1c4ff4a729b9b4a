// Stop and start again in one process: threads come along with slots of the ring that was.
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <semaphore>
#include <thread>
#include <vector>

#include "interpose/ring/process_ring.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

std::uint64_t FreeBytesIn(const std::string& folder) {
  struct statvfs room;
  EXPECT_EQ(statvfs(folder.c_str(), &room), 0);
  return std::uint64_t{room.f_bfree} * room.f_frsize;
}

// Of files and shared memory; what a sanitizer keeps for itself is neither.
std::uint64_t ResidentSharedBytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0, shared = 0;
  file >> all >> resident >> shared;
  return shared * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

bool IsMapped(const std::string& file) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    if (line.find(file) != std::string::npos) return true;
  }
  return false;
}

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

TEST_F(ReopenTest, ACallerThatKeptItsSlotLosesARecordOfNoRing) {
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
  EXPECT_EQ(RingReadCounters().dropped_records, 0u) << "it was begun under the ring before";
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

TEST_F(ReopenTest, ClosedRingsKeepNoMemory) {
  const std::uint64_t resident = ResidentSharedBytes();
  for (int cycle = 0; cycle < 20; ++cycle) {
    Open(kDefaultRingBytes);
    const std::string path = RingPath();
    ASSERT_TRUE(IsMapped(path));
    ASSERT_TRUE(HookNumber(0));
    reader_.reset();
    RingClose();
    ASSERT_FALSE(IsMapped(path)) << "a removed file keeps its room while any of it is mapped";
  }
  EXPECT_LT(ResidentSharedBytes(), resident + (1u << 20));
}

TEST_F(ReopenTest, AClosedRingGivesItsFoldersRoomBack) {
  SmallFolder small("64m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  const std::uint64_t before = FreeBytesIn(small.path());
  for (int cycle = 0; cycle < 3; ++cycle) {
    ASSERT_EQ(OpenRingIn(small.path(), kDefaultRingBytes), "");
    ASSERT_EQ(ring_state.map.segment_count, kDefaultRingBytes / kSegmentBytes);
    RingClose();
    EXPECT_EQ(FreeBytesIn(small.path()), before);
  }
}

TEST_F(ReopenTest, CloseCountsWhatNobodyRead) {
  Open(kMinRingBytes);
  for (std::uint64_t number = 0; number < 5; ++number) ASSERT_TRUE(HookNumber(number));
  Collected collected;
  collected.Drain(reader_.get());
  // Fills the segment that is half read, and one behind it.
  const std::uint64_t late = kSegmentBytes / kNumberBytes;
  for (std::uint64_t number = 5; number < 5 + late; ++number) ASSERT_TRUE(HookNumber(number));
  reader_.reset();
  EXPECT_EQ(RingClose(), late);
  EXPECT_EQ(RingClose(), 0u);
  Open(kMinRingBytes);
  ASSERT_TRUE(HookNumber(0));
  collected = {};
  collected.Drain(reader_.get());
  reader_.reset();
  EXPECT_EQ(RingClose(), 0u);
}

// A thread that waits for a segment is asleep in the ring that is closed: it comes out before there is another one.
TEST_F(ReopenTest, CloseWaitsForAThreadInsideAndTheNextRingDoesNotMeetIt) {
  Open(kMinRingBytes);
  std::uint64_t kept = 0;
  std::thread other([&] {
    ThreadSlot* slot = RingThread();
    while (PutNumber(slot, kept, OnEmptyPool::kWait)) ++kept;
  });
  while (RingReadCounters().waits == 0) std::this_thread::yield();
  Reopen();
  EXPECT_EQ(ring_state.page.load()->visitors.load(), 0);
  other.join();
  EXPECT_EQ(kept, kMinRingBytes / kSegmentBytes * (kSegmentBytes / kNumberBytes));
  EXPECT_EQ(RingReadCounters().dropped_records, 0u);
  RingExtentView view;
  EXPECT_EQ(reader_->Scan(&view, 1), 0u);
  EXPECT_EQ(ring_state.map.header->free_count.load(), kMinRingBytes / kSegmentBytes);
}

// A visitor held up for longer than close waits (by a debugger, say) finds its own ring's memory, and notices.
TEST_F(ReopenTest, AVisitThatOutlastsCloseKeepsItsOwnRing) {
  Open(kMinRingBytes);
  ASSERT_TRUE(HookNumber(0));
  const RingVisit visit;
  ASSERT_TRUE(visit.IsStillOpen());
  RingHeader* const header = visit.ring()->header;
  Reopen();
  EXPECT_FALSE(visit.IsStillOpen());
  EXPECT_EQ(visit.ring()->header, header);
  EXPECT_NE(ring_state.map.header, header);
  EXPECT_EQ(header->magic.load(), kRingMagic);
}

// Threads record without a pause while recordings come and go under them: each ring holds only records of its
// recording.
TEST_F(ReopenTest, NoRecordGoesAstrayBetweenRings) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        ThreadSlot* slot = RecordingEnabled() ? RingThread() : nullptr;
        if (slot != nullptr) PutNumber(slot, slot->generation, OnEmptyPool::kWait);
      }
    });
  }
  std::uint64_t seen = 0;
  for (int cycle = 0; cycle < 50; ++cycle) {
    Open(kMinRingBytes);
    std::vector<RingExtentView> views(kMinRingBytes / kSegmentBytes);
    while (RingReadCounters().waits == 0) std::this_thread::yield();
    const std::size_t count = reader_->Scan(views.data(), views.size());
    for (std::size_t index = 0; index < count; ++index) {
      for (const std::uint8_t* at = views[index].begin; at < views[index].end; at += kNumberBytes, ++seen) {
        AllocateRecord record;
        std::memcpy(&record, at, sizeof record);
        ASSERT_EQ(record.address, ring_state.generation);
      }
    }
    reader_.reset();
    RingClose();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(seen, 0u);
}

TEST_F(ReopenTest, ASecondRingIsRefusedWhileOneIsOpen) {
  Open(kMinRingBytes);
  EXPECT_NE(OpenRingIn(folder_.path(), kMinRingBytes).find("already open"), std::string::npos);
  EXPECT_TRUE(HookNumber(0));
}

}  // namespace
}  // namespace memoir
