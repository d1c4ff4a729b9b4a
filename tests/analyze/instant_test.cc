// Live at an instant, over time, and as a tree: numbers by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/time/live_block_table.h"
#include "tools/analyze/time/over_time_curves.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/analyze/tree/range_tree_analysis.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

// Starts at tick 1000 = 0 ns, ten nanoseconds an event.
//   0 begin forward  10 begin a  20 +100  30 end  40 mark m  50 begin b  60 +30  70 -100  80 end  90 end  100 +5
class InstantTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ProcessBuilder process;
    process.BeginUser("forward").Begin("aten::a").Allocate(0x1000, 100).End().Mark("m");
    process.Begin("aten::b").Allocate(0x2000, 30).Deallocate(0x1000).End().End().Allocate(0x3000, 5);
    process.WriteTo(folder_.path());
    capture_.emplace(*Capture::Open(folder_.path()));
  }
  LiveDevice LiveAtText(const std::string& text) {
    LiveBlockTableOptions options;
    options.at = *ParseInstantChoice(text);
    const absl::StatusOr<LiveBlockTable> live = AnalyzeLiveBlockTable(*capture_, options);
    EXPECT_TRUE(live.ok()) << live.status();
    return live->devices.at(0);
  }
  TemporaryFolder folder_;
  std::optional<Capture> capture_;
};

TEST_F(InstantTest, Peak) {
  const LiveDevice peak = LiveAtText("peak");
  EXPECT_EQ(peak.live_bytes, 130u);
  EXPECT_EQ(peak.ns, 60u);
  ASSERT_EQ(peak.rows.size(), 2u);
  EXPECT_EQ(peak.rows[0].name, "aten::a");
  EXPECT_EQ(peak.rows[0].bytes, 100u);
  ASSERT_EQ(peak.largest.size(), 2u);
  EXPECT_EQ(peak.largest[0].address, 0x1000u);
  EXPECT_EQ(peak.largest[0].allocated_ns, 20u);
  EXPECT_EQ(peak.largest[0].range_name, "forward");
  EXPECT_FALSE(peak.largest[0].before);
}

TEST_F(InstantTest, EndMarkAndTime) {
  EXPECT_EQ(LiveAtText("end").live_bytes, 35u);
  EXPECT_EQ(LiveAtText("mark:m").live_bytes, 100u);
  EXPECT_EQ(LiveAtText("59ns").live_bytes, 100u);
  EXPECT_EQ(LiveAtText("60ns").live_bytes, 130u);
  EXPECT_EQ(LiveAtText("0.07us").live_bytes, 30u);
  EXPECT_EQ(LiveAtText("0.0000001").live_bytes, 35u) << "without unit: seconds";
  EXPECT_EQ(LiveAtText("5ns").live_bytes, 0u);
  LiveBlockTableOptions options;
  options.at = *ParseInstantChoice("mark:none");
  EXPECT_THAT(std::string(AnalyzeLiveBlockTable(*capture_, options).status().message()), HasSubstr("no mark 'none'"));
}

TEST_F(InstantTest, WhatAtMeans) {
  for (const char* const text : {"", "mark:", "soon", "-1", "nan", "1e99s"})
    EXPECT_FALSE(ParseInstantChoice(text).has_value()) << text;
  EXPECT_EQ(ParseInstantChoice("1.5s")->ns, 1'500'000'000u);
  EXPECT_EQ(ParseInstantChoice("2ms")->ns, 2'000'000u);
  EXPECT_EQ(ParseRangeWindow("Optimizer.step#AdamW.step").range, "Optimizer.step#AdamW.step");
  EXPECT_EQ(*ParseRangeWindow("a#b#12").occurrence, 12u);
  EXPECT_EQ(ParseRangeWindow("a#").range, "a#");
}

TEST_F(InstantTest, BucketsHoldTheirLargestValue) {
  OverTimeOptions options;
  options.buckets = 5;  // of twenty nanoseconds
  const absl::StatusOr<OverTimeCurves> curve = AnalyzeOverTime(*capture_, options);
  ASSERT_TRUE(curve.ok());
  EXPECT_EQ(curve->end_ns, 100u);
  EXPECT_THAT(curve->devices.at(0).allocated.max_bytes, ElementsAre(0u, 100u, 100u, 130u, 35u));
  EXPECT_EQ(curve->devices[0].allocated.peak_ns, 60u);
}

TEST_F(InstantTest, BucketsOfAWindowKnowWhatWasLiveBefore) {
  OverTimeOptions options;
  options.window = SelectionWindow::Time(50, 71);
  options.buckets = 2;
  const absl::StatusOr<OverTimeCurves> curve = AnalyzeOverTime(*capture_, options);
  ASSERT_TRUE(curve.ok());
  EXPECT_THAT(curve->devices.at(0).allocated.max_bytes, ElementsAre(130u, 130u));
}

// 900 ns of start-up, then 100 ns with a segment.
TEST(OverTimeTest, StartUpTakesAtMostAShareOfTheBuckets) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.Allocate(0x10, 64);
  for (int i = 1; i < 90; ++i) process.Mark("m");
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 2048).AllocateBlock(cuda, 0x1000000, 1024);
  for (int i = 2; i < 10; ++i) process.Mark("m");
  process.Deallocate(0x10);
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  OverTimeOptions options;
  options.buckets = 5;
  const Capture capture = *Capture::Open(folder.path());
  EXPECT_EQ(AnalyzeOverTime(capture, options)->omitted_ns, 0u);
  options.most_start_up = 0.2;
  const absl::StatusOr<OverTimeCurves> curve = AnalyzeOverTime(capture, options);
  ASSERT_TRUE(curve.ok()) << curve.status();
  EXPECT_EQ(curve->begin_ns, 875u);
  EXPECT_EQ(curve->omitted_ns, 875u);
  EXPECT_THAT(curve->devices.at(0).allocated.max_bytes, ElementsAre(0u, 1024u, 1024u, 1024u, 1024u));
  EXPECT_THAT(curve->devices.at(1).allocated.max_bytes, ElementsAre(64u, 64u, 64u, 64u, 64u)) << "allocated before";
}

