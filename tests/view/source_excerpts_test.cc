// Which files' text a report contains. tests/browser/test_source.py tests the text itself.
#include "tools/view/report/source_excerpts.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/captures/capture_builder.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::TemporaryFolder;

class SourceExcerptsTest : public ::testing::Test {
 protected:
  SourceExcerptsTest() {
    testing::ProcessOptions options;
    options.start_realtime_ns = 1'700'000'000'000'000'000;
    ProcessBuilder(options).Allocate(0x10, 64).WriteTo(CapturePath());
  }
  std::string CapturePath() const { return (std::filesystem::path(folder_.path()) / "capture").string(); }
  Capture Opened() const { return *Capture::Open(CapturePath()); }
  std::string Write(const std::string& name) const {
    const std::filesystem::path path = std::filesystem::path(folder_.path()) / name;
    std::ofstream(path) << "first\nsecond\n";
    std::filesystem::last_write_time(path, std::filesystem::file_time_type() - std::chrono::hours(24 * 365 * 200));
    return path.string();
  }
  static ReportContent Holding(const std::string& file) {
    ReportContent report;
    Summary& summary = report.summaries.emplace_back();
    summary.by = GroupBy::kLine;
    SummaryRow& row = summary.rows.emplace_back();
    row.source = {.file = file, .function = "main", .line = 2};
    row.total.bytes_at_peak = 64;
    return report;
  }
  const TemporaryFolder folder_;
};

TEST_F(SourceExcerptsTest, OnlyOfTheHostThatRecorded) {
  const Capture capture = Opened();
  const ReportContent report = Holding(Write("train.py"));
  const std::string host = capture.processes()[0].info.host();
  const Json here = SourceExcerpts(capture, report, host);
  ASSERT_EQ(here["files"].size(), 1u) << here;
  EXPECT_EQ(here["files"][0]["lines"].dump(), R"([[1,"first"],[2,"second"]])");
  const Json elsewhere = SourceExcerpts(capture, report, host + "x");
  EXPECT_TRUE(elsewhere["files"].empty());
  EXPECT_THAT(elsewhere["missing"].dump(), ::testing::HasSubstr("it was recorded on the host " + host));
}

TEST_F(SourceExcerptsTest, OnlyOfPython) {
  const Capture capture = Opened();
  const std::string host = capture.processes()[0].info.host();
  EXPECT_TRUE(SourceExcerpts(capture, Holding(Write("id_rsa")), host)["files"].empty());
  const std::filesystem::path endless = std::filesystem::path(folder_.path()) / "zero.py";
  std::filesystem::create_symlink("/dev/zero", endless);
  EXPECT_TRUE(SourceExcerpts(capture, Holding(endless.string()), host)["files"].empty());
}

}  // namespace
}  // namespace memoir
