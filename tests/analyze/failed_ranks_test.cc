// Ranks that a comparison with their role alone hides: killed and failed ranks, and ranks among random lengths.
#include "tools/analyze/ranks/failed_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/summarized_rank.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// torchrun kills all other ranks after one has died. Their figures are lower by chance.
TEST(FailedRanksTest, RanksThatWereAllKilledAreOneFinding) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, (rank == 2 ? 60 : 100) * kMiB, {"stage" + std::to_string(rank / 3)}));
    recordings.back().set_steps(6);
    recordings.back().set_duration_ns(rank == 1 ? 4'000'000'000 : 4'250'000'000);
    recordings.back().mutable_end()->set_reason(v1::End::MERGED);
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(1, 0, 2, 3));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kKilled);
  EXPECT_EQ(found.odd[0].value, 6u);
  ASSERT_TRUE(found.odd[0].first.has_value());
  EXPECT_EQ(found.odd[0].first->rank, 1u);
  EXPECT_EQ(found.odd[0].first->before_ns, 250'000'000u);
}

// Rank 1 is killed while it works. Rank 0 loses its connection and fails 40 ms later. The launcher kills rank 2, which
// has waited for rank 1, 60 ms later.
TEST(FailedRanksTest, TheRankThatEndedFirstComesBeforeItsConsequences) {
  constexpr std::uint64_t kMs = 1'000'000;
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    recordings.push_back(Recording(rank, 100 * kMiB, {"a"}));
    recordings.back().set_steps(6);
    recordings.back().set_duration_ns(4000 * kMs);
    recordings.back().mutable_end()->set_reason(v1::End::MERGED);
  }
  recordings[0].mutable_end()->set_reason(v1::End::EXITED);
  recordings[0].mutable_end()->set_message("RuntimeError: Connection reset by peer");
  recordings[0].set_last_clock_ns(4040 * kMs);
  recordings[1].set_last_clock_ns(4002 * kMs);
  recordings[2].set_last_clock_ns(4060 * kMs);
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(2));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(1, 2));
  ASSERT_TRUE(found.odd[0].first.has_value());
  EXPECT_EQ(found.odd[0].first->rank, 1u);
  EXPECT_EQ(found.odd[0].first->before_ns, 38 * kMs);
  EXPECT_THAT(found.odd[1].ranks, ElementsAre(0));
  EXPECT_FALSE(found.odd[1].first.has_value());
  // If nothing shows that a rank was alive after its last event, it is unknown which rank ended first.
  for (v1::RecordingSummary& recording : recordings) recording.clear_last_clock_ns();
  for (const OddRank& odd : Found(recordings).odd) EXPECT_FALSE(odd.first.has_value());
}

TEST(FailedRanksTest, TheRankThatDiedInAnEarlierStepComesFirst) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, 100 * kMiB, {"a"}));
    recordings.back().set_steps(rank == 2 ? 6 : 10);
    recordings.back().mutable_end()->set_reason(v1::End::MERGED);
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(2));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(2));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kSteps);
  EXPECT_THAT(found.odd[1].ranks, ElementsAre(0, 1, 3));
}

TEST(FailedRanksTest, TheExceptionOfOneRankComesBeforeThoseThatFollow) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, 100 * kMiB, {rank == 1 ? "a" : "b"}));
    v1::End& end = *recordings.back().mutable_end();
    end.set_reason(v1::End::EXITED);
    end.set_message(rank == 1 ? "AttributeError: no attribute 'x'"
                              : "RuntimeError: closed by peer " + std::to_string(rank));
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(2));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(1));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kFailed);
  EXPECT_THAT(found.odd[1].ranks, ElementsAre(0, 2, 3));
}

// Rank 2 raises before it has reserved as much as the others.
TEST(FailedRanksTest, LowerFiguresOfAFailedRankAreNoFinding) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, 100 * kMiB, {"a"}));
    recordings.back().mutable_devices(0)->set_peak_reserved_bytes((rank == 2 ? 110 : 200) * kMiB);
    recordings.back().mutable_end()->set_reason(rank == 2 ? v1::End::EXITED : v1::End::MERGED);
  }
  recordings[2].mutable_end()->set_message("OSError: clip.flac is truncated");
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(2));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(2));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kFailed);
  EXPECT_THAT(found.odd[1].ranks, ElementsAre(0, 1, 3));
}

