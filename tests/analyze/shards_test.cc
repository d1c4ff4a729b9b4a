// Ranks whose shards of parameters, gradients and optimizer state differ in size are healthy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/summarized_rank.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::RecordingSummary WithState(std::uint32_t rank, std::uint64_t state, std::uint64_t activations) {
  return WithPeak(rank, {{"optimizer state", state}, {"activation", activations}});
}

// FSDP2 divides 22 rows among eight ranks: three rows for each rank but the last, which has one.
TEST(ShardsTest, ASmallerShardIsHealthy) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 8; ++rank)
    recordings.push_back(WithState(rank, (rank == 7 ? 10 : 30) * kMiB, 100 * kMiB));
  EXPECT_THAT(Found(recordings).odd, SizeIs(1));
  for (v1::RecordingSummary& recording : recordings) recording.set_shards_parameters(true);
  EXPECT_THAT(Found(recordings).odd, IsEmpty());
  recordings[7].mutable_devices(0)->clear_at_peak();  // the rows of its peak are unknown
  EXPECT_THAT(Found(recordings).odd, SizeIs(1));
  recordings[7] = WithState(7, 0, 100 * kMiB);  // another optimizer
  recordings[7].set_shards_parameters(true);
  EXPECT_THAT(Found(recordings).odd, SizeIs(1));
  recordings[7] = WithState(7, 30 * kMiB, 100 * kMiB);
  recordings[1] = WithState(1, 30 * kMiB, 60 * kMiB);
  recordings[1].set_shards_parameters(true);
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(1));
}

// A program divides 32 heads among five ranks.
TEST(ShardsTest, MoreHeadsOnTheFirstRanksAreHealthy) {
  for (const std::vector<std::uint64_t>& heads :
       {std::vector<std::uint64_t>{70, 70, 60, 60, 60}, std::vector<std::uint64_t>{60, 70, 60, 60, 60}}) {
    std::vector<v1::RecordingSummary> recordings;
    for (std::uint32_t rank = 0; rank < heads.size(); ++rank)
      recordings.push_back(WithPeak(
          rank,
          {{"parameter", heads[rank] * kMiB}, {"optimizer state", 2 * heads[rank] * kMiB}, {"activation", 40 * kMiB}}));
    EXPECT_THAT(Found(recordings).odd, SizeIs(heads[0] == 70 ? 0 : 1));
  }
}

// A program divides 16 heads among three ranks. A wider layer on the first rank alone has more in one module.
TEST(ShardsTest, OneMoreHeadOnTheFirstRankIsHealthy) {
  for (const std::uint64_t in_second_module : {0u, 1u}) {
    std::vector<v1::RecordingSummary> recordings;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      const std::uint64_t more = rank == 0 ? 10 * kMiB : 0;
      recordings.push_back(WithPeak(rank, {{"parameter", 50 * kMiB + more}, {"activation", 40 * kMiB}}));
      v1::Composition& composition = *recordings.back().mutable_devices(0)->add_at_peak();
      composition.set_by("module");
      const auto add = [&](const char* name, std::uint64_t bytes) {
        composition.add_rows()->set_name(name);
        composition.mutable_rows(composition.rows_size() - 1)->set_bytes(bytes);
      };
      add("layers.0.attention", 25 * kMiB + more - in_second_module * more / 2);
      add("layers.1.attention", 25 * kMiB + in_second_module * more / 2);
    }
    EXPECT_THAT(Found(recordings).odd, SizeIs(in_second_module ? 0 : 1));
  }
}

// Embedding tables that are placed whole on ranks.
TEST(ShardsTest, UnequalTablesAreHealthy) {
  const auto odd = [](std::uint64_t more_activation) {
    std::vector<v1::RecordingSummary> recordings;
    const std::vector<std::uint64_t> tables = {52, 25, 27, 24, 26};
    for (std::uint32_t rank = 0; rank < tables.size(); ++rank)
      recordings.push_back(WithPeak(rank, {{"parameter", tables[rank] * kMiB},
                                           {"optimizer state", tables[rank] * kMiB},
                                           {"temporary", tables[rank] * kMiB},
                                           {"activation", (40 + (rank == 0 ? more_activation : 0)) * kMiB}}));
    return Found(recordings).odd;
  };
  EXPECT_THAT(odd(0), IsEmpty());
  EXPECT_THAT(odd(60), SizeIs(1));
}

// Three states for each parameter instead of one, with equal shards.
TEST(ShardsTest, AnotherOptimizerIsNoOtherShard) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const std::uint64_t shard = (rank == 1 ? 5 : 10) * kMiB;  // rank 1 has a smaller shard
    recordings.push_back(WithPeak(rank, {{"parameter", shard}, {"optimizer state", (rank == 3 ? 3 : 1) * shard}}));
    recordings.back().set_shards_parameters(true);
  }
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(3));
}

