// Where torch's CUDA allocator cannot be followed, the time of that is known, and it is tried again. Torch's library is
// played by one whose snapshots fail when they are told to, the records by a list.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "interpose/ring/process_ring.h"
#include "tests/counted_getenv.h"
#include "tests/interpose/numbered_records.h"
#include "tests/refused_mprotect.h"
#include "tests/torch/fake_cuda_allocator.h"
#include "tracker/torch/cuda_allocator/cuda_allocator_hook.h"
#include "tracker/torch/cuda_allocator/device_level_hook.h"
#include "tracker/torch/cuda_allocator/device_records.h"
#include "tracker/torch/cuda_look.h"
#include "tracker/torch/hooks.h"

namespace memoir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Recorded {
  RecordKind kind;
  std::uint64_t address;
  bool operator==(const Recorded&) const = default;
};
std::vector<Recorded> recorded;
bool device_level_works = true;

constexpr std::uint64_t kFirst = 0x10000000, kSecond = 0x20000000, kThird = 0x30000000;

}  // namespace

void RecordBlock(RecordKind kind, std::uint64_t address, std::uint64_t, std::uint64_t, std::uint64_t,
                 const DevicePlace&) {
  recorded.push_back({kind, address});
}
void RecordFree(RecordKind kind, std::uint64_t address, std::uint64_t, const DevicePlace&) {
  if (kind == RecordKind::kDeallocate) recorded.push_back({kind, address});
}
void RecordSegment(SegmentAction, std::uint64_t, std::uint64_t, std::uint64_t, const DevicePlace&) {}
void RecordOutOfMemory(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, const DevicePlace&) {}
void RecordNumbers(const DeviceNumbers&, std::uint64_t, const DevicePlace&) {}
bool InstallDeviceLevelHook(c10::Allocator*, bool (*)()) { return device_level_works; }

