// Ranks that are threads of one process: what they hand each other, in which order, and how they get out of a wait.
// Ranks that are processes: tests/simulated/test_nccl.py.
#include "simcuda/collectives/communicator.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace memoir::simcuda {
namespace {

constexpr int kPatience = 60;

std::string Complete(NcclCall call, int patience = kPatience) {
  call.communicator->Enqueue(call);
  std::vector<NcclCall> calls;
  calls.push_back(std::move(call));
  return CompleteCalls(calls, patience);
}

// The sum of everybody's `mine`.
NcclCall Sum(std::shared_ptr<Communicator> communicator, int mine, int* sum) {
  NcclCall call;
  call.communicator = std::move(communicator);
  call.name = "sum";
  call.needs = kAllRanks;
  call.gives = call.takes = sizeof mine;
  call.give = [mine](char* room) { std::memcpy(room, &mine, sizeof mine); };
  call.finish = [sum](const RankParts& parts) {
    Reduce(parts, 0, ElementType::kInt32, 1, {}, reinterpret_cast<char*>(sum));
  };
  return call;
}

NcclCall Pass(std::shared_ptr<Communicator> communicator, NcclCall::Kind kind, int peer, int* value) {
  NcclCall call;
  call.communicator = std::move(communicator);
  call.kind = kind;
  call.name = "pass";
  call.peer = peer;
  call.gives = kind == NcclCall::Kind::kSend ? sizeof *value : 0;
  call.takes = sizeof *value;
  call.give = [value](char* room) { std::memcpy(room, value, sizeof *value); };
  call.finish = [value](const RankParts& parts) {
    if (parts[0] != nullptr) std::memcpy(value, parts[0], sizeof *value);
  };
  return call;
}

std::shared_ptr<Communicator> Join(const Invitation& invitation, int ranks, int rank, std::string* error = nullptr) {
  auto made = std::make_shared<Communicator>(ranks, rank, rank);
  NcclCall join;
  join.communicator = made;
  std::string wrong = made->Meet(invitation, rank, 0, &join);
  if (wrong.empty()) wrong = Complete(join);
  if (error != nullptr) *error = wrong;
  return wrong.empty() ? made : nullptr;
}

// Each rank on a separate thread.
void InRanks(int ranks, const std::function<void(std::shared_ptr<Communicator>)>& body) {
  const Invitation invitation = Invite();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back([&, rank] { body(Join(invitation, ranks, rank)); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Communicator, ManySumsInARow) {
  constexpr int kRanks = 4, kRounds = 300;
  std::vector<std::vector<int>> seen(kRanks);
  InRanks(kRanks, [&](const std::shared_ptr<Communicator>& own) {
    ASSERT_NE(own, nullptr);
    for (int round = 0; round < kRounds; ++round) {
      int sum = -1;
      EXPECT_EQ(Complete(Sum(own, own->rank() * round, &sum)), "");
      seen[static_cast<std::size_t>(own->rank())].push_back(sum);
    }
  });
  for (const auto& sums : seen) {
    for (int round = 0; round < kRounds; ++round) EXPECT_EQ(sums[static_cast<std::size_t>(round)], 6 * round);
  }
}

TEST(Communicator, AGroupOfSendsBothWaysDoesNotLock) {
  constexpr int kMany = 50;  // more than a lane holds
  InRanks(2, [&](const std::shared_ptr<Communicator>& own) {
    ASSERT_NE(own, nullptr);
    std::vector<int> given(kMany), got(kMany);
    std::iota(given.begin(), given.end(), 1000 * own->rank());
    std::vector<NcclCall> calls;
    for (int i = 0; i < kMany; ++i) {
      for (const NcclCall::Kind kind : {NcclCall::Kind::kSend, NcclCall::Kind::kReceive}) {
        int* const value = &(kind == NcclCall::Kind::kSend ? given : got)[static_cast<std::size_t>(i)];
        calls.push_back(Pass(own, kind, 1 - own->rank(), value));
        own->Enqueue(calls.back());
      }
    }
    EXPECT_EQ(CompleteCalls(calls, kPatience), "");
    for (int i = 0; i < kMany; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], 1000 * (1 - own->rank()) + i);
  });
}

TEST(Communicator, AnAbortEndsAWait) {
  const Invitation invitation = Invite();
  std::shared_ptr<Communicator> first, second;
  std::thread other([&] { second = Join(invitation, 2, 1); });
  first = Join(invitation, 2, 0);
  other.join();
  ASSERT_TRUE(first != nullptr && second != nullptr);
  std::string error;
  std::thread waits([&] {
    int sum = 0;
    error = Complete(Sum(first, 1, &sum));
  });
  first->Abort();
  waits.join();
  EXPECT_THAT(error, testing::HasSubstr("aborted"));
  int sum = 0;
  EXPECT_THAT(Complete(Sum(second, 1, &sum), 1), testing::AnyOf("", testing::HasSubstr("rank 0 of 2 did not come")));
}

TEST(Communicator, JoiningIsChecked) {
  const Invitation invitation = Invite();
  std::string error;
  Join({}, 2, 0, &error);
  EXPECT_THAT(error, testing::HasSubstr("was not made by this simulated NCCL"));
  Join(invitation, MessageBoard::kMostRanks + 1, 0, &error);
  EXPECT_THAT(error, testing::HasSubstr("at most 64 processes"));
  Invitation stale = invitation;
  stale.nonce += 1;
  Join(stale, 2, 0, &error);
  EXPECT_THAT(error, testing::HasSubstr("is another one by now"));
  Communicator one(2, 0, 0), same(2, 0, 0), larger(3, 1, 1);
  NcclCall join;
  EXPECT_EQ(one.Meet(invitation, 0, 0, &join), "");
  EXPECT_THAT(same.Meet(invitation, 0, 0, &join), testing::HasSubstr("there is a rank 0 already"));
  EXPECT_THAT(larger.Meet(invitation, 1, 0, &join), testing::HasSubstr("another rank made it for 2 ranks"));
  CloseInvitation(invitation);
  CloseInvitation(invitation);
}

// Programs close descriptors that they did not open, and get the numbers for files of their own.
TEST(Communicator, AnInvitationLeavesTheProgramsFilesAlone) {
  const Invitation invitation = Invite();
  EXPECT_GT(invitation.file, 255);
  char text[] = "/tmp/memoir-board-test-XXXXXX";
  const int file = mkstemp(text);
  ASSERT_EQ(write(file, "mine", 4), 4);
  ASSERT_EQ(dup2(file, invitation.file), invitation.file);
  std::string error;
  Join(invitation, 2, 0, &error);
  EXPECT_THAT(error, testing::HasSubstr("is another one by now"));
  CloseInvitation(invitation);
  EXPECT_EQ(lseek(invitation.file, 0, SEEK_END), 4) << "closed, or made another length";
  close(invitation.file);
  close(file);
  unlink(text);
}

TEST(Communicator, AloneEveryOtherRankHoldsTheSame) {
  const auto alone = std::make_shared<Communicator>(4096, 5, 0);
  int sum = 0;
  EXPECT_EQ(Complete(Sum(alone, 3, &sum)), "");
  EXPECT_EQ(sum, 3 * 4096);
  int given = 7, got = 0, nothing = 9;
  std::vector<NcclCall> calls = {Pass(alone, NcclCall::Kind::kSend, 6, &given),
                                 Pass(alone, NcclCall::Kind::kReceive, 4, &got)};
  EXPECT_EQ(CompleteCalls(calls, kPatience), "");
  EXPECT_EQ(got, 7) << "what it sends on, it gets from the one before";
  EXPECT_EQ(Complete(Pass(alone, NcclCall::Kind::kReceive, 4, &nothing)), "");
  EXPECT_EQ(nothing, 9) << "the caller is told that nothing came";
}

}  // namespace
}  // namespace memoir::simcuda
