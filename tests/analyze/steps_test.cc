// The definition of steps in a recording, and selections of steps.
#include "tools/analyze/pass/window/step_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/summarised.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

Capture OpenOrDie(const std::string& folder) {
  absl::StatusOr<Capture> capture = Capture::Open(folder);
  EXPECT_TRUE(capture.ok()) << capture.status();
  return *std::move(capture);
}

SummaryOptions In(std::uint64_t first, std::uint64_t last) {
  SummaryOptions options;
  options.window = SelectionWindow::Steps(first, last);
  return options;
}

// A model of one layer, and of each step its forward pass and its optimizer's: 1, 2 and 4 bytes.
void Train(ProcessBuilder& process, bool optimizer) {
  process.Allocate(0x9000, 100);
  for (std::uint64_t step = 0; step < 3; ++step) {
    process.EnterModule("", "Net", "Net").EnterModule("fc", "Linear", "Net");
    process.Begin("aten::linear").Allocate(0x1000 + 0x100 * step, 1u << step).End();
    process.ExitModule("fc", "Linear", "Net").ExitModule("", "Net", "Net");
    process.BeginBackward("AddmmBackward0", 0, 1).EnterModule("", "Net", "Net").ExitModule("", "Net", "Net").End();
    if (optimizer) process.BeginUser("Optimizer.step#SGD.step").End();
    if (optimizer) process.BeginUser("Optimizer.step#Adam.step").End();
  }
}

Summary OfSteps(const Capture& capture, std::uint64_t first, std::uint64_t last) {
  SummaryOptions options = In(first, last);
  EXPECT_TRUE(FindSteps(capture, options).ok());
  auto summary = AnalyzeSummary(capture, options);
  EXPECT_TRUE(summary.ok()) << summary.status();
  return *std::move(summary);
}

TEST(Steps, WithoutStepsOfTheProgramsOwnThoseOfTheOptimizerCount) {
  ProcessBuilder process;
  Train(process, true);
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = OpenOrDie(folder.path());
  const Summary whole = *AnalyzeSummary(capture, {});
  EXPECT_EQ(whole.step_source, StepSource::kOptimizer);
  EXPECT_EQ(whole.steps, 3u) << "of the first optimizer alone";
  EXPECT_EQ(whole.devices[0].peak_step, 2u);
  EXPECT_EQ(OfSteps(capture, 0, 1).devices[0].allocated_bytes, 101u) << "what comes before the first is of step 0";
  EXPECT_EQ(OfSteps(capture, 1, 3).devices[0].allocated_bytes, 6u);
  EXPECT_EQ(OfSteps(capture, 1, 3).steps, 2u);
  EXPECT_EQ(OfSteps(capture, 1, 3).step_source, StepSource::kOptimizer);
}

TEST(Steps, WithoutAnOptimizerCallsOfTheOutermostModuleAreSteps) {
  ProcessBuilder process;
  Train(process, false);
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = OpenOrDie(folder.path());
  const Summary whole = *AnalyzeSummary(capture, {});
  EXPECT_EQ(whole.step_source, StepSource::kModule);
  EXPECT_EQ(whole.steps, 3u) << "calls inside of backward are none of the program's";
  EXPECT_EQ(OfSteps(capture, 0, 1).devices[0].allocated_bytes, 101u);
  EXPECT_EQ(OfSteps(capture, 1, 2).devices[0].allocated_bytes, 2u);
  EXPECT_EQ(OfSteps(capture, 1, 2).steps, 1u);
  SummaryOptions none = In(3, 4);
  ASSERT_TRUE(FindSteps(capture, none).ok());
  EXPECT_THAT(std::string(AnalyzeSummary(capture, none).status().message()),
              HasSubstr("steps are calls of the outermost module here, 0 to 2"));
}

TEST(Steps, StepsOfTheProgramCountBeforeAllOthers) {
  ProcessBuilder process;
  process.Step(1);
  Train(process, true);
  process.Step(2).Allocate(0x5000, 8);
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = OpenOrDie(folder.path());
  EXPECT_EQ(AnalyzeSummary(capture, {})->step_source, StepSource::kProgram);
  EXPECT_EQ(OfSteps(capture, 2, 3).devices[0].allocated_bytes, 8u);
  EXPECT_EQ(OfSteps(capture, 0, 2).devices[0].allocated_bytes, 107u);
}

// memoir.step() at the end of a loop's body: the last one begins a step that has nothing.
TEST(Steps, SaysWhereInTheLastOneNothingWasAllocated) {
  const auto loop = [](bool at_end) {
    ProcessBuilder process;
    for (std::uint64_t step = 0; step < 3; ++step) {
      if (!at_end) process.Step(step);
      process.Allocate(0x1000 + 0x100 * step, 64);
      if (at_end) process.Step(step);
    }
    return process;
  };
  const auto empty = [](ProcessBuilder process, const SummaryOptions& options = {}) {
    return testing::Summarise(process, options).last_step_is_empty;
  };
  EXPECT_TRUE(empty(loop(true)));
  EXPECT_TRUE(empty(loop(true).Deallocate(0x1000)));
  EXPECT_FALSE(empty(loop(true).Allocate(0x2000, 64)));
  EXPECT_FALSE(empty(loop(false)));
  SummaryOptions large;
  large.min_bytes = 100;
  EXPECT_FALSE(empty(loop(false).Allocate(0x2000, 128), large)) << "of a part of the blocks nothing is said";
  ProcessBuilder optimizer;
  Train(optimizer, true);
  EXPECT_FALSE(empty(optimizer)) << "an optimizer ends its steps";
}

}  // namespace
}  // namespace memoir
