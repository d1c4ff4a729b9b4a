// The moment of a balance: the one asked for, as a whole, and what is from before it.
#include <string>

#include "tests/analyze/balance_fixture.h"

namespace memoir {
namespace {

using testing::BalanceTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kMiB;
using testing::kTotal;
using ::testing::Pair;
using testing::ProcessOptions;
using testing::Rows;

// As a program that does no more than one small allocation: its first reading comes before the blocks of that call.
TEST_F(BalanceTest, OfEqualReadingsThatWithOwners) {
  Read(v1::START, 262);
  process_.GiveDriverBlock(cuda_, 0x10, 260 * kMiB, v1::CONTEXT, "libc10_cuda.so");
  Read(v1::PEAK, 262);
  process_.GiveDriverBlock(cuda_, 0x1000000, 2 * kMiB, v1::MALLOC, "libc10_cuda.so");
  Read(v1::PEAK, 262);
  process_.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda_, 0x1000000, 2 * kMiB).AllocateBlock(cuda_, 0x1000000, kMiB);
  Read(v1::LAST, 262);
  EXPECT_THAT(Rows(Only()),
              ElementsAre(Pair("torch: allocated", 1), Pair("torch: cache (reserved, free)", 1), Pair("context", 260)));
  EXPECT_EQ(Only().unexplained, 0);
}

// Whatever moment is asked for, the readings inside of one call are one.
TEST_F(BalanceTest, TheFirstReadingHasTheBlocksOfItsOwnCall) {
  Read(v1::START, 562);
  process_.GiveDriverBlock(cuda_, 0x10, 260 * kMiB, v1::CONTEXT, "libc10_cuda.so");
  Read(v1::PEAK, 562);
  process_.GiveDriverBlock(cuda_, 0x1000000, 300 * kMiB, v1::MALLOC, "a.so");
  Read(v1::PEAK, 562);
  process_.GiveDriverBlock(cuda_, 0x90000000, 300 * kMiB, v1::MALLOC, "a.so");
  Read(v1::PEAK, 862);
  EXPECT_THAT(Rows(Only("start")), ElementsAre(Pair("a.so", 300), Pair("context", 260)));
  // Nothing is from before a context that was seen being made.
  EXPECT_EQ(Only("start").unexplained, 2 * static_cast<std::int64_t>(kMiB));
  EXPECT_EQ(Only("start").from_before, 0u);
  EXPECT_EQ(Only("start").unexplained_at_start, 2 * static_cast<std::int64_t>(kMiB));
  EXPECT_FALSE(Only("start").IsFinding());
}

// Expandable segments take the memory of one request in pieces of 20 MiB, and report it when all pieces are mapped.
TEST_F(BalanceTest, AMomentInsideOfAMappingIsThatAtItsEnd) {
  Read(v1::START, 0);
  std::uint64_t inside = 0;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    process_.GiveDriverBlock(cuda_, i, 20 * kMiB, v1::MEMORY_CREATE, "libc10_cuda.so");
    Read(v1::PEAK, 20 * i);
    if (i == 1) inside = process_.tick() - ProcessOptions{}.start_tick;
  }
  process_.ChangeSegment(v1::SEGMENT_MAP, cuda_, 0x1000000, 60 * kMiB).AllocateBlock(cuda_, 0x1000000, 50 * kMiB);
  Read(v1::LAST, 60);
  EXPECT_THAT(Rows(Only(std::to_string(inside) + "ns")),
              ElementsAre(Pair("torch: allocated", 50), Pair("torch: cache (reserved, free)", 10)));
}

TEST_F(BalanceTest, AReadingInTheMiddleOfASnapshotIsNotJudged) {
  process_.GiveDriverBlock(cuda_, 0x10, 260 * kMiB, v1::CONTEXT, "libc10_cuda.so")
      .ChangeSegment(v1::SEGMENT_FOUND, cuda_, 0x1000000, 20 * kMiB)
      .OnThread(2);
  Read(v1::REGULAR, 300);
  process_.OnThread(1).ChangeSegment(v1::SEGMENT_FOUND, cuda_, 0x9000000, 20 * kMiB);
  Read(v1::REGULAR, 300);
  EXPECT_EQ(Only("start").unexplained, 0);
  EXPECT_EQ(Only("start").unexplained_at_start, 0);
}

