// Places that keep more in every step, as `memoir check leaks` prints them.
#include <cstdint>

#include "gtest/gtest.h"
#include "tests/captures/capture_builder.h"
#include "tests/golden/expect_golden.h"
#include "tools/analyze/lives/leaks.h"
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
  const auto leaks = AnalyzeLeaks(capture, {});
  ASSERT_TRUE(leaks.ok()) << leaks.status();
  testing::ExpectGolden("check_leaks.txt", RenderLeaks(capture, *leaks, 0, "run1", {.width = 80}));
}

}  // namespace
}  // namespace memoir
