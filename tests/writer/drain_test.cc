// A recorded process is killed at random instants; afterwards memoir-drain must have brought everything it committed
// into the capture, once.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/victim.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

// All readings of the clocks must lie on one line, whose slope the process has measured. (Where ticks are nanoseconds
// that says little.)
void CheckClocks(const DecodedCapture& capture) {
  const memoir::v1::ProcessInfo& process = capture.parts.front().chunks.front().header.process();
  const auto rate = static_cast<double>(process.ticks_per_second());
  ASSERT_GT(rate, 0);
  for (const DecodedChunk* chunk : capture.chunks()) {
    const memoir::v1::ClockSync& clock = chunk->payload.clock();
    if (clock.tick() == 0) continue;
    const double seconds = static_cast<double>(static_cast<std::int64_t>(clock.tick() - process.start().tick())) / rate;
    const auto nanoseconds = static_cast<std::int64_t>(clock.monotonic_ns() - process.start().monotonic_ns());
    ASSERT_NEAR(seconds, static_cast<double>(nanoseconds) / 1e9, 0.05) << "chunk " << chunk->header.sequence();
  }
}

std::map<std::string, std::string> Contents(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    contents[entry.path()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return contents;
}

TEST(Drain, AHundredKills) {
  std::mt19937 random(1);
  std::uint64_t from_ring = 0, on_file = 0;
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Victim victim;
    victim.KillAfter(static_cast<unsigned>(random() % 30'000));
    const std::uint64_t before = DecodeKilled(victim.capture()).events();
    const Outcome outcome = Drain(victim.ring());
    ASSERT_EQ(outcome.exit, 0) << outcome.errors;
    EXPECT_EQ(victim.ring(), "");
    const DecodedCapture capture = DecodeKilled(victim.capture());
    CheckCapture(capture, victim.counts());
    CheckClocks(capture);
    EXPECT_EQ(capture.counters().forked_children(), 1u);
    EXPECT_EQ(capture.end().reason(), memoir::v1::End::MERGED);
    EXPECT_TRUE(capture.parts.back().has_index);
    on_file += before;
    from_ring += capture.events() - before;
    if (HasFailure()) break;
  }
  EXPECT_GT(on_file, 0u) << "no kill came after a chunk: the test shows nothing";
  EXPECT_GT(from_ring, 0u) << "no kill left anything in a ring: the test shows nothing";
}

std::uint64_t CallsIn(const memoir::v1::Keyframe& keyframe) {
  std::uint64_t calls = 0;
  for (const memoir::v1::OperatorTotals& totals : keyframe.operators()) calls += totals.count();
  return calls;
}

bool HasLongLivedBlock(const memoir::v1::Keyframe& keyframe) {
  std::uint64_t address = 0;
  for (int i = 0; i < keyframe.live().address_delta_size(); ++i) {
    address += static_cast<std::uint64_t>(keyframe.live().address_delta(i));
    if (address == kLongLivedAddress) return keyframe.live().bytes(i) == kLongLivedBytes;
  }
  return false;
}

// The remaining events go on without a gap from the sums of their first keyframe, and end at the victim's counts.
// Returns whether each thread has steps left: on a busy machine one may not have run since the first remaining event.
bool CheckEvicted(const DecodedCapture& capture, std::vector<std::uint64_t> counts) {
  std::map<std::uint32_t, std::uint64_t> next_record, next_step;
  std::uint64_t calls = 0, next_sequence = capture.chunks().front()->header.sequence();
  EXPECT_GT(next_sequence, 0u) << "nothing was evicted: the test shows nothing";
  for (const DecodedChunk* chunk : capture.chunks()) {
    EXPECT_GE(chunk->header.sequence(), next_sequence);
    EXPECT_LE(chunk->header.sequence(), next_sequence + 1) << "more than a part's index lies between";
    next_sequence = chunk->header.sequence() + 1;
    if (chunk->header.has_keyframe()) {
      const memoir::v1::Keyframe& keyframe = chunk->payload.keyframe();
      EXPECT_TRUE(HasLongLivedBlock(keyframe));
      if (next_record.empty()) calls = CallsIn(keyframe);
      EXPECT_EQ(CallsIn(keyframe), calls) << "events are missing before the keyframe, or there twice";
    }
    for (const DecodedRun& run : chunk->runs) {
      const auto [next, first] = next_record.try_emplace(run.thread, run.first_record);
      EXPECT_EQ(run.first_record, next->second) << "records doubled or lost on thread " << run.thread;
      next->second += run.record_count;
      CheckStacks(run);
      for (const Event& event : run.events) {
        calls += event.kind == memoir::v1::RANGE_BEGIN_FUNCTION;
        if (event.kind != memoir::v1::STEP) continue;
        const std::uint64_t expected = next_step.try_emplace(run.thread, event.step).first->second++;
        EXPECT_EQ(event.step, expected);
      }
    }
  }
  std::uint64_t expected_calls = (kQuietSteps + 6) / 7;
  std::vector<std::uint64_t> steps;
  for (const auto& [thread, count] : next_step) {
    EXPECT_GT(count, kQuietSteps) << "records of the thread that has been quiet since";
    steps.push_back(count);
    expected_calls += (count + 6) / 7;
  }
  std::sort(steps.begin(), steps.end());
  std::sort(counts.begin(), counts.end());
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_GE(steps[i], counts[i]);
  if (steps.size() < counts.size()) return false;
  EXPECT_LE(calls, expected_calls);
  EXPECT_GE(calls + counts.size(), expected_calls) << "the kill may have come before the last one of each thread";
  return true;
}

// MEMOIR_TEST_LONG=1: two hundred of them.
TEST(Drain, KillsAfterEviction) {
  std::mt19937 random(3);
  const int rounds = std::getenv("MEMOIR_TEST_LONG") != nullptr ? 200 : 25;
  int complete = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Victim victim(256 * 1024);
    victim.WaitForEviction();
    victim.KillAfter(static_cast<unsigned>(random() % 30'000));
    const Outcome outcome = Drain(victim.ring());
    ASSERT_EQ(outcome.exit, 0) << outcome.errors;
    DecodedCapture capture = DecodeKilled(victim.capture());
    capture.ForgetBeforeGaps();
    complete += CheckEvicted(capture, victim.counts());
    EXPECT_EQ(capture.end().reason(), memoir::v1::End::MERGED);
    EXPECT_GT(capture.counters().folded_parts(), 0u);
    if (HasFailure()) break;
  }
  EXPECT_GT(complete, 0);
}

// As if it had died between appending and removing the ring.
TEST(Drain, TwiceIsTheSameAsOnce) {
  for (int round = 0; round < 5; ++round) {
    Victim victim;
    victim.KillAfter(15'000);
    const std::string ring = victim.ring();
    fs::copy_file(ring, ring + ".kept");
    EXPECT_EQ(Drain(ring).exit, 0);
    const auto once = Contents(victim.capture());
    EXPECT_EQ(Drain(ring).exit, 0) << "the ring is gone: done before";
    EXPECT_EQ(Contents(victim.capture()), once);
    fs::rename(ring + ".kept", ring);
    EXPECT_EQ(Drain(ring).exit, 0);
    EXPECT_EQ(Contents(victim.capture()), once);
    EXPECT_FALSE(fs::exists(ring));
  }
}

TEST(Drain, AKilledDrainIsDoneAgain) {
  std::mt19937 random(2);
  for (int round = 0; round < 25; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Victim victim;
    victim.KillAfter(15'000);
    const std::string ring = victim.ring();
    for (int kills = 0; kills < 3; ++kills) {
      const pid_t drain = Start({MEMOIR_DRAIN, ring});
      usleep(static_cast<useconds_t>(random() % 12'000));
      kill(drain, SIGKILL);
      Wait(drain);
    }
    EXPECT_EQ(Drain(ring).exit, 0);
    CheckCapture(DecodeKilled(victim.capture()), victim.counts());
  }
}

TEST(Drain, AnOrderlyEndNeedsNothing) {
  const TemporaryFolder folder;
  const Outcome outcome = Drain(folder.path() + "/gone");
  EXPECT_EQ(outcome.exit, 0);
}

TEST(Drain, RefusesARunningProcess) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  const Outcome outcome = Drain(RingPath());
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("still in use"));
}

TEST(Drain, RefusesWhatIsNoRing) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "hello";
  const Outcome outcome = Drain(folder.path() + "/file");
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("not a ring file"));
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
}

TEST(Drain, KeepsTheRingWhenTheCaptureIsGone) {
  Victim victim;
  victim.KillAfter(5'000);
  fs::remove_all(victim.capture());
  const Outcome outcome = Drain(victim.ring());
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("is gone"));
  EXPECT_NE(victim.ring(), "");
}

TEST(Drain, AFileSizeLimitIsNamedAndKeepsTheRing) {
  Victim victim;
  victim.KillAfter(5'000);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{350, before.rlim_max};  // room for the message, which goes to a file
  setrlimit(RLIMIT_FSIZE, &small);
  const Outcome outcome = Drain(victim.ring());
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("the ring is kept, raise the limit on file sizes (ulimit -f) and run again"));
  EXPECT_EQ(Drain(victim.ring()).exit, 0);
  CheckCapture(DecodeKilled(victim.capture()), victim.counts());
}

TEST(Drain, HelpAndUsage) {
  EXPECT_EQ(Wait(Start({MEMOIR_DRAIN, "--help"}, "/dev/null")), 0);
  EXPECT_EQ(Wait(Start({MEMOIR_DRAIN}, "/dev/null")), 2);
  EXPECT_EQ(Wait(Start({MEMOIR_DRAIN, "--or-remove"}, "/dev/null")), 2);
  EXPECT_EQ(Wait(Start({MEMOIR_DRAIN, "--list"}, "/dev/null")), 2);
}

}  // namespace
}  // namespace memoir::test
