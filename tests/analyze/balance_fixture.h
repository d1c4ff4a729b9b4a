// A recording of one device, balanced at a moment.
#ifndef TESTS_ANALYZE_BALANCE_FIXTURE_H_
#define TESTS_ANALYZE_BALANCE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/accounting/balance.h"

namespace memoir::testing {

inline constexpr std::uint64_t kMiB = 1 << 20;
inline constexpr std::uint64_t kTotal = 80 * 1024 * kMiB;

inline std::vector<std::pair<std::string, std::uint64_t>> Rows(const DeviceBalance& device) {
  std::vector<std::pair<std::string, std::uint64_t>> rows;
  for (const BalanceRow& row : device.rows) rows.emplace_back(row.name, row.bytes / kMiB);
  return rows;
}

class BalanceTest : public ::testing::Test {
 protected:
  absl::StatusOr<Balance> Analyze(const std::string& at = "peak", Selection selection = {}) {
    if (!written_) process_.WriteTo(folder_.path());
    written_ = true;
    const absl::StatusOr<Capture> capture = Capture::Open(folder_.path());
    EXPECT_TRUE(capture.ok()) << capture.status();
    InstantChoice moment;
    moment.kind = InstantChoice::Kind::kStart;
    return AnalyzeBalance(*capture, selection, at == "start" ? moment : *ParseInstantChoice(at));
  }
  DeviceBalance Only(const std::string& at = "peak") {
    const absl::StatusOr<Balance> balance = Analyze(at);
    EXPECT_TRUE(balance.ok()) << balance.status();
    EXPECT_TRUE(balance->report.damage.empty());
    EXPECT_EQ(balance->devices.size(), 1u);
    return balance->devices.at(0);
  }
  // A reading of so many MiB used.
  void Read(v1::ReadingCause cause, std::uint64_t used, std::uint64_t others = 0) {
    process_.ReadDevice(
        cuda_, cause, {.free = kTotal - used * kMiB, .total = kTotal, .process = used * kMiB, .others = others * kMiB});
  }

  TemporaryFolder folder_;
  ProcessBuilder process_;
  std::uint32_t cuda_ = process_.AddDevice("cuda", 0, "NVIDIA H100");
  bool written_ = false;
};

}  // namespace memoir::testing

#endif  // TESTS_ANALYZE_BALANCE_FIXTURE_H_