TEST_F(BalanceTest, TheMomentIsTheOneAskedFor) {
  Read(v1::START, 10);
  process_.GiveDriverBlock(cuda_, 0x10, 500 * kMiB, v1::MALLOC, "a.so").Mark("full");
  Read(v1::PEAK, 510);
  process_.TakeDriverBlock(cuda_, 0x10).Mark("empty");
  Read(v1::REGULAR, 20);
  process_.GiveDriverBlock(cuda_, 0x10, 30 * kMiB, v1::MALLOC, "b.so");
  Read(v1::REFUSED, 40);
  process_.RefuseDriver(cuda_, 1, v1::MALLOC, "b.so", 2, 0).TakeDriverBlock(cuda_, 0x10);
  Read(v1::LAST, 15);
  EXPECT_EQ(Only("peak").used, 510 * kMiB);
  EXPECT_THAT(Rows(Only("peak")), ElementsAre(Pair("a.so", 500)));
  EXPECT_EQ(Only("peak").unexplained, 0);
  EXPECT_EQ(Only("peak").from_before, 10 * kMiB);
  EXPECT_EQ(Only("peak").unexplained_at_start, 10 * static_cast<std::int64_t>(kMiB));
  EXPECT_EQ(Only("start").used, 10 * kMiB);
  EXPECT_EQ(Only("end").used, 15 * kMiB);
  EXPECT_EQ(Only("oom").used, 40 * kMiB);
  EXPECT_THAT(Rows(Only("oom")), ElementsAre(Pair("b.so", 30)));
  EXPECT_EQ(Only("mark:full").used, 10 * kMiB);
  EXPECT_EQ(Only("mark:empty").used, 510 * kMiB);
  EXPECT_THAT(Analyze("mark:none").status().message(), HasSubstr("no mark 'none'"));
  EXPECT_THAT(Analyze("9s").status().message(), HasSubstr("the recording ends at"));
}

TEST_F(BalanceTest, OtherProcessesAreThoseOfTheNearestReadingThatKnowsThem) {
  Read(v1::START, 70, 70);
  process_.GiveDriverBlock(cuda_, 0x10, 500 * kMiB, v1::MALLOC, "a.so")
      .ReadDevice(cuda_, v1::PEAK, {.free = kTotal - 570 * kMiB, .total = kTotal});
  Read(v1::LAST, 90, 90);
  EXPECT_THAT(Rows(Only()), ElementsAre(Pair("a.so", 500), Pair("other processes", 70)));
  EXPECT_EQ(Only().unexplained, 0);
}

// The owner of memory from before the recording is unknown; it is not a leak.
TEST_F(BalanceTest, WhatIsFromBeforeTheRecordingIsARowOfItsOwnAndNoFinding) {
  Read(v1::START, 700);
  process_.GiveDriverBlock(cuda_, 0x10, 100 * kMiB, v1::MALLOC, "a.so");
  Read(v1::PEAK, 801);
  const DeviceBalance device = Only();
  EXPECT_EQ(device.from_before, 700 * kMiB);
  EXPECT_EQ(device.unexplained, 1 * static_cast<std::int64_t>(kMiB));
  EXPECT_FALSE(device.IsFinding());
  EXPECT_LT(device.share_explained(), 0.13);
}

// The first reading after a pause shows the allocations of the pause, and later readings do not.
TEST_F(BalanceTest, AfterAPauseTheFirstReadingSaysWhatIsFromBefore) {
  process_.GiveDriverBlock(cuda_, 0x10, 260 * kMiB, v1::CONTEXT, "libc10_cuda.so");
  Read(v1::START, 260);
  process_.SwitchTo(v1::LEVEL_OFF).SwitchTo(v1::LEVEL_ALL);
  process_.GiveDriverBlock(cuda_, 0x2000000, 2 * kMiB, v1::MALLOC, "a.so");
  Read(v1::PEAK, 362);
  EXPECT_EQ(Only().from_before, 360 * kMiB);
  EXPECT_EQ(Only().unexplained, 0);
  EXPECT_EQ(Only("start").unexplained, 0);
  EXPECT_EQ(Only("start").from_before, 0u);
  EXPECT_THAT(Rows(Only("start")), ElementsAre(Pair("context", 260)));
}

TEST_F(BalanceTest, WhatLeaksAfterAPauseIsAFinding) {
  process_.SwitchTo(v1::LEVEL_OFF).SwitchTo(v1::LEVEL_ALL);
  process_.GiveDriverBlock(cuda_, 0x2000000, 2 * kMiB, v1::MALLOC, "a.so");
  Read(v1::PEAK, 362);
  Read(v1::LAST, 500);
  EXPECT_EQ(Only().from_before, 360 * kMiB);
  EXPECT_EQ(Only().unexplained, 138 * static_cast<std::int64_t>(kMiB));
  EXPECT_TRUE(Only().IsFinding());
}

}  // namespace
}  // namespace memoir