// The clocks of hosts may differ, so a short time between ranks of two hosts does not show which one ended first.
TEST(FailedRanksTest, RanksOfTwoHostsNeedMoreTimeBetweenTheirEnds) {
  constexpr std::uint64_t kMs = 1'000'000;
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 7; rank < 9; ++rank) {  // the last rank of node0, and the first of node1
    recordings.push_back(Recording(rank, 100 * kMiB, {"a"}));
    recordings.back().mutable_end()->set_reason(v1::End::EXITED);
    recordings.back().mutable_end()->set_message("RuntimeError: " + std::to_string(rank));
    recordings.back().set_duration_ns((rank == 7 ? 4000 : 4300) * kMs);
  }
  for (const OddRank& odd : Found(recordings).odd) EXPECT_FALSE(odd.first.has_value());
  recordings[1].set_duration_ns(4600 * kMs);
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  ASSERT_TRUE(found.odd[0].first.has_value());
  EXPECT_EQ(found.odd[0].first->rank, 0u);
}

// Rank 0 of a tensor-parallel group scatters the weights to its peers, for which NCCL allocates.
TEST(FailedRanksTest, MemoryOfNcclAccusesNobody) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, 100 * kMiB, {"a"}));
    v1::DeviceSummary& device = *recordings.back().mutable_devices(0);
    device.set_outside_bytes((rank == 0 ? 2500 : 1600) * kMiB);
    device.set_nccl_bytes((rank == 0 ? 1900 : 1000) * kMiB);
  }
  EXPECT_THAT(Found(recordings).odd, IsEmpty());
  recordings[2].mutable_devices(0)->set_outside_bytes(1700 * kMiB);
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(2));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kOutside);
}

// Random lengths hide 16 MiB in the peaks, but not in what is live between the steps.
TEST(FailedRanksTest, ACopyIsFoundBetweenStepsOfRandomLengths) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, 400 * kMiB, {"a"}));
    v1::DeviceSummary& device = *recordings.back().mutable_devices(0);
    device.set_window_steps(1);
    for (std::uint64_t step = 0; step < 10; ++step) {
      v1::StepWindow& window = *device.add_windows();
      window.set_first_step(step);
      window.set_allocated((350 + (rank * 7 + step * 3) % 11 * 5) * kMiB);
      if (step > 0) window.set_at_begin((rank == 3 ? 168 : 152) * kMiB + (rank + step) % 3 * (kMiB / 2));
    }
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(3));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kBetween);
}

TEST(FailedRanksTest, FewerStepsAreAddedToAnotherFinding) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, (rank == 1 ? 140 : 100) * kMiB, {"a"}));
    recordings.back().set_steps(rank == 1 ? 4 : 10);
    recordings.back().mutable_end()->set_reason(v1::End::EXITED);
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kAllocated);
  EXPECT_EQ(found.odd[0].usual_steps, 10u);
}

// The data of rank 2 end a batch earlier. The others lose the connection to it in the next step.
TEST(FailedRanksTest, ARankThatLeftIsTheFirstFinding) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    recordings.push_back(Recording(rank, 100 * kMiB, {"a"}));
    recordings.back().set_steps(6);
    recordings.back().mutable_end()->set_reason(rank == 2 ? v1::End::STOPPED : v1::End::EXITED);
    if (rank != 2) recordings.back().mutable_end()->set_message("RuntimeError: Connection closed by peer");
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(2));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kLeft);
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(2));
  EXPECT_EQ(found.odd[1].figure, OddFigure::kFailed);
  recordings[0].mutable_end()->set_reason(v1::End::STOPPED);
  recordings[0].mutable_end()->clear_message();
  EXPECT_EQ(Found(recordings).odd[0].figure, OddFigure::kFailed);  // one of three failed
}

}  // namespace
}  // namespace memoir
