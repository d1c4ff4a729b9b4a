// Ranks that work for the others for a moment are healthy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/analyze/summarized_rank.h"

namespace memoir {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Returns the odd ranks of four ranks with nine steps, of which rank 0 has `peak` in the steps `more`.
std::vector<OddRank> OddOf(const std::map<std::string, std::uint64_t>& peak, const std::set<std::uint64_t>& more) {
  const std::map<std::string, std::uint64_t> usual = {{"activation", 60 * kMiB}, {"temporary", 40 * kMiB}};
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(WithPeak(rank, rank == 0 ? peak : usual));
    v1::DeviceSummary& device = *recordings.back().mutable_devices(0);
    device.set_window_steps(1);
    for (std::uint64_t step = 0; step < 9; ++step) {
      v1::StepWindow& window = *device.add_windows();
      window.set_first_step(step);
      window.set_allocated(rank == 0 && more.contains(step) ? device.peak_allocated_bytes() : 100 * kMiB);
    }
  }
  return Found(recordings).odd;
}

TEST(WorkingForOthersTest, MoreBeforeTheFirstStepIsHealthy) {
  const std::map<std::string, std::uint64_t> loading = {{"parameter", 150 * kMiB}};
  EXPECT_THAT(OddOf(loading, {0}), IsEmpty());
  EXPECT_THAT(OddOf(loading, {0, 4}), SizeIs(1));
}

TEST(WorkingForOthersTest, MoreTemporariesInAFewStepsAreHealthy) {
  const std::map<std::string, std::uint64_t> saving = {{"activation", 30 * kMiB}, {"temporary", 120 * kMiB}};
  EXPECT_THAT(OddOf(saving, {4, 8}), IsEmpty());
  EXPECT_THAT(OddOf(saving, {2, 4, 8}), SizeIs(1));
  EXPECT_THAT(OddOf({{"activation", 110 * kMiB}, {"temporary", 40 * kMiB}}, {4, 8}), SizeIs(1));
  EXPECT_THAT(OddOf({{"activation", 50 * kMiB}, {"parameter (second copy)", 70 * kMiB}}, {4, 8}), IsEmpty());
}

}  // namespace
}  // namespace memoir
