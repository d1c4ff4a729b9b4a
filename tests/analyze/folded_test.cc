// Summaries of recordings of which --max-size removed parts: their sums come from keyframes.
#include <gtest/gtest.h>

#include "tests/analyze/summarised.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::RowNamed;
using testing::Summarise;
using testing::TemporaryFolder;

SummaryOptions By(GroupBy by) {
  SummaryOptions options;
  options.by = by;
  return options;
}

// A run whose first part is evicted.
void FillFolded(ProcessBuilder& process) {
  process.Begin("aten::big").Allocate(0x1000, 900).End().Deallocate(0x1000);
  process.Begin("aten::kept").Allocate(0x2000, 100).End().Allocate(0x5000, 1).Deallocate(0x5000);
  process.EndPart();
  process.FoldParts(1);
  process.Begin("aten::kept").Allocate(0x3000, 30).End();
}

TEST(FoldedTest, FoldedPartsKeepTheirSums) {
  ProcessBuilder process;
  FillFolded(process);
  const Summary summary = Summarise(process);
  EXPECT_TRUE(summary.is_partly_evicted);
  EXPECT_EQ(summary.begin_ns, 0u);
  EXPECT_EQ(summary.events, process.events());
  EXPECT_EQ(summary.operator_calls, 3u);
  const DeviceRow& cpu = summary.devices[0];
  EXPECT_EQ(cpu.peak_allocated_bytes, 900u) << "of the whole run";
  EXPECT_TRUE(cpu.peak_is_evicted);
  EXPECT_EQ(cpu.peak_ns, cpu.evicted_peak_ns);
  EXPECT_EQ(cpu.newest_peak_bytes, 130u);
  EXPECT_EQ(cpu.evicted_peak_bytes, 900u);
  EXPECT_EQ(cpu.evicted_allocated_bytes, 1001u);
  EXPECT_EQ(cpu.live_bytes_at_begin, 0u);
  EXPECT_EQ(cpu.live_bytes_at_end, 130u);
  EXPECT_EQ(cpu.allocations, 4u);
  EXPECT_EQ(cpu.allocated_bytes, 1031u);
  EXPECT_EQ(cpu.deallocations, 2u);
  EXPECT_EQ(cpu.deallocated_bytes, 901u);
  EXPECT_EQ(cpu.unattributed_bytes, 1u);
  const SummaryRow& kept = RowNamed(summary, "aten::kept");
  EXPECT_EQ(kept.count, 2u);
  EXPECT_EQ(kept.total.allocated_bytes, 130u);
  EXPECT_EQ(kept.total.net_bytes, 130u);
  EXPECT_EQ(kept.by_device[0], kept.total);
  EXPECT_EQ(kept.evicted.allocated_bytes, 100u);
  EXPECT_EQ(RowNamed(summary, "aten::big").total.deallocated_bytes, 900u);
  EXPECT_EQ(RowNamed(summary, "(in evicted parts)").total.bytes_at_peak, 900u) << "whose it was is gone";
  EXPECT_EQ(RowNamed(summary, "(in evicted parts)").kind, SummaryRow::Kind::kEvicted);
  EXPECT_EQ(summary.processes[0].counters.folded_parts(), 1u);
  EXPECT_EQ(summary.report.lost_chunks, 0u) << "folded is not lost";
  EXPECT_EQ(summary.report.lost_records, 0u);
}

TEST(FoldedTest, FoldedSumsCloseInEveryGrouping) {
  for (const GroupBy by :
       {GroupBy::kOperator, GroupBy::kLeaf, GroupBy::kRange, GroupBy::kThread, GroupBy::kShape, GroupBy::kRank}) {
    ProcessBuilder process;
    FillFolded(process);
    const Summary summary = Summarise(process, By(by));
    const DeviceRow& cpu = summary.devices[0];
    const SummaryColumns total = summary.total();
    EXPECT_EQ(total.allocations, cpu.allocations);
    EXPECT_EQ(total.allocated_bytes, 1031u);
    EXPECT_EQ(total.deallocations, cpu.deallocations);
    EXPECT_EQ(total.deallocated_bytes, cpu.deallocated_bytes);
    EXPECT_EQ(total.net_bytes, cpu.live_bytes_at_end);
    EXPECT_EQ(total.bytes_at_peak, 900u);
  }
  ProcessBuilder process;
  FillFolded(process);
  EXPECT_EQ(RowNamed(Summarise(process, By(GroupBy::kRank)), "rank 0").total.bytes_at_peak, 900u) << "ranks are known";
}

// The peak is in the first part, which is kept; the second one is evicted.
void FillAround(ProcessBuilder& process) {
  process.Begin("aten::big").Allocate(0x1000, 900).End().Begin("aten::kept").Allocate(0x2000, 100).End();
  process.Deallocate(0x1000).EndPart();
  process.Begin("aten::gone").Allocate(0x3000, 50).Allocate(0x4000, 7).End().Deallocate(0x4000).Deallocate(0x2000);
  process.Begin("aten::kept").Allocate(0x5000, 20).End().EndPart();
  process.FoldPart(1);
  process.Begin("aten::kept").Allocate(0x6000, 30).End().Deallocate(0x3000);
}

