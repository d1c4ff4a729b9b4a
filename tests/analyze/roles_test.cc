// Which ranks of a job should be alike: stages of a pipeline and their replicas.
#include "tools/analyze/ranks/roles/roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/analyze/summarized_rank.h"
#include "tools/analyze/ranks/odd_ranks.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Pipeline stages of two ranks each. Later stages have fewer microbatches in flight.
TEST(RolesTest, StagesThatDifferInNumbersAreNoOddRanks) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 8; ++rank)
    recordings.push_back(Recording(rank, (400 - 50 * (rank / 2)) * kMiB, {"Block layers." + std::to_string(rank / 2)}));
  const OddRanks found = Found(recordings);
  EXPECT_THAT(found.odd, IsEmpty());
  ASSERT_THAT(found.roles, SizeIs(1));
  EXPECT_TRUE(found.roles[0].by_kinds);
  EXPECT_EQ(found.figures[0].least, 250 * kMiB);
  EXPECT_EQ(found.figures[0].most, 400 * kMiB);
}

// Two stages of three replicas. One replica of the first stage has one more layer.
TEST(RolesTest, ABlockMoreInOneReplicaOfAStage) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    const bool is_last = rank % 2 == 1, has_more = rank == 2;
    std::vector<std::string> modules = {is_last ? "Linear back" : "Embedding front", "Block blocks.0"};
    if (has_more) modules.emplace_back("Block blocks.1");
    recordings.push_back(Recording(rank, (has_more ? 20 : 16) * kMiB, modules));
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(2));
}

// Rank 0 trains on what the other ranks collect.
TEST(RolesTest, ALearnerIsNoOddActor) {
  for (const bool trains : {true, false}) {
    std::vector<v1::RecordingSummary> recordings;
    for (std::uint32_t rank = 0; rank < 5; ++rank) {
      recordings.push_back(Recording(rank, (rank == 0 ? 450 : 100) * kMiB, {"policy"}));
      recordings.back().set_step_kind(trains && rank == 0 ? "optimizer_step" : "module_call");
      recordings.back().set_steps(50);
      recordings.back().mutable_end()->set_reason(v1::End::EXITED);
    }
    EXPECT_THAT(Found(recordings).odd, SizeIs(trains ? 0 : 1));
  }
}

TEST(RolesTest, OtherModulesAreAnotherRole) {
  std::vector<v1::RecordingSummary> recordings = {Recording(0, 500 * kMiB, {"a", "embedding"})};
  for (std::uint32_t rank = 1; rank < 6; ++rank) recordings.push_back(Recording(rank, 100 * kMiB, {"a"}));
  const OddRanks found = Found(recordings);
  EXPECT_THAT(found.odd, IsEmpty());
  EXPECT_THAT(found.roles, SizeIs(2));
}

// Three stages of two replicas. Rank 3 has 4 MiB more than its peer.
std::vector<v1::RecordingSummary> ThreePairs(bool has_block_more) {
  const std::vector<std::string> own = {"Embedding front", "Norm middle", "Linear back"};
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    const bool has_more = rank == 3;
    std::vector<std::string> modules = {own[rank / 2], "Block blocks.0"};
    if (has_more && has_block_more) modules.emplace_back("Block blocks.1");
    recordings.push_back(Recording(rank, (has_more ? 20 : 16) * kMiB, modules));
    v1::DeviceSummary& device = *recordings.back().mutable_devices(0);
    device.set_window_steps(1);
    for (std::uint64_t step = 0; step < 5; ++step) {
      v1::StepWindow& window = *device.add_windows();
      window.set_first_step(step);
      window.set_allocated((has_more ? 20 : 16) * kMiB);
    }
  }
  return recordings;
}

TEST(RolesTest, OneOfTwoReplicasIsOddIfAllOthersAreEqualPairs) {
  for (const bool has_block_more : {true, false}) {
    const OddRanks found = Found(ThreePairs(has_block_more));
    ASSERT_THAT(found.odd, SizeIs(1));
    EXPECT_THAT(found.odd[0].ranks, ElementsAre(3));
  }
}

// After the last step of the optimizer both have only their parameters.
TEST(RolesTest, AnEqualLastWindowHidesNoOddReplica) {
  std::vector<v1::RecordingSummary> recordings = ThreePairs(false);
  for (const int rank : {2, 3}) recordings[rank].mutable_devices(0)->mutable_windows(4)->set_allocated(8 * kMiB);
  ASSERT_THAT(Found(recordings).odd, SizeIs(1));
  EXPECT_THAT(Found(recordings).odd[0].ranks, ElementsAre(3));
}

TEST(RolesTest, OfTwoReplicasThatDifferInSomeStepsNoneIsOdd) {
  std::vector<v1::RecordingSummary> recordings = ThreePairs(false);
  recordings[2].mutable_devices(0)->mutable_windows(2)->set_allocated(25 * kMiB);
  EXPECT_THAT(Found(recordings).odd, IsEmpty());
}

}  // namespace
}  // namespace memoir
