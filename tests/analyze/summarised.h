// The summary of a capture that a test has built, and its rows.
#ifndef TESTS_ANALYZE_SUMMARISED_H_
#define TESTS_ANALYZE_SUMMARISED_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"

namespace memoir::testing {

inline Summary Summarise(ProcessBuilder& process, const SummaryOptions& options = {}) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, options);
  EXPECT_TRUE(summary.ok()) << summary.status();
  return *std::move(summary);
}

// A missing row fails the test.
inline const SummaryRow& RowNamed(const Summary& summary, const std::string& name) {
  for (const SummaryRow& row : summary.rows) {
    if (row.name == name) return row;
  }
  static const SummaryRow none;
  ADD_FAILURE() << "no row " << name;
  return none;
}

// By the names of the rows.
inline std::map<std::string, std::uint64_t> BytesAtPeak(const Summary& summary) {
  std::map<std::string, std::uint64_t> bytes;
  for (const SummaryRow& row : summary.rows) bytes[row.name] = row.total.bytes_at_peak;
  return bytes;
}

}  // namespace memoir::testing

#endif  // TESTS_ANALYZE_SUMMARISED_H_
