// Operators and matching blocks that are inferred for blocks of repeated steps, which are recorded without operators.
#include "tools/model/repeats/matching_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

// Collects a line for each block: "64 aten::add of 3" has its bytes, its operator, and the number of its matching block
// if the operator is inferred.
class Blocks : public Visitor {
 public:
  std::vector<std::string> lines;

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnAllocate(const AllocateEvent& event) override {
    const Block& block = *event.block;
    std::string line = std::to_string(block.bytes);
    if (block.operator_name.valid()) line.append(" ").append(state_->dictionary().name(block.operator_name).text);
    if (block.module.valid()) line.append(" in ").append(state_->dictionary().module(block.module).path);
    if (block.inferred()) line.append(" of ").append(std::to_string(block.matching_ordinal));
    lines.push_back(line);
  }
  std::vector<bool> temporary;  // for each block that ended
  void OnDeallocate(const DeallocateEvent& event) override { temporary.push_back(event.temporary); }

 private:
  const ReplayState* state_ = nullptr;
};

testing::ProcessOptions Auto() {
  testing::ProcessOptions options;
  options.sources.emplace_back("known-steps");
  return options;
}

class MatchingBlocksTest : public ::testing::Test {
 protected:
  void Replay(ProcessBuilder& process) {
    const TemporaryFolder folder;
    process.WriteTo(folder.path());
    const auto capture = Capture::Open(folder.path());
    ASSERT_TRUE(capture.ok()) << capture.status();
    ReplayOptions options;
    options.modules = true;
    const auto report = capture->Replay(blocks_, options);
    ASSERT_TRUE(report.ok()) << report.status();
    report_ = report->processes.at(0).repeated_steps;
  }

  // Allocates one block of each size, in operators "aten::op<size>", and frees it at once.
  static void Run(ProcessBuilder& process, const std::vector<std::uint64_t>& sizes, std::uint32_t device = 0) {
    for (const std::uint64_t bytes : sizes) {
      process.Begin("aten::op" + std::to_string(bytes)).Allocate(0x1000, bytes, device).End();
      process.Deallocate(0x1000, device);
    }
  }
  static void RunWithoutOperators(ProcessBuilder& process, const std::vector<std::uint64_t>& sizes) {
    for (const std::uint64_t bytes : sizes) process.Allocate(0x1000, bytes).Deallocate(0x1000);
  }

  Blocks blocks_;
  RepeatedStepCounts report_;
};

TEST_F(MatchingBlocksTest, ABlockTakesTheOperatorOfTheOneInItsPlace) {
  ProcessBuilder process(Auto());
  process.Step(0);
  Run(process, {1, 2});
  process.Step(1);
  Run(process, {1, 2});
  process.Step(2).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {1, 2});
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1", "2 aten::op2", "1 aten::op1", "2 aten::op2", "1 aten::op1 of 2",
                                         "2 aten::op2 of 3"));
  EXPECT_EQ(report_.steps, 3u);
  EXPECT_EQ(report_.full_steps, 2u);
  EXPECT_EQ(report_.inferred_blocks, 2u);
  EXPECT_EQ(report_.inferred_bytes, 3u);
  EXPECT_EQ(report_.unknown_blocks, 0u);
}

TEST_F(MatchingBlocksTest, BehindABlockThatIsNotKnownNothingIsInferred) {
  ProcessBuilder process(Auto());
  process.Step(0);
  Run(process, {1, 2, 3});
  process.Step(1).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {1, 9});
  process.SwitchTo(v1::LEVEL_ALL);
  Run(process, {2});
  process.Step(2).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {2, 1, 2});
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1", "2 aten::op2", "3 aten::op3", "1 aten::op1 of 0", "9",
                                         "2 aten::op2", "2", "1", "2"));
  EXPECT_EQ(report_.full_steps, 1u);
  EXPECT_EQ(report_.inferred_blocks, 1u);
  EXPECT_EQ(report_.unknown_blocks, 4u);
  EXPECT_EQ(report_.unknown_bytes, 14u);
}

