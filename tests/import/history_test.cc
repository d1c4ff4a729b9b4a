// Bytes add up: for random histories, whole or without their oldest entries, peak and end equal the allocator's, and
// the rows of a table sum to the peak.
#include <gtest/gtest.h>

#include "tests/import/random_history.h"
#include "tests/import/traces.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using testing::MakeRandomHistory;
using testing::PickleFile;
using testing::RandomHistory;

void Check(const RandomHistory& history) {
  const PickleFile file(history.pickle);
  const absl::StatusOr<Capture> capture = Capture::Open(file.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  SummaryOptions options;
  options.by = GroupBy::kLine;
  const auto summary = AnalyzeSummary(*capture, options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->report.statistics_mismatches, 0u);
  for (std::size_t i = 0; i < summary->devices.size(); ++i) {
    const DeviceRow& device = summary->devices[i];
    const auto index = static_cast<std::size_t>(std::stoi(device.name.substr(device.name.find(':') + 1)));
    ASSERT_LT(index, history.devices.size());
    const RandomHistory::Device& expected = history.devices[index];
    EXPECT_EQ(device.peak_allocated_bytes, expected.peak) << device.name;
    EXPECT_EQ(device.reserved_bytes_at_end, expected.reserved) << device.name;
    std::uint64_t at_peak = 0, at_end = 0;
    for (const SummaryRow& row : summary->rows) {
      at_peak += row.by_device[i].bytes_at_peak;
      at_end += row.by_device[i].net_bytes;
    }
    EXPECT_EQ(at_peak, expected.peak) << device.name;
    EXPECT_EQ(at_end, expected.end) << device.name;
  }
}

TEST(RandomHistories, AddUp) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const RandomHistory history = MakeRandomHistory(random, 20 + random() % 300);
    SCOPED_TRACE(seed);
    Check(history);
    cut += history.cut;
    if (HasFailure()) return;
  }
  EXPECT_GT(cut, 50);
  EXPECT_LT(cut, 150);
}

// Peaks and ends equal the profiler's totals, whichever library moved memory; the rows of a table sum to them.
void Check(const testing::RandomTrace& trace, GroupBy by) {
  const PickleFile file(trace.json, "trace.json");
  const absl::StatusOr<Capture> capture = Capture::Open(file.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  SummaryOptions options;
  options.by = by;
  const auto summary = AnalyzeSummary(*capture, options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->report.statistics_mismatches, 0u);
  EXPECT_EQ(summary->report.unmatched_deallocations, 0u);
  EXPECT_EQ(summary->report.replaced_blocks, 0u);
  EXPECT_EQ(summary->report.lost_records, 0u);
  EXPECT_TRUE(summary->report.damage.empty());
  ASSERT_EQ(summary->devices.size(), trace.devices.size());
  for (std::size_t i = 0; i < summary->devices.size(); ++i) {
    const DeviceRow& device = summary->devices[i];
    const testing::RandomTrace::Device& expected = trace.devices.at(device.name);
    EXPECT_EQ(device.peak_allocated_bytes, expected.peak) << device.name;
    EXPECT_EQ(device.peak_reserved_bytes, expected.reserved) << device.name;
    EXPECT_EQ(device.live_bytes_at_end, expected.end) << device.name;
    std::uint64_t at_peak = 0;
    for (const SummaryRow& row : summary->rows) at_peak += row.by_device[i].bytes_at_peak;
    EXPECT_EQ(at_peak, expected.peak) << device.name;
  }
}

TEST(RandomTraces, AddUp) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    std::mt19937_64 random(seed);
    const int before = seed % 3 == 0 ? 0 : static_cast<int>(random() % 100);
    const unsigned untraced = seed % 2 == 0 ? 0 : static_cast<unsigned>(random() % 50);
    SCOPED_TRACE(seed);
    Check(testing::MakeRandomTrace(random, 120 + static_cast<int>(random() % 300), before, untraced),
          seed % 4 == 0 ? GroupBy::kModule : GroupBy::kOperator);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace memoir
