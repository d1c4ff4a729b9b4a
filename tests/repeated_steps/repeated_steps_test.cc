// When a step is taken for one that was recorded before. The allocators' hooks and the session are played here.
#include "tracker/repeated_steps/repeated_steps.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace memoir {
namespace {

constexpr std::uint32_t kThread = 7, kOtherThread = 8;
constexpr std::uint8_t kCpu = 0, kPinned = 1;

constinit int deviations = 0;

using Sizes = std::vector<std::uint64_t>;

class RepeatedStepsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    deviations = 0;
    ASSERT_TRUE(BeginRepeatedSteps([] { ++deviations; }));
    known_ = BeginFollowedStep(kThread, true);
  }
  void TearDown() override { EndRepeatedSteps(); }

  static void Allocate(const Sizes& sizes) {
    for (const std::uint64_t bytes : sizes) repeated_steps::FollowHostBlock(kThread, kCpu, bytes);
  }
  static void AllocateOn(std::int8_t device, const Sizes& sizes, std::uint64_t stream = 0) {
    for (const std::uint64_t bytes : sizes) repeated_steps::FollowDeviceBlock(device, bytes, stream);
  }
  // A step with these blocks of the host; whether the next may go without operators.
  bool Step(const Sizes& sizes) {
    Allocate(sizes);
    return known_ = BeginFollowedStep(kThread, true);
  }
  void Learn(const Sizes& sizes) {
    for (std::uint32_t i = 0; i < kTimesInFull; ++i) Step(sizes);
  }

  bool known_ = false;  // the current step
};

TEST_F(RepeatedStepsTest, AStepIsKnownOnceItWasSeenInFullThreeTimes) {
  EXPECT_FALSE(known_);
  EXPECT_FALSE(Step({1, 2, 3}));
  EXPECT_FALSE(Step({1, 2, 3}));
  EXPECT_TRUE(Step({1, 2, 3}));
  EXPECT_TRUE(Step({1, 2, 3}));
  EXPECT_EQ(deviations, 0);
}

TEST_F(RepeatedStepsTest, TheOrderAndTheSizesCount) {
  EXPECT_FALSE(Step({1, 2, 3}));
  EXPECT_FALSE(Step({1, 3, 2}));
  EXPECT_FALSE(Step({1, 2, 3, 3}));
  EXPECT_FALSE(Step({1, 2, 4}));
  EXPECT_FALSE(Step({}));
}

TEST_F(RepeatedStepsTest, TheFirstAllocationThatIsNewDeviates) {
  Learn({1, 2, 3});
  ASSERT_TRUE(known_);
  Allocate({1, 2});
  EXPECT_EQ(deviations, 0);
  Allocate({4});
  EXPECT_EQ(deviations, 1);
  Allocate({5, 6});
  EXPECT_EQ(deviations, 1) << "once a step";
  EXPECT_FALSE(BeginFollowedStep(kThread, true)) << "what was not recorded from its begin on is not known";
}

TEST_F(RepeatedStepsTest, AStepThatEndsEarlyIsNotKnown) {
  Learn({1, 2, 3});
  ASSERT_TRUE(known_);
  EXPECT_FALSE(Step({1, 2}));
  EXPECT_EQ(deviations, 0);
}

TEST_F(RepeatedStepsTest, WhatADeviatingStepHadIsNotLearned) {
  Learn({1, 2, 3});
  for (const int steps : {1, 4, 2, 6}) {
    for (int i = 0; i < steps; ++i) Step({1, 2, 3});
    EXPECT_TRUE(known_) << "it is known still";
    Allocate({9});
    EXPECT_FALSE(BeginFollowedStep(kThread, true));
  }
  EXPECT_EQ(deviations, 4);
}

TEST_F(RepeatedStepsTest, StepsOfTwoKindsAreKnownBoth) {
  Learn({1, 2, 3});
  Allocate({1, 7});
  EXPECT_FALSE(BeginFollowedStep(kThread, true));
  Learn({1, 7});
  EXPECT_TRUE(known_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Step({1, 2, 3}));
    EXPECT_TRUE(Step({1, 7}));
  }
  EXPECT_EQ(deviations, 1);
}

TEST_F(RepeatedStepsTest, StepsInTurnAreLearnedWithoutADeviation) {
  for (int i = 0; i < 20; ++i) {
    Step({1, 2, 3});
    Step({4, 5});
    Step({4, 6});
  }
  EXPECT_TRUE(known_);
  EXPECT_EQ(deviations, 0);
}

TEST_F(RepeatedStepsTest, StepsThatDeviateAtEvenIntervalsAreLearned) {
  Learn({1, 2, 3});
  int before = 0;
  for (int step = 1; step <= 100; ++step) {
    Step(step % 5 == 0 ? Sizes{1, 2, 3, 9} : Sizes{1, 2, 3});
    if (step == 60) before = deviations;
  }
  EXPECT_GE(deviations, 2);
  EXPECT_EQ(deviations, before) << "none deviates any more";
  EXPECT_TRUE(known_);
}

