// The parts of the host's memory, and the findings.
#include "tools/analyze/host/host_memory_use.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "tests/captures/capture_builder.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;

constexpr std::uint64_t kMiB = 1u << 20, kGiB = 1u << 30;
constexpr std::uint64_t kTensor = 0x100000;

struct Numbers {
  std::uint64_t anonymous, malloc_used = 0, malloc_free = 0, shared = 0, used = 0, limit = 0, reclaimable = 0,
                           kills = 0;
};

v1::HostReading Reading(const Numbers& numbers) {
  v1::HostReading reading;
  reading.set_anonymous_bytes(numbers.anonymous + 1);
  reading.set_shared_bytes(numbers.shared + 1);
  reading.set_file_bytes(100 * kMiB + 1);
  reading.set_malloc_used_bytes(numbers.malloc_used + 1);
  reading.set_malloc_free_bytes(numbers.malloc_free + 1);
  reading.set_group_id(77 + 1);
  reading.set_group_kills(numbers.kills + 1);
  reading.set_machine_kills(5 + 1);
  reading.set_machine_bytes(64 * kGiB + 1);
  reading.set_machine_available_bytes(40 * kGiB + 1);
  if (numbers.limit != 0) {
    reading.set_group_limit_bytes(numbers.limit + 1);
    reading.set_group_used_bytes(numbers.used + 1);
    reading.set_group_reclaimable_bytes(numbers.reclaimable + 1);
  }
  return reading;
}

HostMemoryUse Analyzed(ProcessBuilder& process) {
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  absl::StatusOr<HostMemoryUse> memory = AnalyzeHostMemory(*capture, {});
  EXPECT_TRUE(memory.ok()) << memory.status();
  return *std::move(memory);
}

std::int64_t SumOf(const HostInstant& moment) {
  return std::accumulate(moment.bytes.begin(), moment.bytes.end(), std::int64_t{0});
}

TEST(HostMemory, AProgramAloneIsRankZero) {
  ProcessBuilder process;
  process.info().set_rank_source("none");
  process.info().set_world_size(0);
  process.Allocate(kTensor, kMiB).ReadHost(Reading({.anonymous = kGiB}));
  const HostMemoryUse memory = Analyzed(process);
  ASSERT_EQ(memory.processes.size(), 1u);
  EXPECT_EQ(memory.processes[0].rank, 0u);
}

TEST(HostMemory, RowsSumToWhatIsResident) {
  ProcessBuilder process;
  process.Allocate(kTensor, 300 * kMiB);
  process.ReadHost(
      Reading({.anonymous = kGiB, .malloc_used = 500 * kMiB, .malloc_free = 50 * kMiB, .shared = 7 * kMiB}));
  process.Deallocate(kTensor).Allocate(kTensor + 1, 4 * kGiB);  // never written to
  process.ReadHost(Reading({.anonymous = kGiB + kMiB, .malloc_used = 5 * kGiB}));
  const HostMemoryUse memory = Analyzed(process);
  ASSERT_EQ(memory.processes.size(), 1u);
  const HostInstant& first = memory.processes[0].first;
  EXPECT_EQ(first[HostPart::kTensors], std::int64_t{300 * kMiB});
  EXPECT_EQ(first[HostPart::kMalloc], std::int64_t{200 * kMiB});
  EXPECT_EQ(first[HostPart::kMallocFree], std::int64_t{50 * kMiB});
  EXPECT_EQ(first[HostPart::kOther], std::int64_t{(1024 - 550) * kMiB});
  EXPECT_EQ(first[HostPart::kShared], std::int64_t{7 * kMiB});
  EXPECT_EQ(SumOf(first), std::int64_t{kGiB + 107 * kMiB});
  const HostInstant& last = memory.processes[0].last;
  EXPECT_EQ(last[HostPart::kTensors], std::int64_t{4 * kGiB});
  EXPECT_EQ(last[HostPart::kUntouched], std::int64_t{kGiB + kMiB} - std::int64_t{5 * kGiB});
  EXPECT_EQ(SumOf(last), std::int64_t{kGiB + 101 * kMiB});
  EXPECT_FALSE(memory.has_findings());
}

// `grows`: MiB each step; `until`: steps for which it does so.
ProcessBuilder Training(std::uint64_t grows, std::uint64_t until, std::uint64_t steps = 60) {
  ProcessBuilder process;
  for (std::uint64_t step = 0; step < steps; ++step) {
    process.Step(step);
    const std::uint64_t noise = step % 3 * kMiB;
    process.ReadHost(Reading({.anonymous = kGiB + std::min(step, until) * grows * kMiB + noise,
                              .malloc_used = 100 * kMiB,
                              .used = 2 * kGiB + std::min(step, until) * grows * kMiB,
                              .limit = 8 * kGiB,
                              .reclaimable = kGiB}));
  }
  return process;
}

