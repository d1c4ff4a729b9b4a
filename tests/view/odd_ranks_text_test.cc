// The sentences of `memoir check ranks` about ranks that ended unlike their peers.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/analyze/summarized_rank.h"
#include "tools/view/ranks/odd_ranks_view.h"

namespace memoir {
namespace {

std::string HeadlineOf(const std::vector<v1::RecordingSummary>& recordings) {
  return OddRanksJson(LoadedJob(), JobOverview(), Found(recordings))["headline"];
}

std::vector<v1::RecordingSummary> FourRanks() {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, 100 * kMiB, {"a"}));
    recordings.back().set_steps(6);
    recordings.back().mutable_end()->set_reason(v1::End::STOPPED);
  }
  return recordings;
}

TEST(OddRanksText, AKilledRank) {
  std::vector<v1::RecordingSummary> recordings = FourRanks();
  recordings[2].mutable_end()->set_reason(v1::End::MERGED);
  const std::string headline = HeadlineOf(recordings);
  EXPECT_NE(headline.find("was killed"), std::string::npos) << headline;
  EXPECT_EQ(headline.find("without an error"), std::string::npos) << headline;
}

TEST(OddRanksText, ARankThatLeft) {
  std::vector<v1::RecordingSummary> recordings = FourRanks();
  for (const std::size_t rank : {0, 1, 3}) {
    recordings[rank].mutable_end()->set_reason(v1::End::EXITED);
    recordings[rank].mutable_end()->set_message("RuntimeError: Connection closed by peer");
  }
  EXPECT_EQ(HeadlineOf(recordings), "rank 2 ended without an error after 6 steps; most other ranks failed");
}

}  // namespace
}  // namespace memoir
