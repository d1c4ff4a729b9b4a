// Blocks of steps that a summary does not see one by one live as long as their steps took.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/joint_summaries.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;

// A block that lives for half of each step; the steps behind the first fifty are ten times as long, and between any two
// of them the program does something else for long.
ProcessBuilder Steps() {
  const v1::StretchDef stretch =
      testing::StretchOf(7, {{.kind = v1::STEP},
                             {.kind = v1::ALLOCATE, .tick = 50, .bytes = 64, .of_host = 1},
                             {.kind = v1::DEALLOCATE, .tick = 100, .of_host = 2, .freed_event = 1}});
  v1::Repeats repeats;
  for (std::uint32_t step = 0; step < 100; ++step) {
    repeats.add_stretch(7);
    repeats.add_first_event(0);
    repeats.add_events(3);
    repeats.add_tick_delta(5000);
    repeats.add_ticks(step < 50 ? 100 : 1000);
    repeats.add_step_delta(1);
    repeats.add_step_number(1);
  }
  ProcessBuilder process;
  process.Repeat(stretch, repeats);
  return process;
}

SummaryColumns TotalOf(const Capture& capture, bool passes_over) {
  Visitor sees_all;
  std::vector<Grouping> groupings;
  groupings.push_back(Grouping::Of(GroupBy::kOperator, ""));
  const auto beside = passes_over ? std::vector<Visitor*>() : std::vector<Visitor*>{&sees_all};
  const Selection all;
  JointReplays replays(capture, all);
  auto summaries = replays.Finish(AnalyzeJointSummaries(replays, all, groupings, beside));
  EXPECT_TRUE(summaries.ok()) << summaries.status();
  return summaries.ok() ? summaries->front().total() : SummaryColumns();
}

TEST(RepeatedLives, AreAsLongAsTheirSteps) {
  const testing::TemporaryFolder folder;
  Steps().WriteTo(folder.path());
  const auto capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const SummaryColumns all = TotalOf(*capture, false), some = TotalOf(*capture, true);
  EXPECT_EQ(all.lives, 100u);
  EXPECT_EQ(some.lives, all.lives);
  EXPECT_EQ(all.life_ns, 50u * 50 + 50 * 500);
  EXPECT_EQ(some.life_ns, all.life_ns);
}

}  // namespace
}  // namespace memoir