TEST_F(MatchingBlocksTest, ModulesAreInferredToo) {
  ProcessBuilder process(Auto());
  process.Step(0).EnterModule("layer.0");
  Run(process, {1});
  process.ExitModule("layer.0").Step(1).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {1});
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1 in layer.0", "1 aten::op1 in layer.0 of 0"));
}

TEST_F(MatchingBlocksTest, ThatABlockIsTemporaryIsInferredToo) {
  ProcessBuilder process(Auto());
  const auto step = [&](std::uint64_t number) {
    process.Step(number).Begin("aten::op").Allocate(0x1000, 1).Deallocate(0x1000).End();
    process.Begin("aten::op").Allocate(0x1000, 2).End().Deallocate(0x1000);
  };
  step(0);
  step(1);
  process.Step(2).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {1, 2});
  Replay(process);
  EXPECT_THAT(blocks_.temporary, ElementsAre(true, false, true, false, true, false));
}

TEST_F(MatchingBlocksTest, OtherCodeThatAsksForTheSameSizesIsNoCounterpart) {
  const std::vector<ProcessBuilder::PythonFrame> here = {{"train.py", "step", 10}}, there = {{"train.py", "step", 12}};
  ProcessBuilder process(Auto());
  process.Step(0).Stack(here);
  Run(process, {1});
  process.Stack(there);
  Run(process, {2});
  process.Step(1).SwitchTo(v1::LEVEL_MEMORY).Stack(there);
  RunWithoutOperators(process, {1, 2});
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1", "2 aten::op2", "1", "2 aten::op2 of 1"));
}

TEST_F(MatchingBlocksTest, StepsThatBeginAlikeInOtherCodeAreToldApart) {
  ProcessBuilder process(Auto());
  process.Step(0).Stack({{"train.py", "rollout", 10}});
  Run(process, {1});
  process.Step(1).Stack({{"train.py", "update", 20}}).Begin("aten::other").Allocate(0x1000, 1).End();
  process.Deallocate(0x1000).Step(2).SwitchTo(v1::LEVEL_MEMORY).Stack({{"train.py", "rollout", 10}});
  RunWithoutOperators(process, {1});
  process.Step(3).Stack({{"train.py", "update", 20}});
  RunWithoutOperators(process, {1});
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1", "1 aten::other", "1 aten::op1 of 0", "1 aten::other of 1"));
}

TEST_F(MatchingBlocksTest, BehindAPauseNothingIsInferredInThatStep) {
  ProcessBuilder process(Auto());
  process.Step(0);
  Run(process, {1, 1});
  process.Step(1).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {1});
  process.SwitchTo(v1::LEVEL_OFF).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {1});
  process.Step(2);
  RunWithoutOperators(process, {1});
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1", "1 aten::op1", "1 aten::op1 of 0", "1", "1 aten::op1 of 0"));
}

// --max-size evicted a part in the middle of step 1. Later blocks of this step have unknown positions, so nothing is
// inferred for them. Blocks of the next step have positions again.
TEST_F(MatchingBlocksTest, BehindEvictedPartsNothingIsInferredInThatStep) {
  ProcessBuilder process(Auto());
  process.Step(0);
  Run(process, {1});
  process.Begin("aten::other").Allocate(0x1000, 1).End().Deallocate(0x1000);
  process.Step(1).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {1});
  process.EndPart();
  RunWithoutOperators(process, {1});
  process.EndPart();
  RunWithoutOperators(process, {1});
  process.Step(2);
  RunWithoutOperators(process, {1});
  process.FoldPart(1);
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1", "1 aten::other", "1 aten::op1 of 0", "1", "1 aten::op1 of 0"));
}