TEST(FoldedTest, APeakInAPartThatWasKeptIsKnownInFullAndTheSumsAreOfAll) {
  ProcessBuilder process;
  FillAround(process);
  const Summary summary = Summarise(process);
  EXPECT_TRUE(summary.is_partly_evicted);
  EXPECT_EQ(summary.events, process.events());
  EXPECT_EQ(summary.operator_calls, 5u);
  const DeviceRow& cpu = summary.devices[0];
  EXPECT_FALSE(cpu.peak_is_evicted);
  EXPECT_EQ(cpu.peak_allocated_bytes, 1000u);
  EXPECT_EQ(cpu.peak_operator, "aten::kept");
  EXPECT_EQ(RowNamed(summary, "aten::big").total.bytes_at_peak, 900u);
  EXPECT_EQ(cpu.allocations, 6u);
  EXPECT_EQ(cpu.allocated_bytes, 1107u);
  EXPECT_EQ(cpu.deallocations, 4u);
  EXPECT_EQ(cpu.deallocated_bytes, 1057u);
  EXPECT_EQ(cpu.live_bytes_at_end, 50u);
  const SummaryRow& kept = RowNamed(summary, "aten::kept");
  EXPECT_EQ(kept.count, 3u);
  EXPECT_EQ(kept.total.allocated_bytes, 150u);
  EXPECT_EQ(kept.total.net_bytes, 50u);
  EXPECT_EQ(RowNamed(summary, "aten::gone").total.allocated_bytes, 57u);
  EXPECT_EQ(summary.report.lost_chunks + summary.report.lost_records, 0u) << "folded is not lost";
  EXPECT_EQ(summary.report.keyframe_mismatches, 0u);
  ASSERT_EQ(summary.report.processes[0].evicted.size(), 1u);
  EXPECT_LT(summary.report.processes[0].evicted[0].begin_ns, summary.report.processes[0].evicted[0].end_ns);
}

TEST(FoldedTest, SumsAroundAGapCloseInEveryGrouping) {
  for (const GroupBy by : {GroupBy::kOperator, GroupBy::kLeaf, GroupBy::kRange, GroupBy::kThread, GroupBy::kModule,
                           GroupBy::kCategory, GroupBy::kParameter, GroupBy::kShape, GroupBy::kRank}) {
    ProcessBuilder process;
    FillAround(process);
    const Summary summary = Summarise(process, By(by));
    const DeviceRow& cpu = summary.devices[0];
    const SummaryColumns total = summary.total();
    EXPECT_EQ(total.allocations, 6u);
    EXPECT_EQ(total.allocated_bytes, 1107u);
    EXPECT_EQ(total.deallocations, cpu.deallocations);
    EXPECT_EQ(total.deallocated_bytes, 1057u);
    EXPECT_EQ(total.net_bytes, cpu.live_bytes_at_end);
    EXPECT_EQ(total.bytes_at_peak, 1000u);
  }
}

TEST(FoldedTest, FoldedSumsOfOperatorsThatShareDevicesBelongToNone) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.Begin("aten::to").Allocate(0x1000, 10).Allocate(0x9000, 700, cuda).End().Deallocate(0x9000, cuda);
  process.EndPart();
  process.FoldParts(1);
  process.Begin("aten::to").Allocate(0x2000, 5).End();
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = *Capture::Open(folder.path());
  const Summary both = *AnalyzeSummary(capture, {});
  ASSERT_EQ(both.devices.size(), 2u);
  EXPECT_EQ(both.devices[1].peak_allocated_bytes, 700u);
  EXPECT_EQ(RowNamed(both, "aten::to").total.allocated_bytes, 715u);
  EXPECT_EQ(both.total().allocated_bytes, 715u);
  EXPECT_EQ(RowNamed(both, "(in evicted parts)").by_device[1].allocated_bytes, 700u);
  SummaryOptions options;
  options.device = "cuda:0";
  const Summary one = *AnalyzeSummary(capture, options);
  EXPECT_EQ(one.devices[0].allocated_bytes, 700u);
  EXPECT_EQ(one.total().allocated_bytes, 700u);
}

TEST(FoldedTest, OfTwoEqualPeaksTheOneWithItsRowsCounts) {
  ProcessBuilder process;
  process.Begin("aten::a").Allocate(0x1000, 50).End().Deallocate(0x1000);
  process.EndPart();
  process.FoldParts(1);
  process.Begin("aten::b").Allocate(0x1000, 50).End();
  const Summary summary = Summarise(process);
  EXPECT_FALSE(summary.devices[0].peak_is_evicted);
  EXPECT_EQ(RowNamed(summary, "aten::b").total.bytes_at_peak, 50u);
  EXPECT_EQ(summary.devices[0].allocated_bytes, 100u);
}

}  // namespace
}  // namespace memoir