TEST_F(RepeatedStepsTest, AStepThatIsAwaitedForNothingIsAwaitedOnce) {
  Learn({1});
  for (const int steps : {4, 4, 9, 30}) {
    for (int i = 0; i < steps; ++i) Step({1});
    Allocate({2});
    BeginFollowedStep(kThread, true);
  }
  EXPECT_EQ(deviations, 4);
  int in_full = 0;
  for (int i = 0; i < 100; ++i) in_full += Step({1}) ? 0 : 1;
  EXPECT_LE(in_full, 2) << "the one behind the last that deviated, and the awaited one";
}

TEST_F(RepeatedStepsTest, StepsThatAreNotRecordedInFullAreNotLearned) {
  for (int i = 0; i < 5; ++i) {
    Allocate({1});
    EXPECT_FALSE(BeginFollowedStep(kThread, false));
  }
}

TEST_F(RepeatedStepsTest, TheHostsBlocksOfOtherThreadsDoNotCount) {
  Learn({1, 2});
  ASSERT_TRUE(known_);
  repeated_steps::FollowHostBlock(kOtherThread, kCpu, 99);
  EXPECT_EQ(deviations, 0);
  EXPECT_TRUE(Step({1, 2}));
  repeated_steps::FollowHostBlock(kThread, kPinned, 1);
  EXPECT_EQ(deviations, 1) << "pinned memory is another device";
}

TEST_F(RepeatedStepsTest, EachDeviceHasASequenceOfItsOwn) {
  for (std::uint32_t i = 0; i < kTimesInFull; ++i) {
    EXPECT_FALSE(known_);
    AllocateOn(0, {1, 2});
    AllocateOn(1, {3});
    known_ = BeginFollowedStep(kThread, true);
  }
  ASSERT_TRUE(known_);
  AllocateOn(1, {3});
  AllocateOn(0, {1, 2});  // who comes first differs from step to step
  EXPECT_EQ(deviations, 0);
  EXPECT_TRUE(BeginFollowedStep(kThread, true));
  AllocateOn(1, {1});
  EXPECT_EQ(deviations, 1);
}

TEST_F(RepeatedStepsTest, AnotherStreamDeviates) {
  for (std::uint32_t i = 0; i < kTimesInFull; ++i) {
    AllocateOn(0, {1}, 5);
    known_ = BeginFollowedStep(kThread, true);
  }
  ASSERT_TRUE(known_);
  AllocateOn(0, {1}, 6);
  EXPECT_EQ(deviations, 1);
}

TEST_F(RepeatedStepsTest, DevicesBeyondTheTableAreLeftOut) {
  AllocateOn(-1, {1});
  AllocateOn(127, {1});
  EXPECT_FALSE(BeginFollowedStep(kThread, true));
}

TEST_F(RepeatedStepsTest, WhatIsForgottenIsLearnedAgain) {
  Learn({1, 2});
  ASSERT_TRUE(known_);
  Allocate({1, 2});
  ForgetReferenceSteps();
  EXPECT_FALSE(BeginFollowedStep(kThread, true));
  EXPECT_FALSE(Step({1, 2}));
  EXPECT_FALSE(Step({1, 2}));
  EXPECT_TRUE(Step({1, 2}));
  EXPECT_EQ(deviations, 0);
}

TEST_F(RepeatedStepsTest, ARecordingBeginsAnew) {
  Learn({1, 2});
  ASSERT_TRUE(known_);
  EndRepeatedSteps();
  ASSERT_TRUE(BeginRepeatedSteps([] { ++deviations; }));
  EXPECT_FALSE(BeginFollowedStep(kThread, true));
  EXPECT_FALSE(Step({1, 2}));
  EXPECT_FALSE(ReferenceStepsAreFull());
}

TEST_F(RepeatedStepsTest, OnceTheTableIsFullNothingIsRecordedInFullAnyMore) {
  Learn({1, 2});
  std::uint64_t bytes = 1000;
  Allocate({++bytes});
  EXPECT_EQ(deviations, 1);
  EXPECT_FALSE(BeginFollowedStep(kThread, true));
  while (!ReferenceStepsAreFull()) Allocate({++bytes});
  EXPECT_GE(bytes, kMostReferenceAllocations / 2);
  EXPECT_TRUE(BeginFollowedStep(kThread, true));
  Allocate({++bytes});
  EXPECT_EQ(deviations, 1);
  EXPECT_TRUE(BeginFollowedStep(kThread, true));
}

TEST_F(RepeatedStepsTest, ThreadsThatAllocateWhileAStepBeginsDoNoHarm) {
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends.load()) repeated_steps::FollowDeviceBlock(0, 64, 0);
  });
  for (int i = 0; i < 2000; ++i) Step({1, 2, 3});
  ends.store(true);
  other.join();
  EXPECT_LE(deviations, 2000);
}

}  // namespace
}  // namespace memoir