namespace {

constexpr RecordKind kFound = RecordKind::kBlockFound, kAllocated = RecordKind::kBlockAllocate;

std::vector<CudaGap> Gaps() {
  CudaGap gaps[kMostCudaGaps];
  return {gaps, gaps + CudaGaps(gaps)};
}

void Resume() {
  ForgetCudaBlocks();
  FindCudaBlocks();
}

// As at the end of each range.
void EndOfRange() {
  if (CudaLookIsDue()) FindCudaBlocks();
}

class CudaAllocatorTest : public testing::Test {
 protected:
  void TearDown() override {
    Stop();
    refuse_mprotect = false;
    if (fake_ == nullptr) return;
    for (const std::uint64_t address : {kFirst, kSecond, kThird}) fake().free(address);
    fake().failing_snapshots = 0;
    fake().during_snapshot = nullptr;
    fake().name = "native";
  }
  // As a session does.
  void Start() {
    ASSERT_EQ(OpenRingIn(folder_.path(), kDefaultRingBytes), "");
    recorded.clear();
    InstallCudaAllocatorHook();
    ForgetCudaBlocks();
    SetRecordingEnabled(true);
    FindCudaBlocks();
  }
  void Stop() {
    SetRecordingEnabled(false);
    RingClose();
  }
  // With the library there.
  void StartFollowing() {
    fake();
    Start();
    EXPECT_EQ(CudaIsReady(), nullptr);
  }
  static FakeCudaAllocator& fake() {
    if (fake_ == nullptr) {
      void* library = dlopen(MEMOIR_FAKE_TORCH_CUDA, RTLD_NOW | RTLD_LOCAL);
      EXPECT_NE(library, nullptr) << dlerror();
      fake_ = reinterpret_cast<FakeCudaAllocator* (*)()>(dlsym(library, "fake_cuda_allocator"))();
    }
    return *fake_;
  }
  static inline FakeCudaAllocator* fake_ = nullptr;
  const TempFolder folder_;
};

// First: later ones have the library, whose slots are redirected once.
TEST_F(CudaAllocatorTest, AnAllocatorThatIsNotFoundIsLookedForAgain) {
  ASSERT_EQ(fake_, nullptr);
  Start();
  EXPECT_THAT(Gaps(), IsEmpty()) << "nobody has used CUDA";
  EXPECT_EQ(CudaIsReady(), nullptr);
  ASSERT_EQ(Gaps().size(), 1u);
  EXPECT_THAT(Gaps()[0].why, HasSubstr("was not found"));
  EXPECT_EQ(Gaps()[0].end_tick, 0u);
  Stop();

  fake().allocate(kFirst, 512);
  refuse_mprotect = true;
  Start();
  ASSERT_EQ(Gaps().size(), 1u);
  EXPECT_THAT(Gaps()[0].why, HasSubstr("refused"));
  EXPECT_THAT(recorded, IsEmpty());
  refuse_mprotect = false;
  Resume();
  EXPECT_THAT(recorded, ElementsAre(Recorded{kFound, kFirst}));
  fake().allocate(kSecond, 512);
  EXPECT_EQ(recorded.back(), (Recorded{kAllocated, kSecond}));
  ASSERT_EQ(Gaps().size(), 1u);
  EXPECT_GT(Gaps()[0].end_tick, Gaps()[0].begin_tick);
}

TEST_F(CudaAllocatorTest, ASnapshotThatFailsAtAResumeIsTakenAgain) {
  StartFollowing();
  fake().allocate(kFirst, 512);
  const std::uint32_t changes = CudaGapChanges();
  recorded.clear();
  fake().failing_snapshots = 1;
  Resume();
  ASSERT_EQ(Gaps().size(), 1u);
  EXPECT_THAT(Gaps()[0].why, HasSubstr("snapshot"));
  EXPECT_EQ(Gaps()[0].end_tick, 0u);
  EXPECT_NE(CudaGapChanges(), changes);

  EndOfRange();
  EXPECT_EQ(Gaps()[0].end_tick, 0u) << "nothing was allocated";
  fake().allocate(kSecond, 512);
  EXPECT_THAT(recorded, IsEmpty()) << "what the failed snapshot had shown is followed half";
  EndOfRange();
  EXPECT_THAT(recorded, ElementsAre(Recorded{kFound, kFirst}, Recorded{kFound, kSecond}));
  EXPECT_GE(Gaps()[0].end_tick, Gaps()[0].begin_tick);
  fake().free(kFirst);
  EXPECT_EQ(recorded.back(), (Recorded{RecordKind::kDeallocate, kFirst}));
}

TEST_F(CudaAllocatorTest, WhatFailsForGoodIsTriedEverMoreRarely) {
  StartFollowing();
  fake().failing_snapshots = 1 << 30;
  Resume();
  const int before = fake().snapshots;
  for (int i = 0; i < 1000; ++i) {
    fake().allocate(kFirst, 512);
    EndOfRange();
  }
  EXPECT_GT(fake().snapshots - before, 1);
  EXPECT_LT(fake().snapshots - before, 20);
  EXPECT_EQ(Gaps().size(), 1u);
}

TEST_F(CudaAllocatorTest, AThreadWithoutASlotLeavesItToAnother) {
  StartFollowing();
  fake().allocate(kFirst, 512);
  const std::uint32_t slots = ring_state.map.header->free_slots.exchange(0);  // as if so many threads were live
  std::thread([] { Resume(); }).join();
  ring_state.map.header->free_slots = slots;
  ASSERT_EQ(Gaps().size(), 1u);
  EXPECT_THAT(Gaps()[0].why, HasSubstr("slot"));
  recorded.clear();
  fake().allocate(kSecond, 512);
  EndOfRange();
  EXPECT_THAT(recorded, ElementsAre(Recorded{kFound, kFirst}, Recorded{kFound, kSecond}));
  EXPECT_NE(Gaps()[0].end_tick, 0u);
}

TEST_F(CudaAllocatorTest, AResumeDuringASnapshotIsSeenTo) {
  StartFollowing();
  fake().allocate(kFirst, 512);
  fake().during_snapshot = [] {
    fake_->during_snapshot = nullptr;
    std::thread([] { Resume(); }).join();
  };
  Resume();
  recorded.clear();
  fake().allocate(kSecond, 512);
  EXPECT_THAT(recorded, ElementsAre(Recorded{kAllocated, kSecond}));
  EXPECT_THAT(Gaps(), IsEmpty());
}

TEST_F(CudaAllocatorTest, MoreGapsThanThereIsRoomForAreOneLongOne) {
  StartFollowing();
  for (std::size_t i = 0; i < 2 * kMostCudaGaps; ++i) {
    fake().failing_snapshots = 1;
    Resume();
    Resume();
  }
  const std::vector<CudaGap> gaps = Gaps();
  ASSERT_EQ(gaps.size(), kMostCudaGaps);
  for (std::size_t i = 1; i < gaps.size(); ++i) EXPECT_GE(gaps[i].begin_tick, gaps[i - 1].end_tick);
  EXPECT_GT(gaps.back().end_tick, gaps.back().begin_tick);
}

TEST_F(CudaAllocatorTest, AnAllocatorThatCannotBeRecordedAtAllIsNamed) {
  StartFollowing();
  fake().name = "somebody's";
  device_level_works = false;
  Resume();
  device_level_works = true;
  ASSERT_EQ(Gaps().size(), 1u);
  EXPECT_STREQ(Gaps()[0].why, "torch's allocator is somebody's, which does not report its blocks");
}

// On whatever thread an operator ends, while the program may be changing it.
TEST_F(CudaAllocatorTest, TheEnvironmentIsLookedAtByStartAndByWhoeverSaysThatCudaIsReady) {
  StartFollowing();
  EXPECT_GT(looks.exchange(0), 0);
  Resume();
  EndOfRange();
  EXPECT_EQ(looks.load(), 0);
}

}  // namespace
}  // namespace memoir
