// Which lines keep more in every step.
#include "tools/analyze/lives/leaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/captures/capture_builder.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using PythonFrame = ProcessBuilder::PythonFrame;

const PythonFrame kLeaks = {"/src/me/train.py", "remember", 40};
const PythonFrame kGradients = {"/src/me/train.py", "main", 72};
const PythonFrame kQueue = {"/src/me/loader.py", "ahead", 9};
const PythonFrame kState = {"/src/me/train.py", "build", 5};
constexpr std::uint64_t kLeakAt = 0x100000, kGradientAt = 0x200000, kQueueAt = 0x300000;

// Each step leaks 100 bytes, has a gradient until the next step, and a queue of six batches.
ProcessBuilder Training(std::uint64_t steps, bool leaks = true) {
  ProcessBuilder process;
  process.Step(0).Stack({kState}).Allocate(0x1, 1000);
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (step > 0) process.Step(step);
    if (step > 0) process.Deallocate(kGradientAt + step - 1);
    process.Stack({kGradients}).Allocate(kGradientAt + step, 500);
    process.Stack({kQueue}).Allocate(kQueueAt + step, 50);
    if (step >= 6) process.Deallocate(kQueueAt + step - 6);
    process.Stack({kLeaks}).Allocate(kLeakAt + step, 100);
    if (!leaks) process.Deallocate(kLeakAt + step);
  }
  return process;
}

std::vector<Leak> LeaksOf(ProcessBuilder process, const Selection& selection = {}) {
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  const BlockCategories none;
  LeakPass pass(*capture, selection, none);
  ReplayOptions options = ReplayOptionsFor(selection, false, false);
  options.modules = true;
  EXPECT_TRUE(capture->Replay(pass, options).ok());
  EXPECT_TRUE(pass.found().ok());
  return pass.Take().leaks;
}

TEST(Leaks, ALineThatKeepsMoreInEveryStep) {
  const std::vector<Leak> leaks = LeaksOf(Training(20));
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(ToString(leaks[0].line), "/src/me/train.py:40 remember");
  EXPECT_EQ(leaks[0].device, "cpu");
  EXPECT_EQ(leaks[0].steps, 18u) << "without the newest two: the one that runs, and the one that ended as it began";
  EXPECT_EQ(leaks[0].blocks, 18u);
  EXPECT_EQ(leaks[0].bytes, 1800u);
  EXPECT_EQ(leaks[0].bytes_per_step(), 100u);
}

TEST(Leaks, NoneWhereEveryStepFreesWhatItMade) { EXPECT_TRUE(LeaksOf(Training(20, false)).empty()); }

TEST(Leaks, FewStepsProveNothing) { EXPECT_TRUE(LeaksOf(Training(6)).empty()); }

TEST(Leaks, WhatTheEndOfTheProgramFreesWasLeakedAllTheSame) {
  ProcessBuilder process = Training(20);
  for (std::uint64_t step = 0; step < 20; ++step) process.Deallocate(kLeakAt + step);
  EXPECT_EQ(LeaksOf(std::move(process)).size(), 1u);
}

TEST(Leaks, AHeapThatIsLeftRegularlyOnceInAWhile) {
  ProcessBuilder process;
  for (std::uint64_t step = 0; step < 48; ++step) {
    process.Step(step);
    if (step % 4 == 0) process.Stack({kLeaks}).Allocate(kLeakAt + step, 100);
  }
  const std::vector<Leak> leaks = LeaksOf(std::move(process));
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].bytes, 1200u);
  EXPECT_EQ(leaks[0].steps, 46u) << "from the first that left something, whether each does or not";
}

TEST(Leaks, OneThatBeginsLateOnALineThatKeptSomethingOnce) {
  ProcessBuilder process;
  for (std::uint64_t step = 0; step < 40; ++step) {
    process.Step(step);
    if (step == 1 || step >= 20) process.Stack({kLeaks}).Allocate(kLeakAt + step, 100);
  }
  const std::vector<Leak> leaks = LeaksOf(std::move(process));
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].since_step, 20u);
  EXPECT_EQ(leaks[0].bytes_per_step(), 100u);
}

TEST(Leaks, NoneWhereACacheIsFilledAndStops) {
  ProcessBuilder process;
  for (std::uint64_t step = 0; step < 40; ++step) {
    process.Step(step);
    if (step < 25) process.Stack({kLeaks}).Allocate(kLeakAt + step, 100);
  }
  EXPECT_TRUE(LeaksOf(std::move(process)).empty());
}

// The garbage collector frees eight steps' cycles at once.
TEST(Leaks, NoneWhereAllIsFreedNowAndThen) {
  ProcessBuilder process;
  std::uint64_t oldest = 0;
  for (std::uint64_t step = 0; step < 30; ++step) {
    process.Step(step);
    process.Stack({kLeaks}).Allocate(kLeakAt + step, 100);
    for (; step % 8 == 7 && oldest < step; ++oldest) process.Deallocate(kLeakAt + oldest);
  }
  EXPECT_TRUE(LeaksOf(std::move(process)).empty());
}

TEST(Leaks, WhatIsAHundredthOfThePeakIsTooLittle) {
  ProcessBuilder process = Training(20);
  process.Allocate(0x2, 1'000'000);
  EXPECT_TRUE(LeaksOf(std::move(process)).empty());
}

// torch.cat makes a longer one of it in each step.
TEST(Leaks, ATensorThatIsReplacedByALongerOne) {
  for (const bool grows : {true, false}) {
    ProcessBuilder process;
    for (std::uint64_t step = 0; step < 20; ++step) {
      process.Step(step);
      process.Stack({kLeaks}).Begin("aten::cat");
      process.Allocate(kLeakAt + step, 1000 + 100 * (grows ? step : step % 7)).End();
      if (step > 0) process.Deallocate(kLeakAt + step - 1);
    }
    const std::vector<Leak> leaks = LeaksOf(std::move(process));
    ASSERT_EQ(leaks.size(), grows ? 1u : 0u);
    if (!grows) continue;
    EXPECT_EQ(leaks[0].kind, Leak::Kind::kReplaced);
    EXPECT_EQ(leaks[0].bytes_per_step(), 100u);
  }
}

TEST(Leaks, NoneWithoutSteps) {
  ProcessBuilder process;
  for (std::uint64_t i = 0; i < 40; ++i) process.Stack({kLeaks}).Allocate(kLeakAt + i, 100);
  EXPECT_TRUE(LeaksOf(std::move(process)).empty());
}

}  // namespace
}  // namespace memoir
