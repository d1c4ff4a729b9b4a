// The content of `memoir report`: it has every maximum and all bytes add up, no matter how many blocks it keeps.
#include "tools/analyze/report/report_content.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/analyze/analyzed_report.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/report/composition_curve.h"
#include "tools/analyze/time/live_block_table.h"

namespace memoir {
namespace {

using testing::Analyzed;
using testing::LiveBytes;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

// An allocation of a random block (`more`), or its deallocation.
struct Change {
  std::uint64_t ns, bytes;
  LabelNumber label;
  bool more;
};
std::vector<Change> RandomChanges(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Change> changes, live;
  std::uint64_t ns = 1000;
  for (std::size_t i = 0; i < count; ++i) {
    ns += random() % 50;
    const bool more = live.empty() || random() % 20 < 11;
    if (more) {
      live.push_back({ns, 1 + random() % 1000, static_cast<LabelNumber>(random() % 7), true});
      changes.push_back(live.back());
      continue;
    }
    std::swap(live[random() % live.size()], live.back());
    changes.push_back({ns, live.back().bytes, live.back().label, false});
    live.pop_back();
  }
  return changes;
}

TEST(CompositionCurve, EveryBucketHasItsMaximumAndWhatThatWasMadeOf) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Change> changes = RandomChanges(seed, 2000);
    const TimeBuckets buckets = {changes.front().ns, changes.back().ns, 64 + seed};
    CompositionCurve curve(buckets);
    // Expected for each bucket: the most live bytes, and their composition when this maximum was first reached.
    std::vector<std::uint64_t> most(buckets.count);
    std::vector<std::map<LabelNumber, std::uint64_t>> parts(buckets.count);
    std::map<LabelNumber, std::uint64_t> now;
    std::uint64_t live = 0;
    std::size_t at = 0;
    for (const Change& change : changes) {
      for (const std::size_t bucket = buckets.BucketOf(change.ns); at < bucket;) {
        most[++at] = live;
        parts[at] = now;
      }
      now[change.label] += change.more ? change.bytes : 0 - change.bytes;
      live += change.more ? change.bytes : 0 - change.bytes;
      if (live > most[at]) {
        most[at] = live;
        parts[at] = now;
      }
      const CompositionCurve::Labels labels = {change.label, change.label, change.label};
      if (change.more) {
        curve.Add(change.ns, change.bytes, labels);
      } else {
        curve.Remove(change.ns, change.bytes, labels);
      }
    }
    const ReportCurve taken = curve.Take();
    EXPECT_EQ(taken.most, most) << "seed " << seed;
    std::map<LabelNumber, std::uint64_t> shown;
    for (std::size_t bucket = 0; bucket <= at; ++bucket) {
      for (const ReportCurve::Change& change : taken.changes[0][bucket]) shown[change.label] = change.bytes;
      std::erase_if(shown, [](const auto& part) { return part.second == 0; });
      std::erase_if(parts[bucket], [](const auto& part) { return part.second == 0; });
      ASSERT_EQ(shown, parts[bucket]) << "seed " << seed << ", bucket " << bucket;
    }
  }
}

TEST(CompositionCurve, HoldsWhatIsLiveUntilTheEnd) {
  CompositionCurve curve(TimeBuckets{100, 200, 10});
  curve.Add(110, 64, {});
  const ReportCurve taken = curve.Take();
  EXPECT_EQ(taken.most, (std::vector<std::uint64_t>{0, 64, 64, 64, 64, 64, 64, 64, 64, 64}));
}

// Writes a capture with `blocks` blocks, which nested operators in a user range allocate in two modules.
void WriteCapture(const std::string& folder, std::size_t blocks) {
  ProcessBuilder process;
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> live;
  process.BeginUser("train");
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::string path = i % 3 == 0 ? "encoder" : "decoder.0";
    process.EnterModule(path);
    if (i % 5 == 0) process.Stack({{"train.py", "main", 90}, {"net.py", "Net.forward", i % 2 == 0 ? 12u : 14u}});
    const std::uint64_t address = 0x10000 + i * 0x1000;
    process.Begin("aten::linear").Begin(i % 2 == 0 ? "aten::addmm" : "aten::mm");
    process.Allocate(address, 64 + random() % 4000).End().End();
    process.ExitModule(path);
    if (i == blocks / 2) process.Mark("half");
    live.push_back(address);
    if (live.size() < 40) continue;
    std::swap(live[random() % live.size()], live.back());
    process.Deallocate(live.back());
    live.pop_back();
  }
  process.End();
  process.WriteTo(folder);
}

