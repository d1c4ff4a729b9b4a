// NCCL's memory on a card: once for a communicator and for each peer, freed at its end, refused if it does not fit.
#include "simcuda/collectives/nccl_buffers.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simcuda/configuration/configuration.h"

namespace memoir::simcuda {
namespace {

CardProfile Card() {
  CardProfile profile;
  profile.memory = 100 * kMiB;
  profile.context = 10 * kMiB;
  profile.nccl_pair = 20 * kMiB;
  profile.nccl_group = 30 * kMiB;
  profile.nccl_peer = 7 * kMiB;
  return profile;
}

class NcclBuffersTest : public testing::Test {
 protected:
  std::uint64_t Taken() const { return device.Info().used - (device.started() ? 10 * kMiB : 0); }

  const CardProfile card = Card();
  Contents contents;
  Device device{0, card, contents};
};

TEST_F(NcclBuffersTest, OnceForACommunicator) {
  {
    NcclBuffers pair, group, alone;
    EXPECT_EQ(pair.ForCollective(device, card, 2), "");
    EXPECT_EQ(pair.ForCollective(device, card, 2), "");
    EXPECT_EQ(Taken(), 20 * kMiB);
    EXPECT_EQ(group.ForCollective(device, card, 3), "");
    EXPECT_EQ(alone.ForCollective(device, card, 1), "");
    EXPECT_EQ(Taken(), 50 * kMiB);
    EXPECT_EQ(group.bytes(), 30 * kMiB);
  }
  EXPECT_EQ(Taken(), 0u);
}

TEST_F(NcclBuffersTest, OnceForEachPeerOfTheMachine) {
  NcclBuffers buffers;
  for (int peer : {1, 2, 1, 3}) EXPECT_EQ(buffers.ForPeer(device, card, peer, 2), "");
  EXPECT_EQ(Taken(), 14 * kMiB);
}

TEST_F(NcclBuffersTest, WhatDoesNotFitIsRefused) {
  NcclBuffers buffers, unknown;
  ASSERT_TRUE(device.Charge(80 * kMiB, BudgetHolder::kMapped));
  EXPECT_THAT(buffers.ForCollective(device, card, 4),
              testing::HasSubstr("NCCL needs 30.00 MiB of device 0 for a communicator of 4 ranks (an estimate"));
  EXPECT_EQ(buffers.bytes(), 0u);
  EXPECT_EQ(unknown.ForCollective(device, CardProfile(), 4), "") << "a card of which nothing is known";
  device.Refund(80 * kMiB, BudgetHolder::kMapped);
  EXPECT_EQ(buffers.ForCollective(device, card, 4), "");
}

struct Told {
  std::string library;
  unsigned long long id, bytes;
};
std::vector<Told>* told = nullptr;
void Note(int, const char* library, unsigned long long id, unsigned long long bytes) {
  told->push_back({library, id, bytes});
}

TEST_F(NcclBuffersTest, WhoeverObservesIsToldOfEachChargeAndOfTheEnd) {
  static std::vector<Told> all;
  told = &all;
  {
    NcclBuffers buffers;
    EXPECT_EQ(buffers.ForItself(device, 5 * kMiB), "");
    ObserveLibraries(&Note);
    EXPECT_EQ(buffers.ForCollective(device, card, 2), "");
  }
  ASSERT_EQ(all.size(), 3u) << "what there was before, too";
  EXPECT_EQ(all[0].bytes, 5 * kMiB);
  EXPECT_EQ(all[1].bytes, 25 * kMiB);
  EXPECT_EQ(all[2].bytes, 0u);
  for (const Told& one : all) {
    EXPECT_EQ(one.library, "libnccl.so.2");
    EXPECT_EQ(one.id, all[0].id);
  }
}

TEST_F(NcclBuffersTest, WhoeverObservesIsToldHowMuchWasRefused) {
  static std::vector<Told> all;
  told = &all;
  ObserveLibraries(&Note);
  NcclBuffers buffers;
  EXPECT_NE(buffers.ForItself(device, 500 * kMiB), "") << "more than the card has";
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].library, "libnccl.so.2");
  EXPECT_EQ(all[0].id, 0u);
  EXPECT_EQ(all[0].bytes, 500 * kMiB);
}

}  // namespace
}  // namespace memoir::simcuda