// FSDP2 divides ten rows among six ranks: two for each rank but the last, whose shard is padding without state.
TEST(ShardsTest, ALastRankWithPaddingIsNotOdd) {
  for (const std::uint32_t less : {5u, 2u}) {
    std::vector<v1::RecordingSummary> recordings;
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      recordings.push_back(
          WithPeak(rank, {{"parameter", 4 * kMiB}, {"optimizer state", (rank == less ? 4 : 8) * kMiB}}));
      recordings.back().set_shards_parameters(true);
    }
    EXPECT_THAT(Found(recordings).odd, SizeIs(less == 5 ? 0 : 1));
  }
}

// The last slice of a vocabulary, divided by the program itself.
TEST(ShardsTest, FewerParametersAreHealthyAndMoreAreNot) {
  const auto job = [](std::uint64_t last) {
    std::vector<v1::RecordingSummary> recordings;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const std::uint64_t shard = rank == 3 ? last : 10 * kMiB;
      recordings.push_back(WithPeak(
          rank, {{"parameter", shard}, {"optimizer state", 2 * shard}, {"gradient", shard}, {"activation", 8 * kMiB}}));
    }
    return Found(recordings).odd;
  };
  EXPECT_THAT(job(8 * kMiB), IsEmpty());
  EXPECT_THAT(job(12 * kMiB), SizeIs(1));
}

// An FSDP rank at whose peak the buffers of collectives have `gathered` and `scattered` bytes.
v1::RecordingSummary WithBuffers(std::uint32_t rank, std::uint64_t gathered, std::uint64_t scattered,
                                 std::uint64_t activations) {
  v1::RecordingSummary recording = WithPeak(
      rank,
      {{"parameter (gathered)", gathered}, {"gradient (reduce-scatter)", scattered}, {"activation", activations}});
  recording.set_shards_parameters(true);
  return recording;
}

// Other threads free the buffers of FSDP's collectives, in one step sooner than in another.
TEST(ShardsTest, ABufferThatAnotherThreadFreesLaterIsHealthy) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 8; ++rank)
    recordings.push_back(WithBuffers(rank, 9 * kMiB, (rank == 5 ? 5 : 2) * kMiB, 20 * kMiB));
  EXPECT_THAT(Found(recordings).odd, IsEmpty());
  recordings[5] = WithBuffers(5, 12 * kMiB, 2 * kMiB, 20 * kMiB);
  EXPECT_THAT(Found(recordings).odd, IsEmpty());
  recordings[5] = WithBuffers(5, 9 * kMiB, 2 * kMiB, 23 * kMiB);
  EXPECT_THAT(Found(recordings).odd, SizeIs(1));
  recordings[5] = WithBuffers(5, 9 * kMiB, 30 * kMiB, 20 * kMiB);  // more than twice the usual bytes of buffers
  EXPECT_THAT(Found(recordings).odd, SizeIs(1));
  recordings[5] = WithBuffers(5, 6 * kMiB, 2 * kMiB, 20 * kMiB);
  EXPECT_THAT(Found(recordings).odd, IsEmpty());
  recordings[5].mutable_devices(0)->clear_at_peak();  // the rows of its peak are unknown
  EXPECT_THAT(Found(recordings).odd, SizeIs(1));
}

TEST(ShardsTest, AZeroOptimizerKeepsTheStateOfOtherParametersOnEachRank) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 8; ++rank)
    recordings.push_back(WithState(rank, (rank == 0 ? 40 : rank == 1 ? 10 : 0) * kMiB, 100 * kMiB));
  EXPECT_THAT(Found(recordings).odd, SizeIs(2));
  for (v1::RecordingSummary& recording : recordings) recording.set_shards_optimizer(true);
  EXPECT_THAT(Found(recordings).odd, IsEmpty());
  recordings[3] = WithState(3, 0, 130 * kMiB);
  recordings[3].set_shards_optimizer(true);
  const OddRanks found = Found(recordings);
  ASSERT_THAT(found.odd, SizeIs(1));
  EXPECT_THAT(found.odd[0].ranks, ElementsAre(3));
}

// The temporaries of its step may be slightly larger than the state.
TEST(ShardsTest, AZeroOptimizerNeedsAFewBytesMore) {
  std::vector<v1::RecordingSummary> recordings;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const std::uint64_t state = (rank == 0 ? 40 : 10) * kMiB;
    recordings.push_back(WithState(rank, state, 100 * kMiB + (rank == 0 ? 30 * kMiB + 10'000 : 0)));
    recordings.back().set_shards_optimizer(true);
  }
  EXPECT_THAT(Found(recordings).odd, IsEmpty());
}

}  // namespace
}  // namespace memoir
