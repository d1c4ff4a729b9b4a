// detail=auto and detail=blocks: what is recorded as steps repeat. Torch's hooks come from controls_test.cc.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "tests/interpose/numbered_records.h"
#include "tracker/modules/outermost_calls.h"
#include "tracker/repeated_steps/repeated_steps.h"
#include "tracker/repeated_steps/step_module.h"
#include "tracker/session/control/recording_controls.h"

namespace memoir {

extern constinit bool in_backward;

namespace {

class DetailTest : public ::testing::Test {
 protected:
  void Begin(Detail detail, const OperatorBudget::Limits& budget = {}) {
    ASSERT_EQ(OpenRingIn(folder_.path(), kDefaultRingBytes), "");
    ControlOptions options;
    options.detail = detail;
    options.budget = budget;
    options.is_reporting = is_reporting_;
    options.patience_ns = 0;
    options.control_file = folder_.path() + "/control";
    std::string warning;
    controls_ = RecordingControls::Begin(options, &warning);
  }
  // By the control file, which is looked at at once the first time.
  void AskForSteps(int steps) {
    std::ofstream(folder_.path() + "/control") << "steps " << steps << "\n";
    controls_->Look();
  }
  void TearDown() override {
    controls_->End();
    RingClose();
  }
  void Step(std::uint64_t bytes) {
    controls_->Step(step_++);
    repeated_steps::FollowDeviceBlock(0, bytes, 0);
  }
  void Learn(std::uint64_t bytes) {
    for (std::uint32_t i = 0; i < kTimesInFull; ++i) Step(bytes);
  }

  const TempFolder folder_;
  RecordingControls* controls_ = nullptr;
  std::uint64_t step_ = 0;
  bool is_reporting_ = false;
};

TEST_F(DetailTest, AutoRecordsOperatorsUntilAStepIsKnownAndAgainWhereOneDeviates) {
  Begin(Detail::kAuto);
  Learn(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
  EXPECT_TRUE(RecordingEnabled());
  EXPECT_EQ(RangeEpoch(), 0u);
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
  Step(200);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll) << "within the step";
  EXPECT_NE(RangeEpoch(), 0u);
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll) << "behind a step that was not known";
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll) << "what followed such a step last is not known";
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
}

TEST_F(DetailTest, EachPartOfTheCaptureHasStepsInFull) {
  Begin(Detail::kAuto);
  Learn(100);
  Step(100);
  ASSERT_EQ(controls_->level(), RecordingLevel::kMemory);
  const std::unique_ptr<RingReader> writer(RingReader::OpenLive());
  writer->CountPart();
  for (std::uint32_t i = 0; i < kTimesInFull; ++i) {
    Step(100);
    EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
  }
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
}

TEST_F(DetailTest, AutoGoesNoHigherThanWhatIsAskedFor) {
  Begin(Detail::kAuto);
  Learn(100);
  Step(100);
  ASSERT_TRUE(controls_->RequestLevel(RecordingLevel::kOff));
  EXPECT_EQ(controls_->level(), RecordingLevel::kOff);
  Step(300);
  EXPECT_EQ(controls_->level(), RecordingLevel::kOff);
  ASSERT_TRUE(controls_->RequestLevel(RecordingLevel::kAll));
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
}

TEST_F(DetailTest, AStepWithAPauseIsNeitherLearnedNorKnown) {
  Begin(Detail::kAuto);
  for (std::uint32_t i = 0; i < 2 * kTimesInFull; ++i) {
    Step(100);
    ASSERT_TRUE(controls_->RequestLevel(RecordingLevel::kMemory));
    ASSERT_TRUE(controls_->RequestLevel(RecordingLevel::kAll));
    EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
  }
}

TEST_F(DetailTest, BlocksRecordsNoOperators) {
  Begin(Detail::kBlocks);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
  ASSERT_TRUE(controls_->RequestLevel(RecordingLevel::kAll));
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
}

