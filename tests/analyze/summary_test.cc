// Summaries of small captures whose numbers are computed by hand.
#include "tools/analyze/summary/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/summarised.h"
#include "tests/captures/capture_builder.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;
using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::RowNamed;
using testing::Summarise;
using testing::TemporaryFolder;
using testing::TensorSpec;

Capture OpenOrDie(const std::string& folder) {
  absl::StatusOr<Capture> capture = Capture::Open(folder);
  EXPECT_TRUE(capture.ok()) << capture.status();
  return *std::move(capture);
}

SummaryOptions By(GroupBy by) {
  SummaryOptions options;
  options.by = by;
  return options;
}

SummaryOptions In(SelectionWindow window) {
  SummaryOptions options;
  options.window = std::move(window);
  return options;
}

// add allocates 100 inside of empty, which is freed before mul; mul allocates 300 and frees 50 of it; 7 outside of
// operators.
void Fill(ProcessBuilder& process) {
  process.Begin("aten::add").Begin("aten::empty").Allocate(0x1000, 100).End().End();
  process.Deallocate(0x1000);
  process.BeginUser("forward")
      .Begin("aten::mul")
      .Allocate(0x2000, 300)
      .Allocate(0x3000, 50)
      .Deallocate(0x3000)
      .End()
      .End();
  process.Allocate(0x4000, 7);
}

TEST(SummaryTest, OperatorsWithPeakNetAndTemporaries) {
  ProcessBuilder process;
  Fill(process);
  const Summary summary = Summarise(process);
  ASSERT_EQ(summary.devices.size(), 1u);
  const DeviceRow& cpu = summary.devices[0];
  EXPECT_EQ(cpu.name, "cpu");
  EXPECT_EQ(cpu.peak_allocated_bytes, 350u);
  EXPECT_EQ(cpu.peak_blocks, 2u);
  EXPECT_EQ(cpu.live_bytes_at_end, 307u);
  EXPECT_EQ(cpu.live_blocks_at_end, 2u);
  EXPECT_EQ(cpu.allocated_bytes, 457u);
  EXPECT_EQ(cpu.allocations, 4u);
  EXPECT_EQ(cpu.deallocations, 2u);
  EXPECT_EQ(cpu.deallocated_bytes, 150u);
  EXPECT_EQ(cpu.unattributed_bytes, 7u);

  const SummaryRow& add = RowNamed(summary, "aten::add");
  EXPECT_EQ(add.count, 1u);
  EXPECT_EQ(add.outermost_count, 1u);
  EXPECT_EQ(add.total.allocated_bytes, 100u);
  EXPECT_EQ(add.total.net_bytes, 0u);
  EXPECT_EQ(add.total.bytes_at_peak, 0u);
  EXPECT_EQ(add.total.temporaries, 0u) << "freed after the operator";
  EXPECT_EQ(add.total.mean_life_ns(), 30) << "three events of ten ticks later";

  const SummaryRow& empty = RowNamed(summary, "aten::empty");
  EXPECT_EQ(empty.count, 1u);
  EXPECT_EQ(empty.outermost_count, 0u);
  EXPECT_EQ(empty.total.allocations, 0u);

  const SummaryRow& mul = RowNamed(summary, "aten::mul");
  EXPECT_EQ(mul.total.allocated_bytes, 350u);
  EXPECT_EQ(mul.total.net_bytes, 300u);
  EXPECT_EQ(mul.total.bytes_at_peak, 350u);
  EXPECT_EQ(mul.total.temporaries, 1u);
  EXPECT_EQ(mul.total.temporary_bytes, 50u);

  const SummaryRow& none = RowNamed(summary, "(no operator)");
  EXPECT_EQ(none.total.net_bytes, 7u);
  EXPECT_EQ(none.total.bytes_at_peak, 0u);
  EXPECT_EQ(summary.rows.back().name, "(no operator)");
  EXPECT_EQ(summary.rows.front().name, "aten::mul") << "most allocated bytes first";
  EXPECT_EQ(summary.events, process.events());
  EXPECT_EQ(summary.report.processes[0].end.reason(), v1::End::EXITED);
}

TEST(SummaryTest, OtherGroupings) {
  ProcessBuilder process;
  Fill(process);
  process.NameThread(2, "autograd").OnThread(2).Begin("aten::mm").Allocate(0x9000, 40).End();
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = OpenOrDie(folder.path());

  const Summary leaf = *AnalyzeSummary(capture, By(GroupBy::kLeaf));
  EXPECT_EQ(RowNamed(leaf, "aten::empty").total.allocated_bytes, 100u);
  EXPECT_EQ(RowNamed(leaf, "forward").count, 1u);
  const Summary range = *AnalyzeSummary(capture, By(GroupBy::kRange));
  EXPECT_EQ(RowNamed(range, "forward").total.allocated_bytes, 350u);
  EXPECT_EQ(RowNamed(range, "(no range)").total.allocated_bytes, 147u);
  const Summary thread = *AnalyzeSummary(capture, By(GroupBy::kThread));
  EXPECT_EQ(RowNamed(thread, "thread 1").total.allocated_bytes, 457u);
  EXPECT_EQ(RowNamed(thread, "thread 2 (autograd)").total.allocated_bytes, 40u);
  const Summary rank = *AnalyzeSummary(capture, By(GroupBy::kRank));
  EXPECT_EQ(RowNamed(rank, "rank 0").total.allocated_bytes, 497u);
}

