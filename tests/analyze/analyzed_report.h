// Helpers that the tests of reports share.
#ifndef TESTS_ANALYZE_ANALYZED_REPORT_H_
#define TESTS_ANALYZE_ANALYZED_REPORT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tools/analyze/report/report_analysis.h"
#include "tools/analyze/report/report_content.h"

namespace memoir::testing {

inline ReportContent Analyzed(const std::string& folder, const ReportOptions& options) {
  const absl::StatusOr<Capture> capture = Capture::Open(folder);
  EXPECT_TRUE(capture.ok()) << capture.status();
  absl::StatusOr<ReportContent> report = AnalyzeReport(*capture, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return *std::move(report);
}

inline std::uint64_t LiveBytes(const ReportDevice& device, std::uint64_t ns) {
  std::uint64_t bytes = 0;
  for (const ReportBlock& block : device.blocks) {
    if (block.begin_ns <= ns && block.end_ns > ns) bytes += block.bytes;
  }
  return bytes;
}

}  // namespace memoir::testing

#endif  // TESTS_ANALYZE_ANALYZED_REPORT_H_
