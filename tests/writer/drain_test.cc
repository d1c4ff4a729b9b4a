// A recorded process is killed at random instants; afterwards memoir-drain must have brought everything it committed
// into the capture, once.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

#include "interpose/ring_reader.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tracker/writer/part_sink.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kThreads = 2;

// Starts a program; what it prints goes to `errors` when given.
pid_t Start(const std::vector<std::string>& command, const std::string& errors = "") {
  const pid_t child = fork();
  if (child != 0) return child;
  if (!errors.empty()) {
    dup2(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600), STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

int Wait(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct Outcome {
  int exit;
  std::string errors;
};

Outcome RunDrain(std::vector<std::string> command) {
  const TemporaryFolder folder;
  const std::string errors = folder.path() + "/errors";
  command.insert(command.begin(), MEMOIR_DRAIN);
  const int exit = Wait(Start(command, errors));
  std::ifstream file(errors);
  return {exit, {std::istreambuf_iterator<char>(file), {}}};
}

Outcome Drain(const std::string& ring) { return RunDrain({ring}); }

class Victim {
 public:
  explicit Victim(std::uint64_t max_bytes = 0)
      : capture_(folder_.path() + "/capture"), rings_(folder_.path() + "/rings") {
    fs::create_directory(rings_);
    const std::string count_file = folder_.path() + "/counts";
    const int file = open(count_file.c_str(), O_RDWR | O_CREAT, 0600);
    EXPECT_EQ(ftruncate(file, 4096), 0);
    counts_ =
        static_cast<std::atomic<std::uint64_t>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    close(file);
    std::vector<std::string> command = {MEMOIR_KILL_VICTIM, rings_, capture_, count_file, std::to_string(kThreads)};
    if (max_bytes != 0) command.push_back(std::to_string(max_bytes));
    child_ = Start(command);
  }
  ~Victim() { munmap(counts_, 4096); }

  // Once its capture has a part of this number or a later one.
  void WaitForPart(std::uint32_t number) {
    for (;;) {
      ASSERT_EQ(waitpid(child_, nullptr, WNOHANG), 0) << "the victim ended by itself";
      if (!fs::is_directory(capture_)) continue;
      for (const auto& entry : fs::directory_iterator(capture_))
        if (entry.path().filename() >= PartPath("", kStem, number).substr(1)) return;
      usleep(500);
    }
  }

  // Once it records, after so many microseconds more.
  void KillAfter(unsigned microseconds) {
    while (counts_[0].load() == 0) {
      ASSERT_EQ(waitpid(child_, nullptr, WNOHANG), 0) << "the victim ended by itself";
      usleep(200);
    }
    usleep(microseconds);
    kill(child_, SIGKILL);
    EXPECT_EQ(Wait(child_), -SIGKILL);
  }

  std::string ring() const {
    for (const auto& entry : fs::directory_iterator(rings_)) return entry.path();
    return "";
  }
  const std::string& capture() const { return capture_; }
  const std::string& rings() const { return rings_; }
  pid_t pid() const { return child_; }
  std::vector<std::uint64_t> counts() const {
    std::vector<std::uint64_t> counts(kThreads);
    for (int i = 0; i < kThreads; ++i) counts[static_cast<std::size_t>(i)] = counts_[i].load();
    return counts;
  }

 private:
  TemporaryFolder folder_;
  std::string capture_;
  std::string rings_;
  std::atomic<std::uint64_t>* counts_;
  pid_t child_;
};

// Every record once and in order, and at least as many steps as were counted.
void CheckCapture(const DecodedCapture& capture, std::vector<std::uint64_t> counts) {
  std::map<std::uint32_t, std::uint64_t> next_record, next_step;
  for (const DecodedChunk* chunk : capture.chunks()) {
    for (const DecodedRun& run : chunk->runs) {
      ASSERT_EQ(run.first_record, next_record[run.thread]) << "records doubled or lost on thread " << run.thread;
      next_record[run.thread] += run.record_count;
      for (const Event& event : run.events) {
        if (event.kind != memoir::v1::STEP) continue;
        ASSERT_EQ(event.step, next_step[run.thread]++);
      }
    }
  }
  std::vector<std::uint64_t> steps;
  for (const auto& [thread, count] : next_step) steps.push_back(count);
  steps.resize(counts.size());
  // Which thread counts where is not known: each count has its own thread, so compare them sorted.
  std::sort(steps.begin(), steps.end());
  std::sort(counts.begin(), counts.end());
  for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_GE(steps[i], counts[i]);
}

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

// Decoding is strict, apart from a chunk that the kill cut.
DecodedCapture DecodeKilled(const std::string& folder) {
  DecodedCapture capture = DecodeFolder(folder);
  EXPECT_THAT(capture.errors, IsEmpty());
  return capture;
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

// What is left goes on without a gap from the sums of its first keyframe, and comes to what the victim counted. Returns
// whether each thread has steps left: on a busy machine one may not have run since what is left began.
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
      for (const Event& event : run.events) {
        calls += event.kind == memoir::v1::RANGE_BEGIN_FUNCTION;
        if (event.kind != memoir::v1::STEP) continue;
        const std::uint64_t expected = next_step.try_emplace(run.thread, event.step).first->second++;
        EXPECT_EQ(event.step, expected);
      }
    }
  }
  std::uint64_t expected_calls = 1;  // of the quiet thread
  std::vector<std::uint64_t> steps;
  for (const auto& [thread, count] : next_step) {
    EXPECT_GT(count, 5u) << "records of the thread that has been quiet since";
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
    victim.WaitForPart(9);
    victim.KillAfter(static_cast<unsigned>(random() % 30'000));
    const Outcome outcome = Drain(victim.ring());
    ASSERT_EQ(outcome.exit, 0) << outcome.errors;
    const DecodedCapture capture = DecodeKilled(victim.capture());
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

TEST(Drain, RemovesTheRingOfACaptureThatIsGoneWhereThatIsAsked) {
  Victim victim;
  victim.KillAfter(5'000);
  const std::string ring = victim.ring(), capture = victim.capture();
  ASSERT_EQ(RunDrain({"--or-remove", ring}).exit, 0);
  CheckCapture(DecodeKilled(capture), victim.counts());
  EXPECT_EQ(victim.ring(), "");

  Victim gone;
  gone.KillAfter(5'000);
  fs::remove_all(gone.capture());
  EXPECT_EQ(RunDrain({"--or-remove", gone.ring()}).exit, 0);
  EXPECT_EQ(gone.ring(), "");
  EXPECT_FALSE(fs::exists(gone.capture()));
}

// What `memoir doctor` reads.
TEST(Drain, ListsAndCleansTheRingsOfAFolder) {
  Victim victim;
  EXPECT_EQ(RunDrain({"--list", victim.rings()}).errors, "") << "it may be running";
  victim.KillAfter(5'000);
  const std::string ring = victim.ring();
  struct stat status;
  ASSERT_EQ(stat(ring.c_str(), &status), 0);
  const auto line = [&](const std::string& what, const std::string& text) {
    return ring + "\t" + std::to_string(status.st_blocks * 512) + "\t" + std::to_string(victim.pid()) + "\t" + what +
           "\t" + text + "\n";
  };
  EXPECT_EQ(RunDrain({"--list", "/no/such/folder", victim.rings()}).errors, line("merge", victim.capture()));
  fs::rename(victim.capture(), victim.capture() + ".moved");
  EXPECT_EQ(RunDrain({"--list", victim.rings()}).errors, line("gone", victim.capture()));
  fs::rename(victim.capture() + ".moved", victim.capture());
  EXPECT_EQ(RunDrain({"--clean", victim.rings()}).errors, line("merged", victim.capture()));
  CheckCapture(DecodeKilled(victim.capture()), victim.counts());
  EXPECT_EQ(RunDrain({"--clean", victim.rings()}).errors, "");

  std::ofstream(victim.rings() + "/memoir-ring-1-1.ring") << "cut short";
  EXPECT_THAT(RunDrain({"--clean", victim.rings()}).errors, HasSubstr("\t1\tforeign\t\n"));
}

// A recording process may be at it when `memoir` comes along.
TEST(Drain, WaitsForAnotherDrain) {
  Victim victim;
  victim.KillAfter(5'000);
  char error[512];
  std::unique_ptr<RingReader> other(RingReader::OpenFile(victim.ring().c_str(), error, sizeof error));
  ASSERT_NE(other, nullptr) << error;
  EXPECT_EQ(RunDrain({"--list", victim.rings()}).errors, "") << "it is locked";
  const pid_t drain = Start({MEMOIR_DRAIN, victim.ring()});
  usleep(100'000);  // so that it finds the lock
  EXPECT_EQ(waitpid(drain, nullptr, WNOHANG), 0);
  other.reset();
  EXPECT_EQ(Wait(drain), 0);
  CheckCapture(DecodeKilled(victim.capture()), victim.counts());
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
