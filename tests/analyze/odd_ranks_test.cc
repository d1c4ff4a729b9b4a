// Roles and odd ranks of summaries that these tests make, for cases that the recordings of
// tests/simulated/test_odd_ranks.py do not cover.
#include "tools/analyze/ranks/odd_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/analyze/summarized_rank.h"
#include "tools/analyze/ranks/roles/coordinates.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(OddRanksTest, NamesTheOneThatIsOutOfLine) {
  const OddRanks found = Found({Recording(0, 100 * kMiB, {"a"}), Recording(1, 100 * kMiB, {"a"}),
                                Recording(2, 140 * kMiB, {"a"}), Recording(3, 101 * kMiB, {"a"})});
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(2));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kAllocated);
  EXPECT_EQ(found.odd[0].difference(), 40 * kMiB);
}

TEST(OddRanksTest, TwoRanksAreNotJudged) {
  const OddRanks found = Found({Recording(0, 100 * kMiB, {"a"}), Recording(1, 900 * kMiB, {"a"})});
  EXPECT_THAT(found.odd, IsEmpty());
  ASSERT_THAT(found.roles, SizeIs(1));
  EXPECT_FALSE(found.roles[0].is_judged());
}

TEST(OddRanksTest, SpreadDataIsHealthy) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 64; ++rank)
    recordings.push_back(Recording(rank, (1000 + 37 * rank % 200) * kMiB, {"a"}));
  EXPECT_THAT(Found(recordings).odd, IsEmpty());
}

// Three ranks of a role of eight allocate more from step 6 on.
TEST(OddRanksTest, SeveralOfARoleAreNamed) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const bool is_odd = rank % 3 == 1;
    recordings.push_back(Recording(rank, (is_odd ? 158 : 135) * kMiB, {"a"}));
    v1::DeviceSummary& device = *recordings.back().mutable_devices(0);
    device.set_window_steps(1);
    for (std::uint64_t step = 0; step < 10; ++step) {
      v1::StepWindow& window = *device.add_windows();
      window.set_first_step(step);
      window.set_allocated((is_odd && step >= 6 ? 158 : 135) * kMiB);
    }
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(3));
  for (const OddRank& odd : found.odd) EXPECT_EQ(odd.since_step, 6u);
}

// Sequences are cut at a maximum length. All ranks but rank 3 have received a sequence of this length.
TEST(OddRanksTest, AMaximumThatOneRankHasNotMetIsHealthy) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    recordings.push_back(Recording(rank, (rank == 3 ? 1450 : 1500) * kMiB, {"a"}));
    v1::DeviceSummary& device = *recordings.back().mutable_devices(0);
    device.set_peak_reserved_bytes((rank == 3 ? 1900 : 1600) * kMiB);
    device.set_window_steps(1);
    for (std::uint64_t step = 0; step < 10; ++step) {
      v1::StepWindow& window = *device.add_windows();
      window.set_first_step(step);
      window.set_allocated((1400 + (rank * 7 + step * 3) % 11 * 10) * kMiB);
    }
  }
  EXPECT_THAT(Found(recordings).odd, IsEmpty());
}

TEST(OddRanksTest, OfARankTheLastRestartCounts) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) recordings.push_back(Recording(rank, 100 * kMiB, {"a"}));
  v1::RecordingSummary first = Recording(1, 900 * kMiB, {"a"});
  recordings[1].mutable_process()->set_restart(1);
  recordings.insert(recordings.begin(), first);
  recordings.push_back(first);
  const OddRanks found = Found(recordings);
  EXPECT_THAT(found.odd, IsEmpty());
  EXPECT_THAT(found.ranks, SizeIs(4));
}

// Two rows differ as much. Which is shown must not depend on the order in which the summaries were read.
TEST(OddRanksTest, OfEqualRowsTheFirstNameIsShown) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, (rank == 1 ? 140 : 100) * kMiB, {"a"}));
    v1::Composition& composition = *recordings.back().mutable_devices(0)->add_at_peak();
    composition.set_by("operator");
    for (const char* name : {"aten::linear", "aten::gelu"}) {
      v1::HeldRow& row = *composition.add_rows();
      row.set_name(name);
      row.set_bytes((rank == 1 ? 60 : 40) * kMiB);
    }
  }
  for (int order = 0; order < 2; ++order) {
    const OddRanks found = Found(recordings);
    ASSERT_THAT(found.odd, SizeIs(1));
    ASSERT_THAT(found.odd[0].rows, SizeIs(1));
    EXPECT_EQ(found.odd[0].rows[0].name, "aten::gelu");
    for (v1::RecordingSummary& recording : recordings) {
      auto& rows = *recording.mutable_devices(0)->mutable_at_peak(0)->mutable_rows();
      rows.SwapElements(0, 1);
    }
  }
}

