// The end of a recording, by its own hand and by the writer's; the room of torch's hooks is played here.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/interpose/numbered_records.h"
#include "tracker/session/recording_controls.h"
#include "tracker/torch/hooks.h"

namespace memoir {

// How often the program's threads and the writer's have come into torch, and what they asked for.
struct Asked {
  std::atomic<int> of_torch, to_look, to_leave;
  std::atomic<bool> holds;  // FindCudaBlocks does not return
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
void FindCudaBlocksSoon() { ++asked.to_look; }
void LetRangeHookLeave() { ++asked.to_leave; }
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

// The writer's thread may have no memory, and whoever switches may wait for the writer.
TEST(RecordingControlsTest, GivingUpCallsNothingOfTorchsAndWaitsForNobody) {
  const TempFolder folder;
  ASSERT_EQ(OpenRingIn(folder.path(), kDefaultRingBytes), "");
  std::string warning;
  RecordingControls* controls = RecordingControls::Begin({}, &warning);
  ASSERT_TRUE(controls->Want(RecordingLevel::kOff));
  asked.holds = true;
  const int before = asked.of_torch;
  std::thread resumes([&] { controls->Want(RecordingLevel::kAll); });
  while (asked.of_torch < before + 2) std::this_thread::yield();  // it is in FindCudaBlocks, and holds the switch
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
  EXPECT_FALSE(controls->Want(RecordingLevel::kAll));
  controls->End();
  RingClose();
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