class Reported : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Reported, AddsUpWhateverIsKept) {
  const TemporaryFolder folder;
  WriteCapture(folder.path(), 3000);
  ReportOptions options;
  options.most_blocks = GetParam();
  options.buckets = 100;
  const ReportContent report = Analyzed(folder.path(), options);
  ASSERT_EQ(report.devices.size(), 1u);
  const ReportDevice& device = report.devices.front();
  const DeviceRow& row = report.summaries.front().devices.front();
  EXPECT_EQ(device.all_blocks, 3000u);
  EXPECT_EQ(device.complete, GetParam() >= 3000);
  EXPECT_EQ(std::ranges::max(device.allocated.most), row.peak_allocated_bytes);
  // The report also keeps the blocks that are live at the exact instants, at most 40 for each instant.
  EXPECT_LE(device.blocks.size(), GetParam() + 40 * device.instants.size());
  for (const ReportInstant& instant : device.instants) EXPECT_EQ(LiveBytes(device, instant.ns), instant.bytes);
  const auto peak = std::ranges::find(device.instants, ReportInstant::Kind::kPeak, &ReportInstant::kind);
  ASSERT_NE(peak, device.instants.end());
  EXPECT_EQ(peak->bytes, row.peak_allocated_bytes);
  EXPECT_EQ(peak->ns, row.peak_ns);
  EXPECT_EQ(std::ranges::count(device.instants, ReportInstant::Kind::kMark, &ReportInstant::kind), 1);
  for (const auto member : {&ReportPlace::allocated_bytes, &ReportPlace::bytes_at_peak, &ReportPlace::net_bytes}) {
    std::uint64_t sum = 0;
    for (const ReportPlace& place : device.places) sum += place.*member;
    EXPECT_EQ(sum, member == &ReportPlace::allocated_bytes ? row.allocated_bytes
                   : member == &ReportPlace::bytes_at_peak ? row.peak_allocated_bytes
                                                           : row.live_bytes_at_end);
  }
  EXPECT_THAT(device.labels[1], ::testing::UnorderedElementsAre("encoder", "decoder.*"));
  const auto sum_of = [](const auto& nodes, std::uint64_t ReportSums::* member) {
    std::uint64_t sum = 0;
    for (const auto& node : nodes) sum += node.*member;
    return sum;
  };
  EXPECT_EQ(sum_of(device.paths, &ReportSums::bytes_at_peak), row.peak_allocated_bytes);
  EXPECT_EQ(sum_of(device.callers, &ReportSums::bytes_at_peak), row.peak_allocated_bytes);
  EXPECT_EQ(sum_of(device.callers, &ReportSums::allocated_bytes), row.allocated_bytes);
  EXPECT_EQ(sum_of(device.callers, &ReportSums::net_bytes), row.live_bytes_at_end);
  ASSERT_EQ(device.frames.size(), 3u);
  ASSERT_EQ(device.callers.size(), 4u) << "the top, the program, and two lines that it called";
  EXPECT_EQ(device.frames[device.callers[1].frame].function, "main");
  EXPECT_EQ(device.callers[1].allocated_bytes, 0u);
  EXPECT_EQ(device.callers[3].parent, 1u);
}

