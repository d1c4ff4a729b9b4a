// Places that keep more in every step, as `memoir check leaks` prints them.
#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "tests/captures/capture_builder.h"
#include "tests/golden/expect_golden.h"
#include "tools/analyze/lives/leak_holders.h"
#include "tools/view/lives/leak_view.h"

namespace memoir {
namespace {

TEST(LeakViews, CheckLeaks) {
  constexpr std::uint64_t kMiB = 1 << 20;
  const testing::TemporaryFolder folder;
  testing::ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  for (std::uint64_t step = 0; step < 12; ++step) {
    process.Step(step).ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x10000000 + step * 32 * kMiB, 16 * kMiB);
    process.Stack({{"/src/me/train.py", "remember", 40}});
    process.Begin("aten::randn").Allocate(0x1000 + step * 0x100000, 1 << 20).End();
    process.Begin("aten::relu").AllocateBlock(cuda, 0x10000000 + step * 32 * kMiB, kMiB).End();
  }
  process.WriteTo(folder.path());
  const Capture capture = *Capture::Open(folder.path());
  const auto found = AnalyzeLeaks(capture, {});
  ASSERT_TRUE(found.ok()) << found.status();
  testing::ExpectGolden("check_leaks.txt",
                        RenderLeaks(capture, found->leaks, found->holders, 0, "run1", {.width = 80}));

  Leaks in_known_steps = found->leaks;
  in_known_steps.leaks[1].inferred_blocks = 9;
  const std::string text = RenderLeaks(capture, in_known_steps, {}, 0, "run1", {.width = 200});
  EXPECT_NE(text.find("10 blocks (operator and module of 9 inferred)"), std::string::npos) << text;
}

// Most of it by what autograd saved behind a variable; another variable holds less.
TEST(LeakViews, WhoHoldsThem) {
  const testing::TemporaryFolder folder;
  testing::ProcessBuilder process;
  for (std::uint64_t step = 0; step < 12; ++step) {
    process.Step(step).Stack({{"/src/me/train.py", "fit", 41}});
    process.Begin("aten::relu").Allocate(0x100000 + step * 0x1000, 1 << 20).End();
  }
  process.Mark("memoir.held_by 100000,101000 Trainer.losses[\xe2\x80\xa6] (list, local of fit() in train.py)");
  process.Mark(
      "memoir.held_by 102000,103000,104000 Trainer.losses[\xe2\x80\xa6] (list, local of fit() in train.py) "
      "\xe2\x86\x92 "
      "MeanBackward0 \xe2\x86\x92 PowBackward0");
  process.Mark("memoir.held_by 105000 seen[\xe2\x80\xa6] (dict, global of train.py)");
  process.Step(12).WriteTo(folder.path());
  const Capture capture = *Capture::Open(folder.path());
  const auto found = AnalyzeLeaks(capture, {});
  ASSERT_TRUE(found.ok()) << found.status();
  testing::ExpectGolden("check_leaks_holders.txt",
                        RenderLeaks(capture, found->leaks, found->holders, 0, "run1", {.width = 80}));
}

// seen.append((x, y)): two lines, one list.
TEST(LeakViews, LinesOfOneListAreOneLeak) {
  const testing::TemporaryFolder folder;
  testing::ProcessBuilder process;
  for (std::uint64_t step = 0; step < 12; ++step) {
    process.Step(step).Stack({{"/src/me/train.py", "fit", 8}}).Begin("aten::ones");
    process.Allocate(0x10000000 + step * 0x1000000, 1 << 20).End();
    process.Stack({{"/src/me/train.py", "fit", 9}}).Begin("aten::add");
    process.Allocate(0x20000000 + step * 0x1000000, 1 << 19).End();
  }
  process.Mark(
      "memoir.held_by 10000000,11000000,12000000,20000000,21000000,22000000 seen[\xe2\x80\xa6][\xe2\x80\xa6] (tuple, "
      "global of train.py)");
  process.Step(12).WriteTo(folder.path());
  const Capture capture = *Capture::Open(folder.path());
  const auto found = AnalyzeLeaks(capture, {});
  ASSERT_TRUE(found.ok()) << found.status();
  const std::string text = RenderLeaks(capture, found->leaks, found->holders, 0, "run1", {.width = 200});
  EXPECT_EQ(text.find("2 places keep more in every step, likely for 1 cause ("), 0u) << text;
  EXPECT_NE(text.find("train.py:8 and 1 other place, likely for one cause: +1.5 MiB each step"), std::string::npos);
  EXPECT_NE(text.find("held by  seen[\xe2\x80\xa6][\xe2\x80\xa6] (tuple, global of train.py)\n"), std::string::npos);
  EXPECT_EQ(text.find("the last of these tensors"), std::string::npos) << "no graph keeps them: " << text;
  const Json json = LeaksJson(capture, found->leaks, found->holders, "run1");
  ASSERT_EQ(json["causes"].size(), 1u);
  EXPECT_EQ(json["causes"][0]["variable"], "seen (global of train.py)");
  EXPECT_TRUE(json["causes"][0]["last_kept"].is_null());
}

}  // namespace
}  // namespace memoir
