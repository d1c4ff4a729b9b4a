// A process that records until it is killed, memoir-drain as another one, and what must then be in the capture.
#ifndef TESTS_WRITER_VICTIM_H_
#define TESTS_WRITER_VICTIM_H_

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/step_stream.h"

namespace memoir::test {

inline constexpr int kThreads = 2;

// Starts a program; what it prints goes to `errors` when given.
inline pid_t Start(const std::vector<std::string>& command, const std::string& errors = "") {
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

inline int Wait(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct Outcome {
  int exit;
  std::string errors;
};

inline Outcome RunDrain(std::vector<std::string> command) {
  const TemporaryFolder folder;
  const std::string errors = folder.path() + "/errors";
  command.insert(command.begin(), MEMOIR_DRAIN);
  const int exit = Wait(Start(command, errors));
  std::ifstream file(errors);
  return {exit, {std::istreambuf_iterator<char>(file), {}}};
}

inline Outcome Drain(const std::string& ring) { return RunDrain({ring}); }

class Victim {
 public:
  explicit Victim(std::uint64_t max_bytes = 0)
      : capture_(folder_.path() + "/capture"), rings_(folder_.path() + "/rings") {
    std::filesystem::create_directory(rings_);
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

  // Once what its quiet thread recorded is evicted: a full ring, from which it may come last, fills four parts, and
  // five are kept.
  void WaitForEviction() {
    std::string last;
    for (int parts = 0; parts < 16; usleep(500)) {
      ASSERT_EQ(waitpid(child_, nullptr, WNOHANG), 0) << "the victim ended by itself";
      if (counts_[kThreads].load() != kQuietSteps) continue;
      const std::string newest = NewestPart();
      if (newest <= last) continue;  // a listing can miss one while others come and go
      ++parts;
      last = newest;
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
    for (const auto& entry : std::filesystem::directory_iterator(rings_)) return entry.path();
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
  std::string NewestPart() const {
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator(capture_))
      newest = std::max(newest, entry.path().string());
    return newest;
  }

  TemporaryFolder folder_;
  std::string capture_;
  std::string rings_;
  std::atomic<std::uint64_t>* counts_;
  pid_t child_;
};

// The steps of a run; each is under its stack, whichever thread wrote the run.
inline void CheckStacks(const DecodedRun& run) {
  std::vector<FrameSeen> stack = run.start_stack;
  for (const Event& event : run.events) {
    if (event.kind == memoir::v1::STACK) stack = event.frames;
    if (event.kind == memoir::v1::STEP) {
      ASSERT_EQ(stack, StackAt(event.step)) << "step " << event.step;
    }
  }
}

// Every record once and in order, and at least as many steps as were counted.
inline void CheckCapture(const DecodedCapture& capture, std::vector<std::uint64_t> counts) {
  std::map<std::uint32_t, std::uint64_t> next_record, next_step;
  for (const DecodedChunk* chunk : capture.chunks()) {
    for (const DecodedRun& run : chunk->runs) {
      ASSERT_EQ(run.first_record, next_record[run.thread]) << "records doubled or lost on thread " << run.thread;
      next_record[run.thread] += run.record_count;
      ASSERT_NO_FATAL_FAILURE(CheckStacks(run));
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

// Decoding is strict, apart from a chunk that the kill cut.
inline DecodedCapture DecodeKilled(const std::string& folder) {
  DecodedCapture capture = DecodeFolder(folder);
  EXPECT_THAT(capture.errors, testing::IsEmpty());
  return capture;
}

}  // namespace memoir::test

#endif  // TESTS_WRITER_VICTIM_H_
