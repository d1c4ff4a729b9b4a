// Places that keep more in every step, as `memoir check leaks` prints them.
#include <cstdint>

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

}  // namespace
}  // namespace memoir
