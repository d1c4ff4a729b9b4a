#include "tools/analyze/pass/joint_replays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/model/parts/replay_work.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

class AllocationCount : public Visitor {
 public:
  void OnAllocate(const AllocateEvent&) override { ++count; }
  int count = 0;
};

// Needs `replays` replays, and notes when it is resumed.
Task<int> Count(JointReplays& replays, std::string name, int count, std::vector<std::string>& log) {
  int allocations = 0;
  for (int i = 0; i < count; ++i) {
    AllocationCount pass;
    const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass);
    log.push_back(name + std::to_string(i));
    allocations += report.ok() ? pass.count : 0;
  }
  co_return allocations;
}

Task<int> CountTwice(JointReplays& replays, std::vector<std::string>& log) {
  const Task<int> one = Count(replays, "one", 1, log);
  const Task<int> two = Count(replays, "two", 2, log);
  co_return co_await one + co_await two;
}

// Starts a task, and ends before that task is done.
Task<int> GiveUp(JointReplays& replays, std::vector<std::string>& log) {
  const Task<int> left = Count(replays, "left", 5, log);
  const int counted = co_await Count(replays, "own", 1, log);
  co_return counted;
}

class JointReplaysTest : public ::testing::Test {
 protected:
  JointReplaysTest() {
    ProcessBuilder process;
    process.Begin("aten::add").Allocate(0x1000, 64).Allocate(0x2000, 64).End();
    process.WriteTo(folder_.path());
    capture_.emplace(*Capture::Open(folder_.path()));
  }
  std::uint64_t CountReplays() { return TotalReplayWork().replays - before_; }

  const TemporaryFolder folder_;
  std::optional<Capture> capture_;
  const Selection selection_;
  const std::uint64_t before_ = TotalReplayWork().replays;
  std::vector<std::string> log_;
};

TEST_F(JointReplaysTest, TasksThatWaitShareAReplay) {
  JointReplays replays(*capture_, selection_);
  EXPECT_EQ(replays.Finish(CountTwice(replays, log_)), 6);
  EXPECT_EQ(CountReplays(), 2u);
  EXPECT_THAT(log_, ElementsAre("one0", "two0", "two1"));
}

TEST_F(JointReplaysTest, ATaskRunsUntilItWaits) {
  JointReplays replays(*capture_, selection_);
  const Task<int> none = Count(replays, "none", 0, log_);
  EXPECT_TRUE(none.done());
  const Task<int> one = Count(replays, "one", 1, log_);
  EXPECT_FALSE(one.done());
  EXPECT_EQ(CountReplays(), 0u);
  EXPECT_EQ(replays.Finish(none), 0);
  EXPECT_EQ(CountReplays(), 0u);
  EXPECT_EQ(replays.Finish(one), 2);
  EXPECT_EQ(replays.Finish(one), 2);
  EXPECT_EQ(CountReplays(), 1u);
}

TEST_F(JointReplaysTest, ATaskThatIsLeftWaitsNoLonger) {
  JointReplays replays(*capture_, selection_);
  EXPECT_EQ(replays.Finish(GiveUp(replays, log_)), 2);
  EXPECT_EQ(CountReplays(), 1u);
  EXPECT_THAT(log_, ElementsAre("left0", "own0"));
  log_.clear();
  EXPECT_EQ(replays.Finish(Count(replays, "next", 1, log_)), 2);
  EXPECT_THAT(log_, ElementsAre("next0"));
}

TEST_F(JointReplaysTest, SeveralTasksMayWaitForOne) {
  JointReplays replays(*capture_, selection_);
  const Task<int> shared = Count(replays, "shared", 1, log_);
  const auto twice = [](const Task<int>& one) -> Task<int> { co_return 2 * co_await one; };
  const Task<int> first = twice(shared);
  const Task<int> second = twice(shared);
  EXPECT_EQ(replays.Finish(first), 4);
  EXPECT_EQ(replays.Finish(second), 4);
  EXPECT_EQ(CountReplays(), 1u);
}

TEST_F(JointReplaysTest, StopsEarlyOnlyIfNoPassGoesOn) {
  JointReplays replays(*capture_, selection_);
  const auto count = [&](std::vector<bool> goes_on) -> Task<int> {
    AllocationCount first, second;
    const auto one = [](JointReplays& in, AllocationCount& pass, bool on) -> Task<int> {
      (void)co_await in.Next(pass, {.go_on = [on] { return on; }});
      co_return pass.count;
    };
    const Task<int> a = one(replays, first, goes_on[0]), b = one(replays, second, goes_on[1]);
    co_return co_await a + co_await b;
  };
  EXPECT_EQ(replays.Finish(count({true, false})), 4);
}

}  // namespace
}  // namespace memoir
