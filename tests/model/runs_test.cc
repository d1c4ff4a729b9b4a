// A folder that is used again: which processes are one run, and that the last run is what a capture is of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;
using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::TemporaryFolder;
using testing::WriteFile;

struct Given {
  std::uint64_t pid = 0;
  std::uint64_t start_s = 0;
  std::uint64_t bytes = 0;
  std::string rank_source = "none";
  std::uint32_t rank = 0;
  std::uint32_t restart = 0;
  std::uint64_t seconds = 1;  // how long it lives
  std::string run = "";       // the name that `memoir run` gave it
  std::uint64_t forked_from = 0;
  std::uint64_t process_start = 0;
  std::uint64_t parent_pid = 0;
  std::uint64_t parent_start = 0;
};

void Write(const Given& given, const TemporaryFolder& folder) {
  ProcessOptions options;
  options.pid = given.pid;
  options.rank = given.rank;
  options.restart = given.restart;
  options.world_size = given.rank_source == "none" ? 1 : 2;
  options.start_realtime_ns = given.start_s * 1'000'000'000;
  ProcessBuilder process(options);
  process.info().set_rank_source(given.rank_source);
  process.info().set_run(given.run);
  process.info().set_forked_from(given.forked_from);
  process.info().set_process_start(given.process_start);
  process.info().set_parent_pid(given.parent_pid);
  process.info().set_parent_start(given.parent_start);
  process.Allocate(0x1000, given.bytes).AtTick(options.start_tick + given.seconds * 1'000'000'000).Mark("end");
  // A number that is used again makes files of the same name, of which a recorder takes the next part's.
  for (std::uint32_t part = 0; part < process.parts().size(); ++part)
    WriteFile(folder.path() + "/" + std::to_string(given.start_s) + "." + process.FileName(part),
              process.parts()[part]);
}

std::uint64_t RunsOf(std::initializer_list<Given> processes) {
  const TemporaryFolder folder;
  for (const Given& process : processes) Write(process, folder);
  return Capture::Open(folder.path())->runs().size();
}

TEST(RunsTest, TheLastOneIsShownAndTheOthersAreThere) {
  const TemporaryFolder folder;
  Write({.pid = 10, .start_s = 100, .bytes = 7}, folder);
  Write({.pid = 11, .start_s = 200, .bytes = 30}, folder);
  const auto bytes = [](const absl::StatusOr<Capture>& capture) {
    EXPECT_EQ(capture->processes().size(), 1u);
    EXPECT_EQ(capture->processes()[0].start_ns, 0u);
    return AnalyzeSummary(*capture, {})->total().allocated_bytes;
  };
  const absl::StatusOr<Capture> last = Capture::Open(folder.path());
  EXPECT_EQ(last->run(), 2u);
  ASSERT_EQ(last->runs().size(), 2u);
  EXPECT_EQ(last->runs()[0].start_ns, 100'000'000'000u);
  EXPECT_EQ(bytes(last), 30u);
  EXPECT_EQ(bytes(Capture::Open(folder.path(), 2)), 30u);
  EXPECT_EQ(bytes(Capture::Open(folder.path(), 1)), 7u);
  EXPECT_EQ(AnalyzeSummary(*Capture::Open(folder.path(), kAllRuns), {})->total().allocated_bytes, 37u);
  EXPECT_THAT(std::string(Capture::Open(folder.path(), 3).status().message()),
              ::testing::AllOf(HasSubstr("no run 3"), HasSubstr("2 runs")));
}

TEST(RunsTest, ProcessesThatBelongTogetherAreOne) {
  const Given first{.pid = 10, .start_s = 100, .bytes = 1}, later{.pid = 11, .start_s = 200, .bytes = 1};
  EXPECT_EQ(RunsOf({first, later}), 2u);
  Given long_lived = first;
  long_lived.seconds = 150;
  EXPECT_EQ(RunsOf({long_lived, later}), 1u) << "both were there at once";
  Given named = first, also_named = later;
  named.run = also_named.run = "one";
  EXPECT_EQ(RunsOf({named, also_named}), 1u) << "a script that runs two programs";
  also_named.run = "two";
  EXPECT_EQ(RunsOf({named, also_named}), 2u);
  Given replaced = later;
  replaced.pid = first.pid;
  EXPECT_EQ(RunsOf({first, replaced}), 1u) << "exec, or two recordings of a process";
  Given fork = later;
  fork.forked_from = first.pid;
  EXPECT_EQ(RunsOf({first, fork}), 1u);
}

TEST(RunsTest, AProgramThatAnotherStartedIsOfItsRunHoweverLongItsImportsTake) {
  const Given parent{.pid = 10, .start_s = 100, .bytes = 1, .process_start = 7};
  Given child{.pid = 11, .start_s = 200, .bytes = 1, .process_start = 9, .parent_pid = 10, .parent_start = 7};
  EXPECT_EQ(RunsOf({parent, child}), 1u);
  child.parent_start = 8;
  EXPECT_EQ(RunsOf({parent, child}), 2u) << "of another process that had the number";
  Given sibling = parent;
  sibling.pid = 12, sibling.start_s = 300, sibling.parent_pid = child.parent_pid = 5;
  sibling.parent_start = child.parent_start = 3;
  EXPECT_EQ(RunsOf({sibling, child}), 2u) << "two programs of one shell";
}

TEST(RunsTest, ANumberThatIsUsedAgainIsAnotherProcess) {
  const Given first{.pid = 7, .start_s = 100, .bytes = 1, .process_start = 100};
  Given restarted = first;
  restarted.start_s = 200;
  EXPECT_EQ(RunsOf({first, restarted}), 1u);
  restarted.process_start = 200;
  EXPECT_EQ(RunsOf({first, restarted}), 2u) << "a container that was started again";
}

TEST(RunsTest, RanksOfOneWorldAreOneUntilARankIsThereTwice) {
  const Given zero{.pid = 10, .start_s = 100, .bytes = 1, .rank_source = "torchrun", .rank = 0};
  Given one = zero, restarted = zero, again = zero;
  one.pid = 11, one.start_s = 200, one.rank = 1;
  restarted.pid = 12, restarted.start_s = 300, restarted.restart = 1;
  again.pid = 13, again.start_s = 400;
  EXPECT_EQ(RunsOf({zero, one}), 1u);
  EXPECT_EQ(RunsOf({zero, one, restarted}), 1u);
  EXPECT_EQ(RunsOf({zero, one, again}), 2u);
}

// Ranks 0 and 1 of a job, at the same time as every other job's; each rank under a `memoir run` of this name.
std::vector<Given> JobOf(std::uint64_t first_pid, const std::string& run_of_zero, const std::string& run_of_one) {
  Given zero{.pid = first_pid, .start_s = 100 + first_pid, .bytes = 1, .rank_source = "torchrun"};
  zero.seconds = 1000;
  zero.run = run_of_zero;
  Given one = zero;
  one.pid = first_pid + 1, one.rank = 1, one.run = run_of_one;
  return {zero, one};
}

std::vector<std::set<std::uint64_t>> PidsOfRuns(const std::vector<std::vector<Given>>& jobs) {
  const TemporaryFolder folder;
  for (const std::vector<Given>& job : jobs) {
    for (const Given& process : job) Write(process, folder);
  }
  std::vector<std::set<std::uint64_t>> pids;
  const absl::StatusOr<Capture> all = Capture::Open(folder.path());
  for (std::uint32_t run = 1; run <= all->runs().size(); ++run) {
    std::set<std::uint64_t>& of = pids.emplace_back();
    const absl::StatusOr<Capture> capture = Capture::Open(folder.path(), run);
    for (const ProcessSummary& process : capture->processes()) of.insert(process.info.pid());
  }
  return pids;
}

using Pids = std::set<std::uint64_t>;

TEST(RunsTest, TwoJobsAtOnceAreApartWhereEachHasItsOwnRun) {
  EXPECT_THAT(PidsOfRuns({JobOf(10, "a", "a"), JobOf(20, "b", "b"), JobOf(30, "c", "c")}),
              ::testing::ElementsAre(Pids{10, 11}, Pids{20, 21}, Pids{30, 31}));
  EXPECT_THAT(PidsOfRuns({JobOf(10, "a", "a"), JobOf(20, "", "")}), ::testing::SizeIs(1)) << "whose are the others?";
}

TEST(RunsTest, RanksWithARunOfTheirOwnAreTheJobThatTheirLauncherNamed) {
  EXPECT_THAT(
      PidsOfRuns({JobOf(10, "slurm-1.0/a-10", "slurm-1.0/a-11"), JobOf(20, "slurm-2.0/a-20", "slurm-2.0/a-21")}),
      ::testing::ElementsAre(Pids{10, 11}, Pids{20, 21}));
  EXPECT_THAT(PidsOfRuns({JobOf(10, "a-10", "a-11"), JobOf(20, "a-20", "a-21")}), ::testing::SizeIs(1))
      << "which of the four belong together?";
}

TEST(RunsTest, OneAfterAnotherRanksOfTwoNamedJobsAreNoWorld) {
  Given zero{.pid = 10, .start_s = 100, .bytes = 1, .rank_source = "torchrun", .run = "slurm-1.0/a-10"};
  Given one = zero;
  one.pid = 11, one.start_s = 200, one.rank = 1;
  EXPECT_EQ(RunsOf({zero, one}), 1u);
  one.run = "slurm-1.0/a-11";
  EXPECT_EQ(RunsOf({zero, one}), 1u);
  one.run = "slurm-2.0/a-11";
  EXPECT_EQ(RunsOf({zero, one}), 2u);
}

TEST(RunsTest, AJobMayHaveAStepOfItsLauncherForEachHost) {
  EXPECT_THAT(PidsOfRuns({JobOf(10, "slurm-1.0/a-10", "slurm-1.1/b-11")}), ::testing::SizeIs(1));
  EXPECT_THAT(PidsOfRuns({JobOf(10, "slurm-1.0/a-10", "pmix-x/b-11")}), ::testing::SizeIs(1))
      << "mpirun in a job of Slurm's";
  EXPECT_THAT(
      PidsOfRuns({JobOf(10, "slurm-1.0/a-10", "slurm-1.0/a-11"), JobOf(20, "slurm-1.1/a-20", "slurm-1.1/a-21")}),
      ::testing::ElementsAre(Pids{10, 11}, Pids{20, 21}))
      << "two steps of one job, each with all ranks";
  EXPECT_THAT(PidsOfRuns({JobOf(10, "slurm-1.0/a-1", "slurm-1.0/a-1"), JobOf(20, "slurm-1.0/a-2", "slurm-1.0/a-2")}),
              ::testing::ElementsAre(Pids{10, 11}, Pids{20, 21}))
      << "two commands in a shell that is a step";
  EXPECT_THAT(
      PidsOfRuns({JobOf(10, "torchrun-x/a-1", "torchrun-x/a-1"), JobOf(20, "torchrun-x/b-1", "torchrun-x/b-1")}),
      ::testing::SizeIs(1))
      << "one job whose ranks were numbered anew";
}

TEST(RunsTest, WhatHasNoRankAndNoNameDoesNotHoldTwoJobsTogether) {
  std::vector<Given> helper = {{.pid = 5, .start_s = 105, .bytes = 1, .seconds = 1000}};
  EXPECT_THAT(PidsOfRuns({JobOf(10, "a", "a"), JobOf(20, "b", "b"), helper}),
              ::testing::ElementsAre(Pids{5, 10, 11}, Pids{20, 21}));
  helper[0].run = "c";
  EXPECT_THAT(PidsOfRuns({JobOf(10, "slurm-1.0/a-10", "slurm-1.0/a-11"), JobOf(20, "slurm-2.0/b-20", "slurm-2.0/b-21"),
                          helper}),
              ::testing::ElementsAre(Pids{5, 10, 11}, Pids{20, 21}));
}

}  // namespace
}  // namespace memoir
