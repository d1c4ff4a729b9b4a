// The end of a recording, by its own hand and by the writer's; the room of torch's hooks is played here.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/interpose/numbered_records.h"
#include "tracker/session/recording_controls.h"
#include "tracker/torch/hooks.h"

namespace memoir {

void EnableRangeHook(bool) {}
void WatchUserRanges(const RangeWatcher*) {}
void ForgetCudaBlocks() {}
void FindCudaBlocks() {}

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

}  // namespace
}  // namespace memoir