TEST_F(DetailTest, TheStepsOfAnOptimizerCountUntilTheProgramSaysItsOwn) {
  Begin(Detail::kAuto);
  const auto optimizer = [&](std::uint64_t bytes) {
    repeated_steps::FollowDeviceBlock(0, bytes, 0);
    controls_->BeginRange(&step_, "Optimizer.step#Adam.step");
    controls_->EndRange(&step_, "Optimizer.step#Adam.step");
  };
  for (std::uint32_t i = 0; i <= kTimesInFull; ++i) optimizer(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
  optimizer(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
}

// A call of a module with a block of this size.
void Call(std::uint64_t module, std::uint64_t bytes) {
  NoteModuleEntered(module);
  NoteModuleEntered(module + 8);  // a part of it
  repeated_steps::FollowDeviceBlock(0, bytes, 0);
  NoteModuleLeft();
  NoteModuleLeft();
}

TEST_F(DetailTest, WithoutMarksTheCallsOfAModuleAreSteps) {
  Begin(Detail::kAuto);
  for (std::uint32_t i = 0; i < kCallsOfStepModule + kTimesInFull - 1; ++i) {
    Call(64, 100);
    EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
  }
  Call(64, 100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
  Call(64, 100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
  Call(64, 200);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
}

TEST_F(DetailTest, CallsOfModulesAreNoStepsOnceTheProgramMarksSome) {
  Begin(Detail::kAuto);
  for (std::uint32_t i = 0; i < 2 * kCallsOfStepModule; ++i) Call(64, 100);
  ASSERT_EQ(controls_->level(), RecordingLevel::kMemory);
  Step(1);
  Call(64, 1);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll) << "two blocks are in no step that is known";
  for (std::uint32_t i = 0; i < 2 * kTimesInFull; ++i) {
    Step(1);
    for (std::uint64_t call = 0; call < kCallsOfStepModule; ++call) Call(64, call);
  }
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
}

TEST_F(DetailTest, WhatBackwardRunsAgainIsNoStep) {
  Begin(Detail::kAuto);
  in_backward = true;
  for (std::uint32_t i = 0; i < 2 * kCallsOfStepModule; ++i) Call(64, 100);
  in_backward = false;
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
}

TEST_F(DetailTest, ElsewhereCallsOfModulesAreNotFollowed) {
  Begin(Detail::kFull);
  for (std::uint32_t i = 0; i < 2 * kCallsOfStepModule; ++i) Call(64, 100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
}

TEST_F(DetailTest, StepsThatNeverRepeatAreRecordedInFullAsLongAsThatTakesNoMoreThanItsShare) {
  Begin(Detail::kAuto, {.share = 0.001, .unbounded_ns = 0});
  std::uint64_t bytes = 100;
  while (controls_->level() == RecordingLevel::kAll) {
    Step(++bytes);
    controls_->Look();
  }
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
  EXPECT_FALSE(ReferenceStepsAreFull());
  while (controls_->level() == RecordingLevel::kMemory) controls_->Look();  // time goes by
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
}

TEST_F(DetailTest, WithoutTimeForOperatorsAStepThatDeviatesIsRecordedAsBlocks) {
  Begin(Detail::kAuto, {.share = 0, .unbounded_ns = 0});
  Learn(100);
  Step(100);
  ASSERT_EQ(controls_->level(), RecordingLevel::kMemory) << "it is known";
  Step(300);
  ASSERT_EQ(controls_->level(), RecordingLevel::kAll);
  controls_->Look();
  ASSERT_EQ(controls_->level(), RecordingLevel::kMemory) << "no time is left";
  for (std::uint64_t bytes = 400; bytes < 410; ++bytes) {
    Step(bytes);
    EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
  }
}

TEST_F(DetailTest, StepsThatAreAskedForAreInFullThoughTheyAreKnown) {
  Begin(Detail::kAuto);
  Learn(100);
  Step(100);
  AskForSteps(2);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory) << "from the next step on";
  for (int i = 0; i < 2; ++i) {
    Step(100);
    EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
  }
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
  Step(200);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll) << "one that deviates, as ever";
}

TEST_F(DetailTest, StepsThatAreAskedForAreInFullThoughNoTimeIsLeftForOperators) {
  Begin(Detail::kAuto, {.share = 0, .unbounded_ns = 0});
  AskForSteps(1);
  Step(100);
  controls_->Look();
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
  Step(200);
  controls_->Look();
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
}

TEST_F(DetailTest, StepsThatAreAskedForHaveTheOperatorsThatBlocksHasNot) {
  Begin(Detail::kBlocks);
  AskForSteps(3);
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
  ASSERT_TRUE(controls_->RequestLevel(RecordingLevel::kOff));
  EXPECT_EQ(controls_->level(), RecordingLevel::kOff) << "a pause holds";
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kOff);
  ASSERT_TRUE(controls_->RequestLevel(RecordingLevel::kAll));
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
}

TEST_F(DetailTest, WhatIsOffIsOffAgainBehindThem) {
  Begin(Detail::kFull);
  ASSERT_TRUE(controls_->RequestLevel(RecordingLevel::kOff));
  AskForSteps(1);
  EXPECT_EQ(controls_->level(), RecordingLevel::kOff);
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
  Step(100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kOff);
}

TEST_F(DetailTest, WhereNothingElseBeginsStepsCallsOfAModuleBeginThoseThatAreAskedFor) {
  Begin(Detail::kBlocks);
  AskForSteps(2);
  for (std::uint32_t i = 0; i + 1 < kCallsOfStepModule; ++i) Call(64, 100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
  for (int i = 0; i < 2; ++i) {
    Call(64, 100);
    EXPECT_EQ(controls_->level(), RecordingLevel::kAll);
  }
  Call(64, 100);
  EXPECT_EQ(controls_->level(), RecordingLevel::kMemory);
}

TEST_F(DetailTest, SaysThatTheStepsWhichAreAskedForDoNotBegin) {
  is_reporting_ = true;
  Begin(Detail::kFull);
  ::testing::internal::CaptureStderr();
  AskForSteps(2);
  controls_->Look();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("requests steps in full, but no step has begun since"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << "one line";
}

}  // namespace
}  // namespace memoir