// Each step has two forward passes. Step 0 has no begin: it lasts until step 1 begins.
TEST(OverTimeTest, StepsAreThoseOfTheOptimizer) {
  ProcessBuilder process;
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, process.AddDevice("cuda", 0), 0x1000000, 2048);
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < 2; ++i)
      process.EnterModule("", "Net", "Net").Begin("aten::mm").End().ExitModule("", "Net", "Net");
    process.BeginUser("Optimizer.step#SGD.step").End();
  }
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const DeviceCurve curve = AnalyzeOverTime(*Capture::Open(folder.path()), {})->devices.at(0);
  EXPECT_EQ(curve.iterations.size(), 4u);
  EXPECT_EQ(curve.steps.first, 1u);
  EXPECT_THAT(curve.steps.ns, ElementsAre(100u, 200u));
}

TEST_F(InstantTest, TheBeginOfAWindowMayBeItsPeak) {
  LiveBlockTableOptions options;
  options.window = SelectionWindow::Time(65, 200);  // 130 are live then
  EXPECT_EQ(AnalyzeLiveBlockTable(*capture_, options)->devices.at(0).live_bytes, 130u);
  SummaryOptions summed;
  summed.window = options.window;
  EXPECT_EQ(AnalyzeSummary(*capture_, summed)->devices.at(0).peak_allocated_bytes, 130u);
}

// forward#0 is open from 0 to 20 ns, forward#1 from 80 to 100.
TEST(InstantsAndWindows, BetweenWindowsNothingIsKnown) {
  TemporaryFolder folder;
  ProcessBuilder process;
  process.BeginUser("forward").Allocate(0x1000, 100).End();
  for (std::uint64_t i = 0; i < 5; ++i) process.Allocate(0x2000 + i * 0x100, 10);
  process.BeginUser("forward").Allocate(0x3000, 5).End().Mark("late");
  process.WriteTo(folder.path());
  const Capture capture = *Capture::Open(folder.path());

  OverTimeOptions over;
  over.window = SelectionWindow::Range("forward");
  over.buckets = 5;
  const DeviceCurve curve = AnalyzeOverTime(capture, over)->devices.at(0);
  EXPECT_THAT(curve.known, ElementsAre(true, true, false, false, true));
  EXPECT_EQ(curve.allocated.max_bytes.back(), 155u);

  SummaryOptions summed;
  summed.window = over.window;
  EXPECT_EQ(AnalyzeSummary(capture, summed)->duration_ns, 40u);

  LiveBlockTableOptions options;
  options.window = over.window;
  const auto complaint = [&](const char* at) {
    options.at = *ParseInstantChoice(at);
    return std::string(AnalyzeLiveBlockTable(capture, options).status().message());
  };
  EXPECT_THAT(complaint("50ns"), HasSubstr("outside of the 2 windows"));
  EXPECT_THAT(complaint("110ns"), HasSubstr("outside of the 2 windows"));
  EXPECT_THAT(complaint("mark:late"), HasSubstr("'late' lies outside of the window"));
  options.at = *ParseInstantChoice("95ns");
  EXPECT_EQ(AnalyzeLiveBlockTable(capture, options)->devices.at(0).live_bytes, 155u);
}