TEST(SummaryTest, ShapeIsThatOfTheLargestTensorOnTheBlock) {
  ProcessBuilder process;
  const testing::TensorSpec flat{1, 0x2000, 32, {8}}, square{2, 0x2000, 32, {2, 4}}, slice{3, 0x2000, 32, {4}};
  const testing::TensorSpec inner{4, 0x3000, 4000, {1000}}, scalar{5, 0x4000, 4, {}};
  process.Begin("aten::linear").Begin("aten::addmm").Allocate(0x2000, 32).End({flat}).End({square});
  process.Begin("aten::slice", {square}).End({slice});
  process.Begin("aten::view", {flat}).End({flat});
  // A loss: its result is not one of the large blocks inside.
  process.Begin("aten::loss").Begin("aten::log_softmax").Allocate(0x3000, 4000).Allocate(0x5000, 77).End({inner});
  process.Allocate(0x4000, 4).End({scalar});
  process.Deallocate(0x3000).Begin("aten::other").Allocate(0x3000, 8).End();
  const Summary summary = Summarise(process, By(GroupBy::kShape));
  EXPECT_EQ(RowNamed(summary, "float32[2, 4]").total.allocated_bytes, 32u) << "as the operator returned it";
  EXPECT_EQ(RowNamed(summary, "float32[1000]").total.allocated_bytes, 4000u);
  EXPECT_EQ(RowNamed(summary, "float32[]").total.allocated_bytes, 4u);
  EXPECT_EQ(RowNamed(summary, "(no tensor)").total.allocated_bytes, 77u + 8u);
}

TEST(SummaryTest, RangeWindowCountsAllThreadsAndItsOwnThreadByOrder) {
  ProcessBuilder process;
  process.Begin("aten::init").Allocate(0x1000, 1000).End();
  process.BeginUser("step").Begin("aten::a").Allocate(0x2000, 10).End();
  process.OnThread(2).Begin("aten::b").Allocate(0x3000, 20).End().Deallocate(0x1000);
  process.OnThread(1).End();
  process.Deallocate(0x2000).Allocate(0x5000, 5000);
  process.BeginUser("step").Begin("aten::a").Allocate(0x6000, 1).End().End();
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = OpenOrDie(folder.path());

  const Summary first = *AnalyzeSummary(capture, In(SelectionWindow::Range("step", 0)));
  EXPECT_EQ(first.windows, 1u);
  EXPECT_EQ(first.devices[0].allocated_bytes, 30u);
  EXPECT_EQ(first.devices[0].live_bytes_at_begin, 1000u);
  EXPECT_EQ(first.devices[0].live_bytes_at_end, 30u);
  EXPECT_EQ(first.devices[0].peak_allocated_bytes, 1030u);
  EXPECT_EQ(RowNamed(first, "aten::init (before the window)").total.bytes_at_peak, 1000u);
  EXPECT_EQ(RowNamed(first, "aten::init (before the window)").total.deallocations, 1u);
  EXPECT_EQ(RowNamed(first, "aten::init (before the window)").total.net_bytes, 0u);
  EXPECT_EQ(RowNamed(first, "aten::a").total.net_bytes, 10u);
  EXPECT_EQ(RowNamed(first, "aten::b").total.net_bytes, 20u);
  EXPECT_EQ(first.threads, 2u);

  const Summary both = *AnalyzeSummary(capture, In(SelectionWindow::Range("step")));
  EXPECT_EQ(both.windows, 2u);
  EXPECT_EQ(both.devices[0].allocated_bytes, 31u);
  EXPECT_EQ(RowNamed(both, "aten::a").count, 2u);
  EXPECT_EQ(both.devices[0].live_bytes_at_end, 20u + 5000u + 1u);

  SummaryOptions forget = In(SelectionWindow::Range("step", 0));
  forget.forget_before = true;
  EXPECT_EQ(AnalyzeSummary(capture, forget)->devices[0].peak_allocated_bytes, 30u);
}

TEST(SummaryTest, StepAndTimeWindows) {
  ProcessBuilder process;  // starts at tick 1000, ten ticks an event, one tick is a nanosecond
  process.Step(0).Allocate(0x1000, 1).Step(1).Allocate(0x2000, 2).Step(2).Allocate(0x3000, 4);
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = OpenOrDie(folder.path());
  EXPECT_EQ(AnalyzeSummary(capture, In(SelectionWindow::Steps(1, 2)))->devices[0].allocated_bytes, 2u);
  EXPECT_EQ(AnalyzeSummary(capture, In(SelectionWindow::Steps(0, 2)))->devices[0].allocated_bytes, 3u);
  EXPECT_EQ(AnalyzeSummary(capture, In(SelectionWindow::Time(10, 31)))->devices[0].allocated_bytes, 3u);
  EXPECT_EQ(AnalyzeSummary(capture, In(SelectionWindow::Time(11, 31)))->devices[0].allocated_bytes, 2u);
}

