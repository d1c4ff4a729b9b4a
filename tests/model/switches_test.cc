// The replay of a recording that was switched to a lower level and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

class Script : public Visitor {
 public:
  std::vector<std::string> lines;

  void OnRangeEnd(const RangeEndEvent& event) override { lines.push_back(event.implicit ? "end implicit" : "end"); }
  void OnAllocate(const AllocateEvent& event) override {
    lines.push_back("allocate " + std::to_string(event.block->bytes));
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    lines.push_back("deallocate " + std::to_string(event.block->bytes) +
                    (event.cause == DeallocateCause::kUnknown ? " unknown" : ""));
  }
  void OnSwitch(const LevelChangeEvent& event) override {
    lines.push_back("switch " + std::to_string(event.before) + " to " + std::to_string(event.level));
  }
};

class SwitchesTest : public ::testing::Test {
 protected:
  const ReplayReport::Process& Replay(ProcessBuilder& process) {
    process.WriteTo(folder_.path());
    const auto capture = Capture::Open(folder_.path());
    EXPECT_TRUE(capture.ok()) << capture.status();
    const auto report = capture->Replay(script_);
    EXPECT_TRUE(report.ok()) << report.status();
    report_ = *report;
    EXPECT_THAT(report_.damage, ElementsAre());
    EXPECT_EQ(report_.keyframe_mismatches, 0u);
    return report_.processes.at(0);
  }

  const TemporaryFolder folder_;
  Script script_;
  ReplayReport report_;
};

TEST_F(SwitchesTest, BlocksFromBeforeARecordingThatWasOffAreNotFollowed) {
  ProcessBuilder process;
  process.Allocate(0x1000, 1).Begin("aten::add").SwitchTo(v1::LEVEL_OFF).SwitchTo(v1::LEVEL_ALL);
  process.Allocate(0x2000, 2).EndChunk(true).Deallocate(0x1000).Deallocate(0x2000).EndChunk(true);
  const auto& seen = Replay(process);
  EXPECT_THAT(script_.lines, ElementsAre("allocate 1", "end implicit", "switch 2 to 0", "deallocate 1 unknown",
                                         "switch 0 to 2", "allocate 2", "deallocate 2"));
  EXPECT_EQ(seen.unknown_blocks, 1u);
  EXPECT_EQ(seen.unknown_bytes, 1u);
  EXPECT_EQ(report_.unmatched_deallocations, 1u);
  ASSERT_EQ(seen.gaps.size(), 1u);
  EXPECT_EQ(seen.gaps[0].level, v1::LEVEL_OFF);
  EXPECT_LT(seen.gaps[0].begin_ns, seen.gaps[0].end_ns);
  EXPECT_TRUE(seen.gaps[0].ended);
}

TEST_F(SwitchesTest, WithMemoryOnBlocksAreFollowedThroughout) {
  ProcessBuilder process;
  process.Allocate(0x1000, 1).SwitchTo(v1::LEVEL_MEMORY).Allocate(0x2000, 2).EndChunk(true);
  process.SwitchTo(v1::LEVEL_ALL).Deallocate(0x1000).Deallocate(0x2000);
  const auto& seen = Replay(process);
  EXPECT_THAT(script_.lines, ElementsAre("allocate 1", "switch 2 to 1", "allocate 2", "switch 1 to 2", "deallocate 1",
                                         "deallocate 2"));
  EXPECT_EQ(seen.unknown_blocks, 0u);
  ASSERT_EQ(seen.gaps.size(), 1u);
  EXPECT_EQ(seen.gaps[0].level, v1::LEVEL_MEMORY);
}

TEST_F(SwitchesTest, AThreadThatRecordsBeforeTheResumeIsSeenKeepsItsBlocks) {
  ProcessBuilder process;
  process.Allocate(0x1000, 1).SwitchTo(v1::LEVEL_OFF);
  const std::uint64_t resumed = process.tick();
  // In the chunk before the one that holds the resume.
  process.OnThread(2).AtTick(resumed + 5).Allocate(0x2000, 2).EndChunk();
  process.OnThread(1).AtTick(resumed).SwitchTo(v1::LEVEL_ALL);
  const auto capture = (process.WriteTo(folder_.path()), Capture::Open(folder_.path()));
  ASSERT_TRUE(capture->Replay(script_).ok());
  EXPECT_THAT(script_.lines, ::testing::Contains("deallocate 1 unknown"));
  EXPECT_THAT(script_.lines, ::testing::Not(::testing::Contains("deallocate 2 unknown")));
}

TEST_F(SwitchesTest, AGapLastsUntilTheEndAndAcrossPartsThatAreGone) {
  ProcessBuilder process;
  process.Allocate(0x1000, 1).EndPart().SwitchTo(v1::LEVEL_MEMORY).EndPart().Allocate(0x2000, 2).FoldParts(2);
  const auto& seen = Replay(process);
  ASSERT_EQ(seen.gaps.size(), 1u);
  EXPECT_EQ(seen.gaps[0].level, v1::LEVEL_MEMORY);
  EXPECT_FALSE(seen.gaps[0].ended);
}

TEST_F(SwitchesTest, AnUnrecordedSpanIsReportedOnceAcrossEvictedParts) {
  ProcessBuilder process;
  process.Allocate(0x1000, 1).EndPart().Allocate(0x2000, 2).EndPart().Allocate(0x3000, 3);
  process.info().add_unrecorded()->set_what(v1::Unrecorded::CUDA_MEMORY);
  process.FoldPart(1);
  EXPECT_EQ(Replay(process).unrecorded.size(), 1u);
}

TEST_F(SwitchesTest, AClockThatWasEstimatedTooFastMakesNoTimeNegative) {
  testing::ProcessOptions options;
  options.ns_per_tick = 0.995;
  ProcessBuilder process(options);
  process.AtTick(100'000'000).SwitchTo(v1::LEVEL_OFF).EndChunk(true);
  const auto& seen = Replay(process);
  ASSERT_EQ(seen.gaps.size(), 1u);
  EXPECT_LE(seen.gaps[0].begin_ns, seen.gaps[0].end_ns);
  const auto capture = Capture::Open(folder_.path());
  const auto summary = AnalyzeSummary(*capture, {});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->duration_ns, 0u);
  EXPECT_LE(summary->begin_ns, summary->end_ns);
}

TEST_F(SwitchesTest, EveryColumnStillSums) {
  ProcessBuilder process;
  process.Begin("aten::add").Allocate(0x1000, 100).End().SwitchTo(v1::LEVEL_OFF).SwitchTo(v1::LEVEL_ALL);
  process.Begin("aten::mul").Allocate(0x1000, 30).End().Deallocate(0x1000);
  process.WriteTo(folder_.path());
  const auto capture = Capture::Open(folder_.path());
  const auto summary = AnalyzeSummary(*capture, {});
  ASSERT_TRUE(summary.ok());
  const SummaryColumns total = summary->total();
  EXPECT_EQ(total.allocated_bytes, 130u);
  EXPECT_EQ(total.allocated_bytes - total.deallocated_bytes, total.net_bytes);
  EXPECT_EQ(summary->devices.at(0).live_bytes_at_end, 0u);
}

}  // namespace
}  // namespace memoir
