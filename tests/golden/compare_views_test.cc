// memoir diff of the sample captures: every pair by every grouping adds up, and what some of them look like.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/captures/capture_builder.h"
#include "tests/golden/expect_golden.h"
#include "tests/golden/sample_captures.h"
#include "tools/analyze/compare/compare_captures.h"
#include "tools/analyze/compare/comparison.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/summary/summary.h"
#include "tools/view/compare/compare_json.h"
#include "tools/view/compare/compare_text.h"
#include "tools/view/compare/headline.h"

namespace memoir {
namespace {

class CompareViews : public ::testing::Test {
 protected:
  const Capture& Open(const std::string& name) {
    std::unique_ptr<Capture>& capture = captures_[name];
    if (capture != nullptr) return *capture;
    testing::WriteSample(name, folder_ / name);
    auto opened = Capture::Open(folder_ / name);
    EXPECT_TRUE(opened.ok()) << opened.status();
    capture = std::make_unique<Capture>(*std::move(opened));
    return *capture;
  }
  Comparison Compare(const std::string& a, const std::string& b, std::optional<GroupBy> by = std::nullopt) {
    CompareOptions options;
    options.by = by;
    auto comparison = CompareCaptures(Open(a), Open(b), options);
    EXPECT_TRUE(comparison.ok()) << comparison.status();
    return *std::move(comparison);
  }
  std::string WithoutFolder(const std::string& text) const {
    return testing::WithoutFolder(text, folder_.path() + "/", "");
  }
  testing::TemporaryFolder folder_;
  std::map<std::string, std::unique_ptr<Capture>> captures_;
};

void ExpectClosed(const Comparison& comparison, const std::string& what) {
  for (const ComparedDevice& device : comparison.devices) {
    if (!device.has_both()) {
      EXPECT_TRUE(device.rows.empty()) << what;
      continue;
    }
    std::int64_t difference = 0;
    Amount a, b;
    for (const ComparedRow& row : device.rows) {
      difference += row.difference();
      a.bytes += row.a.bytes;
      b.bytes += row.b.bytes;
      b.blocks += row.b.blocks;
    }
    EXPECT_EQ(difference, device.peak_difference()) << what << " " << device.name;
    EXPECT_EQ(device.difference(), device.peak_difference()) << what << " " << device.name;
    EXPECT_EQ(a.bytes, device.a().device.peak_allocated_bytes) << what << " " << device.name;
    EXPECT_EQ(b.bytes, device.b().device.peak_allocated_bytes) << what << " " << device.name;
    EXPECT_EQ(b.blocks, device.b().held.blocks) << what << " " << device.name;
    if (device.b().device.peak_is_evicted) continue;
    EXPECT_EQ(b.blocks, device.b().device.peak_blocks) << what << " " << device.name;
  }
}

TEST_F(CompareViews, RowsOfEachPairAddUpByEachGrouping) {
  for (const std::string& a : testing::SampleNames()) {
    for (const std::string& b : testing::SampleNames()) {
      for (const GroupingFacts& grouping : kGroupings)
        ExpectClosed(Compare(a, b, grouping.by), a + " " + b + " by " + std::string(grouping.word));
    }
  }
}

TEST_F(CompareViews, ACaptureDiffersFromItselfByNothing) {
  for (const std::string& name : testing::SampleNames()) {
    for (const GroupingFacts& grouping : kGroupings) {
      const Comparison comparison = Compare(name, name, grouping.by);
      EXPECT_TRUE(comparison.unlike.empty()) << name;
      for (const ComparedDevice& device : comparison.devices) {
        EXPECT_TRUE(device.has_both() && device.is_same()) << name << " by " << grouping.word;
        EXPECT_EQ(device.cause.bytes, 0) << name;
      }
    }
  }
}

// The rows equal memoir show at the peak, for each grouping.
TEST_F(CompareViews, RowsAreThoseOfTheSummary) {
  for (const std::string& name : testing::SampleNames()) {
    for (const GroupingFacts& grouping : kGroupings) {
      SummaryOptions options;
      options.by = grouping.by;
      options.checkpointing = false;
      const auto summary = AnalyzeSummary(Open(name), options);
      ASSERT_TRUE(summary.ok()) << summary.status();
      const Comparison with_another = Compare("one_operator", name, grouping.by);
      const Comparison with_itself = Compare(name, name, grouping.by);
      std::vector<ComparedDevice> devices = with_another.devices;  // both contain the host's devices
      std::ranges::copy(with_itself.devices, std::back_inserter(devices));
      for (const ComparedDevice& device : devices) {
        if (!device.has_both() || device.b().device.peak_is_evicted) continue;
        std::map<std::string, std::uint64_t> wanted, found;
        for (const ComparedRow& row : device.rows) {
          if (row.b.bytes > 0) found[row.name] += row.b.bytes;
        }
        for (std::size_t i = 0; i < summary->devices.size(); ++i) {
          const DeviceRow& one = summary->devices[i];
          if (one.name != device.name || one.process != device.b().device.process) continue;
          for (const SummaryRow& row : summary->rows) {
            if (i < row.by_device.size() && row.by_device[i].bytes_at_peak > 0)
              wanted[row.name] += row.by_device[i].bytes_at_peak;
          }
        }
        EXPECT_EQ(found, wanted) << name << " " << device.name << " by " << grouping.word;
      }
    }
  }
}

TEST_F(CompareViews, TextAndJson) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"training", "modules"}, {"ranks", "job"},      {"folded", "folded_peak"},    {"training", "cuda"},
      {"cuda", "driver"},      {"trained", "losses"}, {"one_operator", "odd_names"}};
  for (const auto& [a, b] : pairs) {
    const Comparison comparison = Compare(a, b);
    const CompareTextOptions options = {.top = 4, .at = "the peak", .chosen = "", .more = ""};
    const std::string text = RenderComparison(Open(a), Open(b), comparison, options, {.width = 80});
    testing::ExpectGolden("diff_" + a + "_" + b + ".txt", WithoutFolder(text));
  }
  const Comparison comparison = Compare("cuda", "driver", GroupBy::kCategoryModule);
  const Json json = CompareJson(Open("cuda"), Open("driver"), comparison, "peak", Headline(comparison, "the peak"));
  testing::ExpectGolden("diff_cuda_driver.json", WithoutFolder(ToText(json)));
}

// Many lines may grow by one factor because of a new module. Then the factor is no hint at another batch.
TEST_F(CompareViews, ACommonFactorIsPrintedWithoutAKnownCause) {
  Comparison comparison = Compare("training", "modules");
  const CompareTextOptions options = {.top = 4, .at = "the peak", .chosen = "", .more = ""};
  const auto text = [&] {
    return RenderComparison(Open("training"), Open("modules"), comparison, options, {.width = 200});
  };
  ComparedDevice& device = comparison.devices.front();
  device.causes.clear();
  device.factor = {.factor = 2, .rows = 3, .bytes = 100};
  EXPECT_NE(text().find("3 lines, +100 B together"), std::string::npos);
  device.causes.push_back({.kind = ProgramChange::Kind::kNewModules, .where = "head", .count = 1});
  EXPECT_EQ(text().find("3 lines, +100 B together"), std::string::npos);
}

}  // namespace
}  // namespace memoir
