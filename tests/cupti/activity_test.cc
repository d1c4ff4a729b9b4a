// The fields that are read of CUPTI's records, and the message without CUPTI.
#include "tracker/cupti/activity_record.h"

#include <cupti.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tracker/cupti/cupti_library.h"

namespace memoir {
namespace {

TEST(ActivityTest, AKernelHasItsTimesAndItsCorrelation) {
  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = 5'000;
  kernel.end = 5'750;
  kernel.deviceId = 1;
  kernel.streamId = 7;
  kernel.correlationId = 42;
  kernel.name = "_Z3addv";
  ActivityRun run;
  ASSERT_TRUE(ReadActivity(&kernel, &run));
  EXPECT_EQ(run.kind, RunKind::kKernel);
  EXPECT_EQ(run.end - run.start, 750u);
  EXPECT_EQ(run.device, 1u);
  EXPECT_EQ(run.stream, 7u);
  EXPECT_EQ(run.correlation, 42u);
  EXPECT_STREQ(run.symbol, "_Z3addv");
  EXPECT_TRUE(HasTimes(run));
}

TEST(ActivityTest, WhatHasNotEndedHasNoTimes) {
  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = 5'000;
  ActivityRun run;
  ASSERT_TRUE(ReadActivity(&kernel, &run));
  EXPECT_FALSE(HasTimes(run));
}

TEST(ActivityTest, CopiesSayWhereToAndFillsHowMuch) {
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.bytes = 100;
  ActivityRun run;
  const std::pair<CUpti_ActivityMemcpyKind, int> kinds[] = {{CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, 1},
                                                            {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 2},
                                                            {CUPTI_ACTIVITY_MEMCPY_KIND_ATOH, 3},
                                                            {CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, 4},
                                                            {CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN, 0}};
  for (const auto& [kind, expected] : kinds) {
    copy.copyKind = static_cast<std::uint8_t>(kind);
    ASSERT_TRUE(ReadActivity(&copy, &run));
    EXPECT_EQ(run.copy_kind, expected) << kind;
    EXPECT_EQ(run.bytes, 100u);
  }
  CUpti_ActivityMemset4 fill{};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  fill.bytes = 64;
  ASSERT_TRUE(ReadActivity(&fill, &run));
  EXPECT_EQ(run.kind, RunKind::kFill);
  EXPECT_EQ(run.copy_kind, 0);
  EXPECT_EQ(run.bytes, 64u);
}

TEST(ActivityTest, OtherRecordsAreLeftOut) {
  CUpti_Activity other{CUPTI_ACTIVITY_KIND_OVERHEAD};
  ActivityRun run;
  EXPECT_FALSE(ReadActivity(&other, &run));
}

TEST(ActivityTest, TicksLieAroundThePair) {
  const ClockPair pair{1'000'000, 500'000};
  EXPECT_EQ(TickOf(500'000, pair, 2.0), 1'000'000u);
  EXPECT_EQ(TickOf(499'000, pair, 2.0), 998'000u);
  EXPECT_EQ(TickOf(501'000, pair, 0.5), 1'000'500u);
  EXPECT_EQ(TickOf(0, {10, 500'000}, 2.0), 0u) << "before the clock began";
}

TEST(ActivityTest, WithoutCuptiThatIsSaid) {
  CuptiLibrary library;
  EXPECT_EQ(FindCupti(&library), "there is no libcupti.so.13 or libcupti.so.12");
  EXPECT_EQ(library.Subscribe, nullptr);
}

}  // namespace
}  // namespace memoir
