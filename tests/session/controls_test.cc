// A recording ends by itself or because the writer gives up. Functions of this file stand in for torch's hooks.
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <thread>

#include "tests/interpose/numbered_records.h"
#include "tracker/session/control/recording_controls.h"
#include "tracker/torch/hooks.h"

namespace memoir {

// Counts calls of functions that enter torch (`of_torch`), and requests that a thread of the program do so later
// (`to_look`, `to_leave`).
struct Asked {
  std::atomic<int> of_torch, to_look, to_leave;
  std::atomic<bool> holds;  // FindCudaBlocks waits while it is true
};
constinit Asked asked{};
constinit bool in_backward = false;  // detail_test.cc sets it

void EnableRangeHook(bool) { ++asked.of_torch; }
void WatchUserRanges(const RangeWatcher*) { ++asked.of_torch; }
void ForgetCudaBlocks() {}
void FindCudaBlocks() {
  ++asked.of_torch;
  asked.holds.wait(true);
}
void FindCudaBlocksLater() { ++asked.to_look; }
void RemoveRangeHookSoon() { ++asked.to_leave; }
void FlushKernelTimes() {}
bool InBackwardOrCompiler() { return in_backward; }

namespace {

bool IsDefault(int signal) {
  struct sigaction there {};
  sigaction(signal, nullptr, &there);
  return there.sa_handler == SIG_DFL;
}

TEST(RecordingControlsTest, TheSignalIsHarmlessUntilTheRecordingIsStopped) {
  const TempFolder folder;
  ASSERT_EQ(OpenRingIn(folder.path(), kDefaultRingBytes), "");
  ControlOptions options;
  options.toggle_signal = SIGUSR2;
  options.control_file = folder.path() + "/control";
  std::string warning;
  RecordingControls* controls = RecordingControls::Begin(options, &warning);
  EXPECT_EQ(warning, "");
  EXPECT_TRUE(controls->recording());
  controls->GiveUp();
  EXPECT_FALSE(controls->recording());
  ASSERT_FALSE(IsDefault(SIGUSR2)) << "it would end the program";
  raise(SIGUSR2);
  controls->End();
  EXPECT_TRUE(IsDefault(SIGUSR2));
  RingClose();
}

// The writer's thread may be out of memory, and a thread that switches the recording may wait for the writer.
TEST(RecordingControlsTest, GivingUpCallsNothingOfTorchsAndWaitsForNobody) {
  const TempFolder folder;
  ASSERT_EQ(OpenRingIn(folder.path(), kDefaultRingBytes), "");
  std::string warning;
  RecordingControls* controls = RecordingControls::Begin({}, &warning);
  ASSERT_TRUE(controls->RequestLevel(RecordingLevel::kOff));
  asked.holds = true;
  const int before = asked.of_torch;
  std::thread resumes([&] { controls->RequestLevel(RecordingLevel::kAll); });
  while (asked.of_torch < before + 2) std::this_thread::yield();  // until `resumes` is in FindCudaBlocks
  ASSERT_TRUE(RecordingEnabled());
  const int leaves = asked.to_leave;
  controls->GiveUp();
  EXPECT_EQ(asked.of_torch, before + 2);
  EXPECT_EQ(asked.to_leave, leaves + 1);
  EXPECT_FALSE(RecordingEnabled());
  asked.holds = false;
  asked.holds.notify_all();
  resumes.join();
  EXPECT_FALSE(RecordingEnabled()) << "who was switching on meanwhile has not";
  EXPECT_FALSE(controls->RequestLevel(RecordingLevel::kAll));
  controls->End();
  RingClose();
}

sigjmp_buf out_of_the_step;
volatile sig_atomic_t is_in_step = 0;
volatile sig_atomic_t jumps = 0;

void JumpOut(int) {
  if (is_in_step == 0) return;
  is_in_step = 0;
  jumps = jumps + 1;
  siglongjmp(out_of_the_step, 1);
}

// Makes steps, each of which switches the recording, until the handler has jumped out of `most_jumps` of them, from any
// place.
void StepUntil(int most_jumps) {
  static std::uint64_t step;
  const auto next = [](RecordingControls& own) {
    own.Step(++step);
    return true;
  };
  sigsetjmp(out_of_the_step, 1);
  while (jumps < most_jumps) {
    is_in_step = 1;
    RecordingControls::WithCurrent(next, false);
    is_in_step = 0;
  }
}

// A library that limits the time of its calls may have such a signal handler.
TEST(RecordingControlsTest, AHandlerThatJumpsAwayTakesNoLockWithIt) {
  const TempFolder folder;
  ASSERT_EQ(OpenRingIn(folder.path(), kDefaultRingBytes), "");
  ControlOptions options;
  options.windows.schedule = WindowOptions::Schedule{.wait = 1, .active = 1};
  std::string warning;
  RecordingControls* controls = RecordingControls::Begin(options, &warning);
  struct sigaction jump {}, before {};
  jump.sa_handler = &JumpOut;
  ASSERT_EQ(sigaction(SIGALRM, &jump, &before), 0);
  const itimerval often{.it_interval = {.tv_sec = 0, .tv_usec = 100}, .it_value = {.tv_sec = 0, .tv_usec = 100}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  StepUntil(500);
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);

  std::promise<void> ended;
  std::thread([&] {
    controls->End();
    ended.set_value();
  }).detach();
  const auto left = ended.get_future().wait_for(std::chrono::seconds(3));
  EXPECT_EQ(left, std::future_status::ready) << "a jump has left the switch locked";
  if (left == std::future_status::ready) RingClose();
}

TEST(RecordingControlsTest, WhatTheFileSaysIsDoneWithoutTorchOnTheWritersThread) {
  const TempFolder folder;
  ASSERT_EQ(OpenRingIn(folder.path(), kDefaultRingBytes), "");
  ControlOptions options;
  options.control_file = folder.path() + "/control";
  std::string warning;
  RecordingControls* controls = RecordingControls::Begin(options, &warning);
  const auto says = [&](const char* word, RecordingLevel level) {
    std::ofstream(options.control_file) << word;
    for (; controls->level() != level; std::this_thread::yield()) controls->Look();
  };
  const int to_leave = asked.to_leave, to_look = asked.to_look;
  int of_torch = asked.of_torch;
  says("off", RecordingLevel::kOff);
  EXPECT_EQ(asked.of_torch, of_torch);
  EXPECT_EQ(asked.to_leave, to_leave + 1);
  says("memory", RecordingLevel::kMemory);
  EXPECT_EQ(asked.of_torch, ++of_torch) << "the hook is put in, which asks nothing of the thread";
  EXPECT_EQ(asked.to_look, to_look + 1);
  EXPECT_EQ(asked.to_leave, to_leave + 2) << "it looks once";
  says("on", RecordingLevel::kAll);
  EXPECT_EQ(asked.of_torch, ++of_torch);
  controls->End();
  RingClose();
}

}  // namespace
}  // namespace memoir