TEST(OddRanksTest, MemoryThatStaysFromStepToStepIsNamed) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, (rank == 2 ? 115 : 100) * kMiB, {"a"}));
    v1::DeviceSummary& device = *recordings.back().mutable_devices(0);
    device.set_window_steps(1);
    for (std::uint64_t step = 0; step < 6; ++step) {
      v1::StepWindow& window = *device.add_windows();
      window.set_first_step(step);
      window.set_allocated((rank == 2 && step > 0 ? 115 : 100) * kMiB);
      window.set_at_begin((rank == 2 && step > 0 ? 36 : 20) * kMiB);
    }
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kAllocated);
  EXPECT_EQ(found.odd[0].more_between_steps, 16 * kMiB);
}

TEST(OddRanksTest, FewerStepsOfOneThatHasEnded) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    recordings.push_back(Recording(rank, 100 * kMiB, {"a"}));
    recordings.back().set_steps(rank < 3 ? 100 : 40);
  }
  recordings[4].mutable_end()->set_reason(v1::End::EXITED);
  const OddRanks found = Found(recordings);  // rank 3 still records
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kSteps);
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(4));
}

// A rank under DDP with 16 MiB of buckets and 500 MiB of other blocks in each of eight steps. If `frees_late`, the
// first buckets stay live from step 2 on. From step 5 on, other blocks have `more_from_step_5` bytes more.
v1::RecordingSummary UnderDdp(std::uint32_t rank, bool frees_late, std::uint64_t more_from_step_5 = 0) {
  v1::RecordingSummary recording = Recording(rank, 0, {"a"});
  v1::DeviceSummary& device = *recording.mutable_devices(0);
  device.set_window_steps(1);
  std::uint64_t peak = 0;
  for (std::uint64_t step = 0; step < 8; ++step) {
    const std::uint64_t own = 500 * kMiB + (step >= 5 ? more_from_step_5 : 0);
    const std::uint64_t buckets = (step >= 2 && frees_late ? 32 : 16) * kMiB;
    v1::StepWindow& window = *device.add_windows();
    window.set_first_step(step);
    window.set_allocated(own + buckets);
    window.set_buckets(buckets);
    window.set_without_buckets(own);
    peak = std::max(peak, own + buckets);
  }
  device.set_peak_allocated_bytes(peak);
  device.set_peak_reserved_bytes(peak + 20 * kMiB);
  device.set_peak_bucket_bytes((frees_late ? 32 : 16) * kMiB);
  device.set_peak_without_buckets(500 * kMiB + more_from_step_5);
  return recording;
}

TEST(OddRanksTest, BucketsThatAnotherThreadFreesLaterAccuseNobody) {
  for (const std::uint32_t late : {1u, 2u, 3u}) {  // ranks
    std::vector<v1::RecordingSummary> recordings;
    for (std::uint32_t rank = 0; rank < 4; ++rank) recordings.push_back(UnderDdp(rank, rank < late));
    EXPECT_THAT(Found(recordings).odd, IsEmpty()) << late;
  }
}

TEST(OddRanksTest, BucketsThatAreFreedLaterHideNobody) {
  for (const std::uint32_t late : {0u, 1u, 2u}) {  // ranks
    std::vector<v1::RecordingSummary> recordings;
    for (std::uint32_t rank = 0; rank < 4; ++rank)
      recordings.push_back(UnderDdp(rank, rank < late, rank == 3 ? 24 * kMiB : 0));
    const OddRanks found = Found(recordings);
    ASSERT_THAT(found.odd, SizeIs(1)) << late;
    EXPECT_THAT(found.odd[0].ranks, ElementsAre(3));
    EXPECT_EQ(found.odd[0].figure, OddFigure::kAllocated);
    EXPECT_EQ(found.odd[0].difference(), 24 * kMiB);
    EXPECT_EQ(found.odd[0].since_step, 5u);
  }
}

TEST(OddRanksTest, LargerBucketsAreNamed) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) recordings.push_back(UnderDdp(rank, rank == 1));
  for (v1::StepWindow& window : *recordings[2].mutable_devices(0)->mutable_windows())
    window.set_buckets(window.buckets() + 8 * kMiB);
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(2));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kBuckets);
  EXPECT_EQ(found.odd[0].difference(), 8 * kMiB);
}