TEST(HostMemory, GrowthThatGoesOnIsFound) {
  ProcessBuilder process = Training(10, 1000);
  const HostMemoryUse memory = Analyzed(process);
  ASSERT_EQ(memory.processes[0].findings, std::vector{HostFinding::kGrows});
  const HostGrowth& growth = *memory.processes[0].growth;
  EXPECT_EQ(growth.part, HostPart::kOther) << "neither torch's nor malloc's";
  EXPECT_NEAR(static_cast<double>(growth.bytes), 400.0 * kMiB, 25.0 * kMiB);
  ASSERT_TRUE(growth.steps);
  EXPECT_NEAR(static_cast<double>(*growth.steps), 40, 2);
  // 8 GiB less 2 GiB and 590 MiB, of which 1 GiB can be had back.
  ASSERT_TRUE(growth.left_ns);
  const double steps_left =
      static_cast<double>(*growth.left_ns) /
      (static_cast<double>(growth.until_ns - growth.since_ns) / static_cast<double>(*growth.steps));
  EXPECT_NEAR(steps_left, (7.0 * 1024 - 590) / 10, 60);
}

TEST(HostMemory, WhatFillsAndStopsIsNoGrowth) {
  for (const auto& [grows, until] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 0}, {40, 15}, {20, 35}}) {
    ProcessBuilder process = Training(grows, until);
    EXPECT_FALSE(Analyzed(process).has_findings()) << grows << " MiB until " << until;
  }
}

TEST(HostMemory, ATenthThatIsLeftIsNear) {
  ProcessBuilder process;
  process.ReadHost(Reading({.anonymous = kGiB, .used = 7 * kGiB, .limit = 8 * kGiB, .reclaimable = kGiB}));
  EXPECT_FALSE(Analyzed(process).has_findings()) << "files' pages are given back first";
  ProcessBuilder nearer;
  nearer.ReadHost(Reading({.anonymous = kGiB, .used = 7 * kGiB + 500 * kMiB, .limit = 8 * kGiB, .reclaimable = 0}));
  nearer.ReadHost(Reading({.anonymous = kGiB, .used = 2 * kGiB, .limit = 8 * kGiB, .reclaimable = 0}));
  const HostMemoryUse memory = Analyzed(nearer);
  ASSERT_EQ(memory.processes[0].findings, std::vector{HostFinding::kNearLimit});
  EXPECT_EQ(memory.processes[0].nearest.headroom(), 524 * kMiB);
}

TEST(HostMemory, AKillOfTheCgroupIsRecognised) {
  const auto ended = [](std::uint64_t group, std::uint64_t group_kills, std::uint64_t machine_kills) {
    ProcessBuilder process;
    process.ReadHost(Reading({.anonymous = kGiB, .used = kGiB, .limit = 8 * kGiB, .kills = 2}));
    v1::HostReading at_end;
    at_end.set_group_id(group + 1);
    at_end.set_group_kills(group_kills + 1);
    at_end.set_machine_kills(machine_kills + 1);
    process.set_end(v1::End::MERGED).set_host_at_end(at_end);
    return Analyzed(process).processes[0].findings;
  };
  EXPECT_EQ(ended(77, 3, 6), std::vector{HostFinding::kKilled});
  EXPECT_EQ(ended(77, 2, 5), std::vector<HostFinding>{}) << "killed by another";
  EXPECT_EQ(ended(78, 9, 6), std::vector{HostFinding::kKilledByMachine}) << "merged from another cgroup";
  EXPECT_EQ(ended(78, 9, 5), std::vector<HostFinding>{});
}

TEST(HostMemory, MallocThatKeepsIsFound) {
  ProcessBuilder process;
  process.ReadHost(Reading({.anonymous = 2 * kGiB, .malloc_used = 500 * kMiB, .malloc_free = 900 * kMiB}));
  EXPECT_EQ(Analyzed(process).processes[0].findings, std::vector{HostFinding::kMallocKeeps});
}

TEST(HostMemory, OfARecordingWithoutReadingsNothingIsKnown) {
  ProcessBuilder process;
  process.Allocate(kTensor, 100);
  const HostMemoryUse memory = Analyzed(process);
  EXPECT_TRUE(memory.processes.empty());
  EXPECT_FALSE(memory.has_findings());
}

}  // namespace
}  // namespace memoir