TEST(SummaryTest, WhatWasNotFoundIsSaidWithWhatThereIs) {
  ProcessBuilder process;
  process.BeginUser("forward").End().BeginUser("backward").End();
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = OpenOrDie(folder.path());
  const auto message = [&](const SummaryOptions& options) {
    const absl::StatusOr<Summary> summary = AnalyzeSummary(capture, options);
    EXPECT_TRUE(absl::IsNotFound(summary.status()));
    return std::string(summary.status().message());
  };
  EXPECT_THAT(message(In(SelectionWindow::Range("forwards"))), HasSubstr("backward, forward"));
  EXPECT_THAT(message(In(SelectionWindow::Range("forward", 1))), HasSubstr("occurs 1 times"));
  EXPECT_THAT(message(In(SelectionWindow::Steps(3, 4))), HasSubstr("memoir.step()"));
  SummaryOptions options;
  options.device = "cuda:0";
  EXPECT_THAT(message(options), HasSubstr("there are: cpu"));
  options = {};
  options.rank = 3;
  EXPECT_THAT(message(options), HasSubstr("there are: 0"));
}

TEST(SummaryTest, DevicesAndRanksStayApart) {
  const TemporaryFolder folder;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ProcessOptions options;
    options.rank = rank;
    options.pid = 100 + rank;
    ProcessBuilder process(options);
    const std::uint32_t cuda = process.AddDevice("cuda", rank, "H100");
    process.Begin("aten::add").Allocate(0x1000, 10 + rank).Allocate(0x1000, 100 + rank, cuda).End();
    process.Deallocate(0x1000);
    process.WriteTo(folder.path());
  }
  const Capture capture = OpenOrDie(folder.path());
  const Summary summary = *AnalyzeSummary(capture, {});
  ASSERT_EQ(summary.devices.size(), 4u);
  EXPECT_EQ(summary.devices[1].name, "cuda:0");
  EXPECT_EQ(summary.devices[3].name, "cuda:1");
  EXPECT_EQ(summary.devices[3].rank, 1u);
  EXPECT_EQ(summary.devices[3].peak_allocated_bytes, 101u);
  EXPECT_EQ(summary.devices[2].live_bytes_at_end, 0u);
  ASSERT_EQ(summary.rows.size(), 1u) << "the same name of two ranks is one row";
  EXPECT_EQ(summary.rows[0].count, 2u);
  EXPECT_EQ(summary.rows[0].by_device[3].net_bytes, 101u);

  SummaryOptions options;
  options.rank = 1;
  options.device = "cuda:1";
  const Summary one = *AnalyzeSummary(capture, options);
  ASSERT_EQ(one.devices.size(), 1u);
  EXPECT_EQ(one.devices[0].allocated_bytes, 101u);
  EXPECT_EQ(RowNamed(*AnalyzeSummary(capture, By(GroupBy::kRank)), "rank 1").total.allocated_bytes, 112u);
}

TEST(SummaryTest, StoragesOfOthersAreFirstSeenOnce) {
  ProcessBuilder process;
  const testing::TensorSpec numpy{1, 0x7000, 512, {128}}, own{2, 0x1000, 64, {16}};
  process.Begin("aten::add", {numpy, numpy}).Allocate(0x1000, 64).End({own});
  process.EndChunk();
  process.Begin("aten::mul", {numpy, own}).End();
  const Summary summary = Summarise(process);
  EXPECT_EQ(summary.devices[0].first_seen_storages, 1u);
  EXPECT_EQ(summary.devices[0].first_seen_bytes, 512u);
}

TEST(SummaryTest, EventsAreThoseOfTheProcesses) {
  ProcessBuilder process;
  const TensorSpec weight{7, 0x9000, 512, {2, 64}};
  process.EnterModule("fc").ExitModule("fc").ModuleHolds("fc", {{weight}, {weight}, {}}, {"weight"});
  process.OptimizerHolds(1, {{weight}, {weight}, {}})
      .HoldsMore({{weight}, {weight}, {}}, {"more"})
      .GradientOf(weight, weight);
  process.Begin("aten::a").Allocate(0x1000, 100).End().ExitModule("never").DeallocateAs(9, 0x7000);
  process.SwitchTo(v1::LEVEL_MEMORY).SwitchTo(v1::LEVEL_ALL).Mark("m").Step(1);
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = OpenOrDie(folder.path());
  const Summary summary = *AnalyzeSummary(capture, {});
  EXPECT_TRUE(summary.report.damage.empty()) << ToString(summary.report.damage[0]);
  EXPECT_EQ(summary.events, process.events());
  EXPECT_EQ(capture.processes()[0].events, process.events());
}

}  // namespace
}  // namespace memoir