TEST_F(MatchingBlocksTest, OtherThreadsOfTheHostHaveNoPlaces) {
  ProcessBuilder process(Auto());
  process.Step(0);
  Run(process, {1});
  process.OnThread(2);
  Run(process, {5});
  process.OnThread(1).Step(1).SwitchTo(v1::LEVEL_MEMORY);
  process.OnThread(2).Allocate(0x2000, 5).OnThread(1);
  RunWithoutOperators(process, {1});
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1", "5 aten::op5", "5", "1 aten::op1 of 0"));
}

TEST_F(MatchingBlocksTest, BlocksOfADeviceHaveTheirPlacesOnAnyThread) {
  ProcessBuilder process(Auto());
  const std::uint32_t gpu = process.AddDevice("cuda", 0);
  const auto run = [&](std::uint64_t address) { process.AllocateBlock(gpu, address, 512, 100); };
  process.Step(0).Begin("aten::mm");
  run(0x10000);
  process.End().OnThread(2).Begin("aten::mul");
  run(0x20000);
  process.End().FreeBlock(gpu, 0x10000).FreeBlock(gpu, 0x20000);
  process.OnThread(1).Step(1).SwitchTo(v1::LEVEL_MEMORY);
  run(0x20000);
  process.OnThread(2);
  run(0x10000);
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("512 aten::mm", "512 aten::mul", "512 aten::mm of 0", "512 aten::mul of 1"));
}

TEST_F(MatchingBlocksTest, ABlockOfAnotherSizeTakesTheOperatorOfTheSameLine) {
  const std::vector<ProcessBuilder::PythonFrame> batch = {{"train.py", "step", 10}}, model = {{"train.py", "step", 12}};
  ProcessBuilder process(Auto());
  for (std::uint64_t step = 0; step < 2; ++step) {
    process.Step(step).Stack(batch);
    Run(process, {1});
    process.Stack(model);
    Run(process, {2});
  }
  process.Step(2).SwitchTo(v1::LEVEL_MEMORY).Stack(batch);
  RunWithoutOperators(process, {7});
  process.SwitchTo(v1::LEVEL_ALL).Stack(model);
  Run(process, {8});
  process.Step(3).SwitchTo(v1::LEVEL_MEMORY).Stack(model);
  RunWithoutOperators(process, {7});
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1", "2 aten::op2", "1 aten::op1", "2 aten::op2", "7 aten::op1 of 2",
                                         "8 aten::op8", "7"));
  EXPECT_EQ(report_.inferred_bytes, 7u);
  EXPECT_EQ(report_.unknown_bytes, 7u) << "another line begins the last step";
}

TEST_F(MatchingBlocksTest, WhereALineMakesBlocksInSeveralWaysAnotherSizeTellsNothing) {
  ProcessBuilder process(Auto());
  process.Step(0).Stack({{"train.py", "step", 10}});
  Run(process, {1});
  process.Step(1);
  Run(process, {2});
  process.Step(2).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {7});
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1", "2 aten::op2", "7"));
  EXPECT_EQ(report_.unknown_bytes, 7u);
}

TEST_F(MatchingBlocksTest, OfOtherRecordingsNothingIsInferred) {
  ProcessBuilder process;
  process.Step(0);
  Run(process, {1});
  process.Step(1).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {1});
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1 aten::op1", "1"));
  EXPECT_EQ(report_.steps, 0u);
}

TEST_F(MatchingBlocksTest, WhereTheStepsInFullAreGoneNothingIsInferred) {
  ProcessBuilder process(Auto());
  process.Step(0);
  Run(process, {1});
  process.EndPart().Step(1).SwitchTo(v1::LEVEL_MEMORY);
  RunWithoutOperators(process, {1});
  process.FoldParts(1);
  Replay(process);
  EXPECT_THAT(blocks_.lines, ElementsAre("1"));
  EXPECT_EQ(report_.unknown_blocks, 1u);
}

}  // namespace
}  // namespace memoir
