// Finds the lines of a program that keep more memory in every step.
#include "tools/analyze/lives/leaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/lives/leak_causes.h"
#include "tools/analyze/lives/leak_holders.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::TensorSpec;
using PythonFrame = ProcessBuilder::PythonFrame;

const PythonFrame kLeaks = {"/src/me/train.py", "remember", 40};
const PythonFrame kGradients = {"/src/me/train.py", "main", 72};
const PythonFrame kQueue = {"/src/me/loader.py", "ahead", 9};
const PythonFrame kState = {"/src/me/train.py", "build", 5};
constexpr std::uint64_t kLeakAt = 0x100000, kGradientAt = 0x200000, kQueueAt = 0x300000;

// Each step keeps a gradient until the next step, adds a batch to a queue of six, and leaks 100 bytes if `leaks`.
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

std::vector<Leak> LeaksOf(ProcessBuilder process, const Selection& selection = {},
                          const BlockCategories& categories = {}) {
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  LeakPass pass(*capture, selection, categories);
  ReplayOptions options = ReplayOptionsFor(selection, false, false);
  options.modules = true;
  EXPECT_TRUE(capture->Replay(pass, options).ok());
  EXPECT_TRUE(pass.selection_status().ok());
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

// The last holder that the process found for a block counts. Marks with addresses of no leaking block, and malformed
// marks, are ignored.
TEST(Leaks, WhoHoldsThem) {
  ProcessBuilder process = Training(12);
  const auto held = [](std::uint64_t at, const char* holder) {
    return absl::StrCat("memoir.held_by ", absl::Hex(kLeakAt + at), ",", absl::Hex(kLeakAt + at + 1), ",f00 ", holder);
  };
  process.Mark(held(0, "an older name"))
      .Mark(held(0, "kept (list)"))
      .Mark(held(2, "kept (list)"))
      .Mark(held(4, "other"));
  for (const char* const wrong : {"memoir.held_by ", "memoir.held_by 100000", "memoir.held_by 100000 ",
                                  "memoir.held_by x kept", "memoir.held_by 100000; kept", "memoir.held_by 100000,kept"})
    process.Mark(wrong);
  process.Step(12);
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = *Capture::Open(folder.path());
  const auto [leaks, holders] = *AnalyzeLeaks(capture, {});
  ASSERT_EQ(leaks.leaks.size(), 1u);
  ASSERT_TRUE(holders.looked);
  ASSERT_EQ(holders.all.size(), 1u);
  ASSERT_EQ(holders.all[0].size(), 2u);
  EXPECT_EQ(holders.all[0][0].name, "kept (list)");
  EXPECT_EQ(holders.all[0][0].blocks, 4u);
  EXPECT_EQ(holders.all[0][0].bytes, 400u);
  EXPECT_EQ(holders.all[0][1].name, "other");
}

// A line that runs the whole training also allocates the optimizer's state, in the first step.
TEST(Leaks, HoldersOfTheFirstStepAloneAreLeftOut) {
  ProcessBuilder process = Training(12);
  process.Mark(absl::StrCat("memoir.held_by ", absl::Hex(kLeakAt), " optimizer.state"));
  for (std::uint64_t at = 1; at < 8; ++at)
    process.Mark(absl::StrCat("memoir.held_by ", absl::Hex(kLeakAt + at), " kept (list)"));
  process.Step(12);
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = *Capture::Open(folder.path());
  const LeakHolders holders = AnalyzeLeaks(capture, {})->holders;
  ASSERT_EQ(holders.all.size(), 1u);
  ASSERT_EQ(holders.all[0].size(), 1u);
  EXPECT_EQ(holders.all[0][0].name, "kept (list)");
  EXPECT_EQ(holders.all[0][0].blocks, 7u);
}

// Two lines leak tensors that are computed from each other. A third line leaks independently.
TEST(Leaks, OfOneCauseAreTensorsComputedFromEachOther) {
  constexpr std::uint64_t kSize = 0x1000, kHidden = 0x100000, kLoss = 0x200000, kHoard = 0x300000, kTotal = 0x400000;
  const PythonFrame hidden = {"/src/me/model.py", "forward", 7}, loss = {"/src/me/train.py", "main", 12};
  const PythonFrame total = {"/src/me/train.py", "main", 14};
  ProcessBuilder process;
  for (std::uint64_t step = 0; step < 20; ++step) {
    const std::uint64_t at = step * kSize;
    const auto tensor = [](std::uint64_t storage) {
      TensorSpec spec;
      spec.impl = spec.storage = storage;
      return spec;
    };
    process.Step(step);
    process.Stack({kLeaks}).Allocate(kHoard + at, 300);
    process.Stack({hidden}).Begin("aten::relu").Allocate(kHidden + at, 100).End({tensor(kHidden + at)});
    process.Stack({loss})
        .Begin("aten::sum", {tensor(kHidden + at)})
        .Allocate(kLoss + at, 200)
        .End({tensor(kLoss + at)});
    if (step > 0) process.Deallocate(kTotal + at - kSize);
    process.Stack({total}).Begin("aten::add", {tensor(kLoss + at)}).Allocate(kTotal + at, 8).End({tensor(kTotal + at)});
  }
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  absl::StatusOr<LeakAnswer> answer = AnalyzeLeaks(*capture, {});
  ASSERT_TRUE(answer.ok()) << answer.status();
  Leaks* const leaks = &answer->leaks;
  ASSERT_EQ(leaks->leaks.size(), 3u);
  EXPECT_TRUE(leaks->causes.empty()) << "nothing says that autograd keeps them";
  RuleNumber graph = 0;
  while (Rules()[graph].name != "awaits_backward") ++graph;
  for (Leak& leak : leaks->leaks) leak.categories.assign(1, {graph, leak.bytes});
  const Selection all;
  JointReplays replays(*capture, all);
  ASSERT_TRUE(replays.Finish(AddLeakCauses(replays, all, *leaks)).ok());
  ASSERT_EQ(leaks->causes.size(), 1u);
  EXPECT_EQ(leaks->causes.front().leaks, (std::vector<std::size_t>{1, 2})) << "not the hoard, which keeps most";
  EXPECT_EQ(ToString(leaks->causes.front().last_kept.line), "/src/me/train.py:12 main");
  EXPECT_EQ(leaks->causes.front().last_kept.operator_name, "aten::sum");
  EXPECT_EQ(ToString(leaks->causes.front().last_result.line), "/src/me/train.py:14 main")
      << "which the next step replaces";
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

// The garbage collector frees the reference cycles of eight steps at once.
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

// torch.cat replaces the tensor by a longer one in each step.
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

// The line also allocates a large block in step 0, which is not part of its leak since step 20.
TEST(Leaks, WhatTheyAreIsOfTheBlocksThatLeak) {
  ProcessBuilder process;
  for (std::uint64_t step = 0; step < 40; ++step) {
    process.Step(step).Stack({kLeaks});
    if (step == 0) process.Begin("aten::zeros").Allocate(0x1, 50'000).End();
    if (step >= 20) process.Begin("aten::relu").Allocate(kLeakAt + step, 100).End();
  }
  const std::vector<Leak> leaks = LeaksOf(std::move(process));
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].since_step, 20u);
  EXPECT_EQ(leaks[0].operator_name, "aten::relu");
  EXPECT_FALSE(leaks[0].is_mixed);
  EXPECT_EQ(leaks[0].blocks, 18u);
}

RuleNumber RuleNamed(std::string_view name) {
  RuleNumber number = 0;
  while (number < Rules().size() && Rules()[number].name != name) ++number;
  return number;
}

// Each step leaks an input of 100 bytes and two activations of 60 bytes. The input is the largest block, but the
// activations have the most bytes.
TEST(Leaks, CategoriesAddUpAndTheOneOfMostBytesIsFirst) {
  ProcessBuilder process;
  BlockCategories categories;
  const RuleNumber input = RuleNamed("program_input"), saved = RuleNamed("saved_for_backward");
  ASSERT_LT(input, Rules().size());
  ASSERT_LT(saved, Rules().size());
  for (std::uint64_t step = 0; step < 20; ++step) {
    process.Step(step).Stack({kLeaks});
    process.Begin("aten::randn").Allocate(kLeakAt + step, 100).End();
    process.Begin("aten::relu").Allocate(kGradientAt + step, 60).End();
    process.Begin("aten::addmm").Allocate(kQueueAt + step, 60).End();
    categories.rules.Set(3 * step, input);
    for (const std::uint64_t block : {3 * step + 1, 3 * step + 2}) categories.rules.Set(block, saved);
  }
  process.Deallocate(kLeakAt + 3);  // freed after the newest step began: it was live then
  const std::vector<Leak> leaks = LeaksOf(std::move(process), {}, categories);
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].bytes, 18u * 220);
  EXPECT_EQ(leaks[0].blocks, 18u * 3);
  ASSERT_EQ(leaks[0].categories.size(), 2u);
  EXPECT_EQ(leaks[0].categories[0].rule, saved);
  EXPECT_EQ(leaks[0].categories[0].bytes, 18u * 120);
  EXPECT_EQ(leaks[0].categories[1].rule, input);
  EXPECT_EQ(leaks[0].categories[1].bytes, 18u * 100);
  EXPECT_TRUE(leaks[0].is_mixed);
}