TEST_F(InstantTest, Tree) {
  const absl::StatusOr<RangeTree> tree = AnalyzeRangeTree(*capture_, {});
  ASSERT_TRUE(tree.ok());
  ASSERT_EQ(tree->nodes.size(), 4u);
  EXPECT_EQ(tree->nodes[0].allocated_bytes, 135u);
  EXPECT_EQ(tree->nodes[0].self_bytes, 5u);
  const RangeNode& forward = tree->nodes[1];
  EXPECT_EQ(forward.name, "forward");
  EXPECT_EQ(forward.source, RangeSource::kUser);
  EXPECT_EQ(forward.calls, 1u);
  EXPECT_EQ(forward.allocated_bytes, 130u);
  EXPECT_EQ(forward.self_bytes, 0u);
  EXPECT_EQ(forward.net_bytes, 30u);
  EXPECT_EQ(forward.total_ns, 90u);
  EXPECT_EQ(tree->nodes[2].name, "aten::a") << "most allocated bytes first";
  EXPECT_EQ(tree->nodes[2].net_bytes, 0u);
  EXPECT_EQ(tree->nodes[3].net_bytes, 30u);
}

TEST_F(InstantTest, TreeCutInDepthAndWidthStillSums) {
  RangeTreeOptions options;
  options.depth = 1;
  const absl::StatusOr<RangeTree> flat = AnalyzeRangeTree(*capture_, options);
  ASSERT_EQ(flat->nodes.size(), 3u);
  EXPECT_EQ(flat->nodes[1].self_bytes, 0u) << "what is deeper is not its own";
  EXPECT_EQ(flat->nodes[2].kind, RangeNode::Kind::kDeeper);
  EXPECT_EQ(flat->nodes[2].others, 2u);
  EXPECT_EQ(flat->nodes[2].self_bytes, 130u);
  options.depth = 2;
  options.width = 1;
  const absl::StatusOr<RangeTree> tree = AnalyzeRangeTree(*capture_, options);
  EXPECT_EQ(tree->nodes.at(3).kind, RangeNode::Kind::kOther);
  EXPECT_EQ(tree->nodes[3].others, 1u);
  EXPECT_EQ(tree->nodes[3].self_allocations, 1u);
  EXPECT_EQ(tree->nodes.at(3).allocated_bytes, 30u);
}

TEST(RangeTreeTest, LevelsCountFromTheWindowsRange) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.BeginUser("outer").BeginUser("inner").BeginUser("here").BeginUser("there").Begin("aten::a");
  process.Begin("aten::b").Allocate(0x10, 8).End().End().End().End().End().End();
  process.WriteTo(folder.path());
  RangeTreeOptions options;
  options.depth = 2;
  options.window = SelectionWindow::Range("here");
  const auto names = [&] {
    const absl::StatusOr<RangeTree> tree = AnalyzeRangeTree(*Capture::Open(folder.path()), options);
    std::vector<std::string> found;
    for (const RangeNode& node : tree->nodes) found.push_back(node.name);
    return found;
  };
  EXPECT_THAT(names(), ElementsAre("", "outer", "inner", "here", "there", "")) << "the last is what is deeper";
  options.depth = 0;
  EXPECT_THAT(names(), ElementsAre("", "outer", "inner", "here", "there", "aten::a", "aten::b"));
}

// A snapshot's records come segment by segment and block by block, while other threads continue.
TEST(SnapshotTest, NoMomentInsideOfOneIsJudged) {
  constexpr std::uint64_t kMiB = 1 << 20, kSegment = 200 * kMiB;
  const TemporaryFolder folder;
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "NVIDIA H100");
  process.SwitchTo(v1::LEVEL_OFF).SwitchTo(v1::LEVEL_ALL);
  for (std::uint64_t i = 1; i <= 2; ++i) {
    process.ChangeSegment(v1::SEGMENT_FOUND, cuda, i * kSegment, kSegment).FindBlock(cuda, i * kSegment, 2 * kMiB);
    if (i == 1) process.OnThread(2).Allocate(0x10, 1).OnThread(1);
    process.FindBlock(cuda, i * kSegment + 2 * kMiB, kSegment - 3 * kMiB);
  }
  const std::uint64_t inside = 50;
  process.CountDevice(cuda, {2 * kSegment - 2 * kMiB, 2 * kSegment - 2 * kMiB, 2 * kSegment, 0, 0}).Mark("found");
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  const absl::StatusOr<Fragmentation> found = AnalyzeFragmentation(*capture, {});
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->devices.size(), 1u);
  EXPECT_EQ(found->devices[0].peak.unusable, 2 * kMiB);
  EXPECT_EQ(found->devices[0].peak.reserved, 2 * kSegment);
  EXPECT_FALSE(IsFragmented(found->devices[0].peak));
  const absl::StatusOr<SegmentMaps> maps =
      MapSegments(*capture, {}, *ParseInstantChoice(std::to_string(inside) + "ns"));
  ASSERT_TRUE(maps.ok()) << maps.status();
  ASSERT_EQ(maps->devices.size(), 1u);
  EXPECT_EQ(maps->devices[0].at.unusable, 2 * kMiB) << "an instant inside is that at its end";
}

}  // namespace
}  // namespace memoir