// Each rank's batches have other lengths, so one block more or less needs a segment more or less.
TEST(OddRanksTest, ReservedBytesMayDifferWithTheData) {
  for (const bool own_data : {true, false}) {
    std::vector<v1::RecordingSummary> recordings;
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      recordings.push_back(Recording(rank, 600 * kMiB, {"a"}));
      v1::DeviceSummary& device = *recordings.back().mutable_devices(0);
      device.set_peak_reserved_bytes((rank == 3 ? 780 : 720) * kMiB);
      device.set_window_steps(1);
      for (std::uint64_t step = 0; step < 8; ++step) {
        v1::StepWindow& window = *device.add_windows();
        window.set_first_step(step);
        window.set_allocated(598 * kMiB + (own_data ? (rank * 7 + step * 5) % 11 * 1024 : step));
      }
    }
    EXPECT_THAT(Found(recordings).odd, SizeIs(own_data ? 0 : 1));
  }
}

// Partitions of a graph: what is allocated is in line, and as many more bytes are reserved.
TEST(OddRanksTest, ReservedBytesMayDifferAsAllocatedBytesDo) {
  const auto odd = [](std::uint64_t reserved) {
    std::vector<v1::RecordingSummary> recordings;
    const std::vector<std::uint64_t> allocated = {646, 982, 895, 617, 661, 656, 733};
    for (std::uint32_t rank = 0; rank < allocated.size(); ++rank) {
      recordings.push_back(Recording(rank, allocated[rank] * kMiB, {"a"}));
      const std::vector<std::uint64_t> usual = {702, reserved, 994, 690, 722, 720, 820};
      recordings.back().mutable_devices(0)->set_peak_reserved_bytes(usual[rank] * kMiB);
    }
    return Found(recordings).odd;
  };
  EXPECT_THAT(odd(1074), IsEmpty());
  EXPECT_THAT(odd(1700), SizeIs(1));
}

// The other ranks end with a connection error in the same step.
TEST(OddRanksTest, AKilledRankIsNamed) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    recordings.push_back(Recording(rank, (rank == 2 ? 60 : 100) * kMiB, {"a"}));
    recordings.back().set_steps(9);
    recordings.back().mutable_end()->set_reason(rank == 2 ? v1::End::MERGED : v1::End::EXITED);
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(2));
  EXPECT_EQ(found.odd[0].figure, OddFigure::kKilled);
  EXPECT_EQ(found.odd[0].value, 9u);
}

// A summary is a file, and a file may hold anything.
TEST(OddRanksTest, AnyNumbersAreTaken) {
  std::vector<v1::RecordingSummary> recordings = {v1::RecordingSummary(), Recording(0, UINT64_MAX, {})};
  for (std::uint32_t rank = 1; rank < 5; ++rank) {
    recordings.push_back(Recording(rank, rank % 2 == 0 ? 0 : UINT64_MAX, {}));
    v1::DeviceSummary& device = *recordings.back().mutable_devices(0);
    device.set_window_steps(rank == 1 ? UINT64_MAX : rank);
    for (const std::uint64_t step : {std::uint64_t{0}, UINT64_MAX}) {
      v1::StepWindow& window = *device.add_windows();
      window.set_first_step(step);
      window.set_allocated(UINT64_MAX - rank);
    }
    recordings.back().add_growth();
  }
  recordings.push_back(Recording(9, 1, {}));
  recordings.back().clear_devices();
  const OddRanks found = Found(recordings);
  EXPECT_THAT(found.ranks, SizeIs(6));
  for (const OddRank& odd : found.odd) EXPECT_LT(odd.role, found.roles.size());
}

TEST(OddRanksTest, NothingOfNothing) {
  EXPECT_THAT(Found({}).odd, IsEmpty());
  EXPECT_THAT(Found({}).roles, IsEmpty());
}

v1::RecordingSummary At(v1::RecordingSummary recording,
                        const std::vector<std::tuple<std::string, std::uint32_t, std::uint32_t>>& place) {
  for (const auto& [dimension, index, size] : place) {
    v1::Coordinate& of = *recording.mutable_process()->add_coordinates();
    of.set_dimension(dimension);
    of.set_index(index);
    of.set_size(size);
  }
  return recording;
}

// Two pipeline stages of 8 ranks: 4 data-parallel times 2 tensor-parallel. `peak(pp, dp, tp)` returns a rank's peak in
// MiB.
template <class Peak>
std::vector<v1::RecordingSummary> ThreeWays(const Peak& peak, bool stages_have_own_modules = true) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    const std::uint32_t pp = rank / 8, dp = rank / 2 % 4, tp = rank % 2;
    const std::string module = stages_have_own_modules && pp == 1 ? "head" : "block";
    recordings.push_back(
        At(Recording(rank, peak(pp, dp, tp) * kMiB, {module}), {{"pp", pp, 2}, {"dp", dp, 4}, {"tp", tp, 2}}));
  }
  return recordings;
}