// Each step reserves 16 MiB more and allocates 1 MiB of them, or 15 MiB if `allocated_too`.
TEST(Leaks, ReservedMemoryThatGrowsAlone) {
  constexpr std::uint64_t kMiB = 1 << 20;
  for (const bool allocated_too : {false, true}) {
    ProcessBuilder process;
    const std::uint32_t cuda = process.AddDevice("cuda", 0);
    for (std::uint64_t step = 0; step < 20; ++step) {
      const std::uint64_t at = 0x10000000 + step * 32 * kMiB;
      process.Step(step);
      process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, at, 16 * kMiB);
      process.Stack({kLeaks}).AllocateBlock(cuda, at, allocated_too ? 15 * kMiB : kMiB);
      if (!allocated_too && step >= 3) process.FreeBlock(cuda, 0x10000000 + (step - 3) * 32 * kMiB);
    }
    std::vector<Leak> leaks = LeaksOf(std::move(process));
    ASSERT_EQ(leaks.size(), 1u);
    EXPECT_EQ(leaks[0].kind, allocated_too ? Leak::Kind::kKept : Leak::Kind::kFragmentation);
    if (allocated_too) continue;
    EXPECT_EQ(leaks[0].device, "cuda:0");
    EXPECT_EQ(leaks[0].bytes_per_step(), 16 * kMiB);
    EXPECT_EQ(leaks[0].bytes, leaks[0].steps * 16 * kMiB);
    EXPECT_TRUE(leaks[0].categories.empty());
  }
}