INSTANTIATE_TEST_SUITE_P(Kept, Reported, ::testing::Values(10, 500, 3000, 100'000));

TEST(Report, RowsOfAnInstantAreThoseOfShow) {
  const TemporaryFolder folder;
  WriteCapture(folder.path(), 300);
  const ReportContent report = Analyzed(folder.path(), {});
  const ReportDevice& device = report.devices.front();
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
    if (kReportGroupings[i].merges_layers) continue;  // `memoir show` has no such grouping
    LiveBlockTableOptions options;
    options.by = kReportGroupings[i].by;
    const absl::StatusOr<LiveBlockTable> live = AnalyzeLiveBlockTable(*capture, options);
    ASSERT_TRUE(live.ok());
    std::map<std::string, std::uint64_t> expected, shown;
    for (const LiveRow& row : live->devices.front().rows) expected[row.name] += row.bytes;
    for (const ReportBlock& block : device.blocks) {
      const std::uint64_t peak_ns = live->devices.front().ns;
      if (block.begin_ns <= peak_ns && block.end_ns > peak_ns) shown[device.labels[i][block.labels[i]]] += block.bytes;
    }
    EXPECT_EQ(shown, expected);
  }
}

TEST(Report, OfOneEventAndOfNone) {
  const TemporaryFolder one, none;
  ProcessBuilder().Allocate(0x1000, 64).WriteTo(one.path());
  const ReportContent report = Analyzed(one.path(), {});
  ASSERT_EQ(report.devices.size(), 1u);
  EXPECT_EQ(report.devices.front().blocks.size(), 1u);
  EXPECT_EQ(std::ranges::max(report.devices.front().allocated.most), 64u);
  ProcessBuilder().WriteTo(none.path());
  EXPECT_TRUE(Analyzed(none.path(), {}).devices.empty());
}

TEST(Report, OfAHundredThousandShapesAndLostRecords) {
  constexpr std::int64_t kShapes = 100'000;
  const TemporaryFolder folder;
  ProcessBuilder process;
  for (std::int64_t i = 0; i < kShapes; ++i) {
    const std::uint64_t address = 0x10000 + 0x100 * static_cast<std::uint64_t>(i);
    process.Begin("aten::empty").Allocate(address, 64).End({{.storage = address, .storage_bytes = 64, .sizes = {i}}});
    if (i == kShapes / 2) process.LoseRecords(3);
    if (i % 2 == 0) process.Deallocate(address);
  }
  process.WriteTo(folder.path());
  const ReportContent report = Analyzed(folder.path(), {});
  const ReportDevice& device = report.devices.front();
  EXPECT_EQ(device.all_blocks, static_cast<std::uint64_t>(kShapes));
  EXPECT_EQ(report.summaries.front().report.lost_records, 3u);
  const auto shapes = std::ranges::find(kReportGroupings, GroupBy::kShape, &ReportGrouping::by);
  EXPECT_GE(device.labels[static_cast<std::size_t>(shapes - std::begin(kReportGroupings))].size(),
            static_cast<std::size_t>(kShapes) - 1);
}

// The event that shows the block's shape, and the shape's definition, are in a later chunk than the block.
TEST(Report, OfABlockWhoseShapeIsDecidedInALaterChunk) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  const testing::TensorSpec floats{1, 0x2000, 64, {16}}, bytes{2, 0x2000, 64, {64}, "uint8"};
  process.Begin("aten::empty").Allocate(0x2000, 64).End({floats}).Mark("made").EndChunk();
  process.Begin("aten::view", {floats}).End({bytes}).EndChunk();
  process.WriteTo(folder.path());
  const ReportContent report = Analyzed(folder.path(), {});
  const auto shapes = std::ranges::find(kReportGroupings, GroupBy::kShape, &ReportGrouping::by);
  EXPECT_THAT(report.devices.front().labels[static_cast<std::size_t>(shapes - std::begin(kReportGroupings))],
              ::testing::ElementsAre("uint8[64]"));
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  LiveBlockTableOptions options;
  options.by = GroupBy::kShape;
  options.at = {.kind = InstantChoice::Kind::kMark, .mark = "made"};
  const absl::StatusOr<LiveBlockTable> live = AnalyzeLiveBlockTable(*capture, options);
  ASSERT_TRUE(live.ok()) << live.status();
  ASSERT_EQ(live->devices.front().rows.size(), 1u);
  EXPECT_EQ(live->devices.front().rows.front().name, "uint8[64]");
}

TEST(Report, SegmentsAndReservedBytesOfACachingAllocator) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  const std::uint32_t gpu = process.AddDevice("cuda", 0);
  process.TakeSegment(gpu, 0x200000, 2 << 20).AllocateBlock(gpu, 0x200000, 1024).FreeBlock(gpu, 0x200000);
  process.WriteTo(folder.path());
  const ReportContent report = Analyzed(folder.path(), {});
  const ReportDevice& device = report.devices.front();
  EXPECT_TRUE(device.caching);
  ASSERT_EQ(device.segments.size(), 1u);
  EXPECT_TRUE(device.segments.front().grows);
  EXPECT_EQ(std::ranges::max(device.reserved), std::uint64_t{2} << 20);
  EXPECT_EQ(std::ranges::max(device.active), 1024u);
}

}  // namespace
}  // namespace memoir
