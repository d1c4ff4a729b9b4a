// A report of a time window or of selected blocks has the same figures as `memoir show` with the same options.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/analyze/analyzed_report.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/report/report_analysis.h"
#include "tools/analyze/report/report_content.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/time/live_block_table.h"

namespace memoir {
namespace {

using testing::Analyzed;
using testing::LiveBytes;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

// Writes the capture of a process that allocates and frees blocks on a GPU, in twelve steps and two modules.
void WriteSteps(const std::string& folder) {
  ProcessBuilder process;
  const std::uint32_t gpu = process.AddDevice("cuda", 0);
  constexpr std::uint64_t kSegment = 0x200000;
  process.TakeSegment(gpu, kSegment, 2 << 20);
  std::vector<std::uint64_t> live;
  std::mt19937_64 random(11);
  const auto give = [&] {
    std::swap(live[random() % live.size()], live.back());
    process.FreeBlock(gpu, live.back());
    live.pop_back();
  };
  std::uint64_t next = kSegment;
  for (std::uint64_t step = 0; step < 12; ++step) {
    process.Step(step);
    if (step == 7) process.TakeSegment(gpu, kSegment + (4 << 20), 2 << 20).Mark("seven");
    // The live bytes at the begin of step 4 exceed all later ones in steps 4 and 5.
    for (std::uint64_t i = 0; step != 4 && i < 20; ++i, next += 0x800) {
      const std::string path = i % 3 == 0 ? "encoder" : "decoder.0";
      process.EnterModule(path).Begin(i % 2 == 0 ? "aten::addmm" : "aten::mm");
      process.AllocateBlock(gpu, next, 512 * (1 + random() % 4)).End().ExitModule(path);
      live.push_back(next);
      if (live.size() > 40) give();
    }
    while (step == 4 && live.size() > 10) give();
  }
  process.WriteTo(folder);
}

struct Part {
  const char* name;
  SelectionWindow window;
  const char* module = "";
  std::uint64_t min_bytes = 0;
};
class OfAPart : public ::testing::TestWithParam<Part> {
 protected:
  void SetUp() override {
    WriteSteps(folder_.path());
    capture_.emplace(*Capture::Open(folder_.path()));
  }
  template <class Options>
  Options Asked() const {
    Options options;
    options.window = GetParam().window;
    options.module = GetParam().module;
    options.min_bytes = GetParam().min_bytes;
    return options;
  }
  const TemporaryFolder folder_;
  std::optional<Capture> capture_;
};

TEST_P(OfAPart, FiguresAreThoseOfShow) {
  for (const std::size_t most : {std::size_t{10}, std::size_t{100'000}}) {
    auto options = Asked<ReportOptions>();
    options.most_blocks = options.most_others = most;
    options.buckets = 50;
    const ReportContent report = Analyzed(folder_.path(), options);
    ASSERT_EQ(report.devices.size(), 1u);
    const ReportDevice& device = report.devices.front();
    const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture_, Asked<SummaryOptions>());
    ASSERT_TRUE(summary.ok()) << summary.status();
    const DeviceRow& row = summary->devices.front();
    EXPECT_EQ(std::ranges::max(device.allocated.most), row.peak_allocated_bytes);
    EXPECT_EQ(std::ranges::max(device.active), row.peak_active_bytes);
    EXPECT_EQ(std::ranges::max(device.reserved), row.peak_reserved_bytes);
    const auto peak = std::ranges::find(device.instants, ReportInstant::Kind::kPeak, &ReportInstant::kind);
    ASSERT_NE(peak, device.instants.end());
    EXPECT_EQ(peak->bytes, row.peak_allocated_bytes);
    EXPECT_EQ(peak->ns, row.peak_ns);
    // For a whole recording the axis begins with the first allocation.
    const bool is_whole = options.window.kind == SelectionWindow::Kind::kAll;
    EXPECT_EQ(device.begin_ns, is_whole ? 10 : summary->begin_ns);
    EXPECT_EQ(device.end_ns, summary->end_ns);
    for (const ReportInstant& instant : device.instants) {
      EXPECT_EQ(LiveBytes(device, instant.ns), instant.bytes);
      EXPECT_GE(instant.ns, device.begin_ns);
      EXPECT_LE(instant.ns, device.end_ns);
    }
    for (const ReportBlock& block : device.blocks) EXPECT_GE(block.begin_ns, device.begin_ns);
    const auto sum_of = [](const auto& nodes, std::uint64_t ReportSums::* member) {
      std::uint64_t sum = 0;
      for (const auto& node : nodes) sum += node.*member;
      return sum;
    };
    const auto check = [&](const auto& nodes) {
      EXPECT_EQ(sum_of(nodes, &ReportSums::bytes_at_peak), row.peak_allocated_bytes);
      EXPECT_EQ(sum_of(nodes, &ReportSums::allocated_bytes), row.allocated_bytes);
      EXPECT_EQ(sum_of(nodes, &ReportSums::net_bytes), row.live_bytes_at_end);
    };
    check(device.places);
    check(device.paths);
    check(device.callers);
  }
}

TEST_P(OfAPart, RowsAtThePeakAreThoseOfShow) {
  const ReportContent report = Analyzed(folder_.path(), Asked<ReportOptions>());
  const ReportDevice& device = report.devices.front();
  for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
    if (kReportGroupings[i].merges_layers) continue;  // `memoir show` has no such grouping
    auto options = Asked<LiveBlockTableOptions>();
    options.by = kReportGroupings[i].by;
    const absl::StatusOr<LiveBlockTable> live = AnalyzeLiveBlockTable(*capture_, options);
    ASSERT_TRUE(live.ok()) << live.status();
    std::map<std::string, std::uint64_t> expected, shown;
    for (const LiveRow& row : live->devices.front().rows) expected[row.name] += row.bytes;
    for (const ReportBlock& block : device.blocks) {
      const std::uint64_t peak_ns = live->devices.front().ns;
      if (block.begin_ns <= peak_ns && block.end_ns > peak_ns) shown[device.labels[i][block.labels[i]]] += block.bytes;
    }
    EXPECT_EQ(shown, expected) << GroupingFactsOf(options.by).word;
    EXPECT_FALSE(expected.empty());
  }
}

// Segments do not depend on the selected blocks.
TEST_P(OfAPart, OtherBlocksAreTaken) {
  auto whole_options = Asked<ReportOptions>();
  whole_options.module = "";
  whole_options.min_bytes = 0;
  const ReportContent whole = Analyzed(folder_.path(), whole_options);
  for (const std::size_t most : {std::size_t{5}, std::size_t{100'000}}) {
    auto options = Asked<ReportOptions>();
    options.most_others = most;
    const ReportContent report = Analyzed(folder_.path(), options);
    const ReportDevice& device = report.devices.front();
    const bool chooses = !options.takes_all_blocks();
    EXPECT_EQ(device.others.empty(), !chooses);
    EXPECT_EQ(device.all_others, !chooses || most > 5);
    EXPECT_EQ(device.segments.size(), whole.devices.front().segments.size());
    for (const ReportInstant& instant : device.instants) {
      std::uint64_t others = 0;
      for (const ReportOmittedBlock& block : device.others)
        others += block.begin_ns <= instant.ns && block.end_ns > instant.ns ? block.bytes : 0;
      EXPECT_EQ(instant.bytes + others, LiveBytes(whole.devices.front(), instant.ns)) << instant.ns;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, OfAPart,
                         ::testing::Values(Part{"steps", SelectionWindow::Steps(5, 8)},
                                           Part{"peakAtBegin", SelectionWindow::Steps(4, 5)},
                                           Part{"time", SelectionWindow::Time(1500, 3000)},
                                           Part{"untilTheEnd", SelectionWindow::Time(2500, UINT64_MAX)},
                                           Part{"module", SelectionWindow::All(), "decoder"},
                                           Part{"large", SelectionWindow::All(), "", 1536},
                                           Part{"all", SelectionWindow::Steps(3, 9), "enc*", 1024}),
                         [](const ::testing::TestParamInfo<Part>& part) { return std::string(part.param.name); });

TEST(Report, StepsOfAWindowHaveTheirNumbers) {
  const TemporaryFolder folder;
  WriteSteps(folder.path());
  ReportOptions options;
  options.window = SelectionWindow::Steps(5, 8);
  const ReportContent report = Analyzed(folder.path(), options);
  ASSERT_EQ(report.processes.size(), 1u);
  EXPECT_EQ(report.processes.front().steps.first, 5u);
  ASSERT_EQ(report.processes.front().steps.ns.size(), 3u);
  EXPECT_EQ(report.processes.front().steps.ns.front(), report.devices.front().begin_ns);
  EXPECT_EQ(report.whole.steps, 12u);
  EXPECT_EQ(report.whole.processes, 1u);
  EXPECT_EQ(report.whole.processes_in_part, 1u);
  options.window = SelectionWindow::Steps(20, 30);
  const absl::StatusOr<ReportContent> none = AnalyzeReport(*Capture::Open(folder.path()), options);
  EXPECT_THAT(std::string(none.status().message()), ::testing::HasSubstr("steps are counted up to 11 here"));
}

}  // namespace
}  // namespace memoir