// Requests grow as with ever longer prompts: each one is too large for the blocks that the allocator's cache has.
TEST(Leaks, ReservedMemoryThatGrowsWithTheRequestsIsNone) {
  constexpr std::uint64_t kMiB = 1 << 20;
  for (const std::uint64_t more : {0, 1}) {
    ProcessBuilder process;
    const std::uint32_t cuda = process.AddDevice("cuda", 0);
    for (std::uint64_t step = 0; step < 20; ++step) {
      const std::uint64_t at = 0x10000000 + step * 64 * kMiB;
      process.Step(step).ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, at, 40 * kMiB);
      process.Stack({kLeaks}).AllocateBlock(cuda, at, (10 + more * step) * kMiB).FreeBlock(cuda, at);
    }
    EXPECT_EQ(LeaksOf(std::move(process)).size(), more == 0 ? 1u : 0u);
  }
}

TEST(Leaks, ReservedMemoryThatGrowsAtFirstIsNone) {
  constexpr std::uint64_t kMiB = 1 << 20;
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  for (std::uint64_t step = 0; step < 40; ++step) {
    process.Step(step);
    if (step < 10) process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x10000000 + step * 32 * kMiB, 16 * kMiB);
    process.Stack({kLeaks}).AllocateBlock(cuda, 0x10000000, kMiB);
    process.FreeBlock(cuda, 0x10000000);
  }
  EXPECT_TRUE(LeaksOf(std::move(process)).empty());
}

TEST(Leaks, ReservedMemoryThatGrowsWithThePeaksIsNone) {
  constexpr std::uint64_t kMiB = 1 << 20;
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  for (std::uint64_t step = 0; step < 40; ++step) {
    const std::uint64_t segment = 0x10000000 + step * 1024 * kMiB;
    process.Step(step);
    process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, segment, 16 * kMiB);
    for (std::uint64_t i = 0; i <= step; ++i)
      process.Stack({kLeaks}).AllocateBlock(cuda, 0x10000000 + i * 1024 * kMiB, 16 * kMiB);
    for (std::uint64_t i = 0; i <= step; ++i) process.FreeBlock(cuda, 0x10000000 + i * 1024 * kMiB);
  }
  EXPECT_TRUE(LeaksOf(std::move(process)).empty());
}

TEST(Leaks, NoneWithoutSteps) {
  ProcessBuilder process;
  for (std::uint64_t i = 0; i < 40; ++i) process.Stack({kLeaks}).Allocate(kLeakAt + i, 100);
  EXPECT_TRUE(LeaksOf(std::move(process)).empty());
}

}  // namespace
}  // namespace memoir