TEST(CoordinatesTest, NameRolesByWhatTheirMembersHaveInCommon) {
  const OddRanks found = Found(ThreeWays([](auto pp, auto, auto) { return 100 + pp * 50; }));
  ASSERT_THAT(found.roles, SizeIs(2));
  EXPECT_EQ(CommonPlaceOf(found.ranks, found.roles[0].members), "pp 0");
  EXPECT_EQ(CommonPlaceOf(found.ranks, found.roles[1].members), "pp 1");
  EXPECT_EQ(found.ranks[13].place, "pp 1, dp 2, tp 1");
  EXPECT_EQ(CommonPlaceOf(found.ranks, {13}), "pp 1, dp 2, tp 1");
  EXPECT_EQ(CommonPlaceOf(found.ranks, {0, 2, 4}), "pp 0, dp 0-2, tp 0");
}

TEST(CoordinatesTest, DimensionsOfOneRankAreLeftOut) {
  RankBook book;
  book.Add(At(Recording(0, kMiB, {"a"}), {{"dp", 0, 1}, {"tp", 0, 2}}));
  EXPECT_EQ(book.Take()[0].place, "tp 0");
}

TEST(CoordinatesTest, MoreThanARecorderWritesAreLeftOut) {
  v1::RecordingSummary recording = Recording(0, kMiB, {"a"});
  for (int i = 0; i < 10'000; ++i) recording = At(std::move(recording), {{"d" + std::to_string(i), 1, 2}});
  RankBook book;
  book.Add(recording);
  const std::vector<RankFacts> ranks = book.Take();
  EXPECT_THAT(ranks[0].coordinates, SizeIs(16));
  EXPECT_THAT(ranks[0].place, ::testing::EndsWith(", d15 1"));
}

TEST(CoordinatesTest, ARankWithoutThemLeavesTheRoleUnnamed) {
  std::vector<v1::RecordingSummary> recordings = ThreeWays([](auto, auto, auto) { return 100; }, false);
  recordings.push_back(Recording(16, 100 * kMiB, {"block"}));
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.roles, SizeIs(1));
  EXPECT_EQ(CommonPlaceOf(found.ranks, found.roles[0].members), "");
  EXPECT_THAT(found.odd, IsEmpty());
}

// Only the coordinate `ep` separates the roles. Without it, the ranks of expert 3, which allocate more, are odd.
TEST(CoordinatesTest, ExpertsThatHoldMoreAreARoleOfTheirOwn) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 16; ++rank)
    recordings.push_back(At(Recording(rank, (rank % 4 == 3 ? 180 : 100) * kMiB, {"expert"}), {{"ep", rank % 4, 4}}));
  const OddRanks found = Found(recordings);
  EXPECT_THAT(found.odd, IsEmpty());
  ASSERT_THAT(found.roles, SizeIs(4));
  EXPECT_EQ(found.roles[3].split_by, "ep");
  EXPECT_EQ(CommonPlaceOf(found.ranks, found.roles[3].members), "ep 3");
  for (v1::RecordingSummary& recording : recordings) recording.mutable_process()->clear_coordinates();
  EXPECT_THAT(Found(recordings).odd, SizeIs(4));
}

TEST(CoordinatesTest, AnOddRankAmongExpertsIsStillFound) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 16; ++rank)
    recordings.push_back(
        At(Recording(rank, (100 + 40 * (rank % 4) + (rank == 5 ? 30 : 0)) * kMiB, {"expert"}), {{"ep", rank % 4, 4}}));
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(5));
  EXPECT_EQ(found.odd[0].usual, 140 * kMiB);
}

// If all ranks of a replica differ from their peers by the same bytes, they are one finding.
TEST(CoordinatesTest, AllRanksOfAReplicaAreOneFinding) {
  const OddRanks found = Found(ThreeWays([](auto pp, auto dp, auto) { return 100 + (pp == 0 && dp == 2) * 60; }));
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(4, 5));
  EXPECT_EQ(found.odd[0].place, "dp 2");
  EXPECT_EQ(found.odd[0].difference(), 60 * kMiB);
}

TEST(CoordinatesTest, ARoleOfSeveralStagesHasAReplicaOfEach) {
  const OddRanks found =
      Found(ThreeWays([](auto pp, auto dp, auto) { return 100 + (pp == 0 && dp == 2) * 60; }, false));
  ASSERT_THAT(found.roles, SizeIs(1));
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(4, 5));
  EXPECT_EQ(found.odd[0].place, "dp 2, pp 0");
}

TEST(CoordinatesTest, OneOfTheRanksOfAReplicaIsNotTheReplica) {
  const OddRanks found =
      Found(ThreeWays([](auto pp, auto dp, auto tp) { return 100 + (pp == 0 && dp == 2 && tp == 1) * 60; }));
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(5));
  EXPECT_EQ(found.odd[0].place, "");
}

}  // namespace
}  // namespace memoir
