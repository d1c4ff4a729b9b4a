#include "tools/cli/process/child_process.h"

#include <poll.h>
#include <unistd.h>

#include <csignal>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace memoir {
namespace {

TEST(RunChild, TheExitCodeIsTheChildsWhereWhoStartedUsIgnoresSigchld) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const ChildResult result = RunChild({"sh", "-c", "exit 3"}, {"PATH=/usr/bin:/bin"});
  EXPECT_EQ(std::signal(SIGCHLD, before), SIG_IGN) << "as it was";
  EXPECT_EQ(result.exit_code, 3);
}

TEST(CaptureOutput, WhatAProgramPrints) {
  EXPECT_EQ(*CaptureOutput({"sh", "-c", "echo a; echo b"}, 60), "a\nb\n");
  EXPECT_FALSE(CaptureOutput({"sh", "-c", "echo a; exit 1"}, 60).ok());
  EXPECT_FALSE(CaptureOutput({"/no/such/program"}, 60).ok());
}

// The pipe stands open as long as anything that the program started lives.
TEST(CaptureOutput, OneThatTakesTooLongIsEndedWithWhatItStarted) {
  int alive[2];
  ASSERT_EQ(pipe(alive), 0);
  const auto output = CaptureOutput({"sh", "-c", "sleep 1000 & sleep 1000; wait"}, 1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(output.status())) << output.status();
  EXPECT_THAT(std::string(output.status().message()), ::testing::HasSubstr("did not answer in 1 s"));
  close(alive[1]);
  pollfd closed = {alive[0], POLLIN, 0};
  EXPECT_EQ(poll(&closed, 1, 20'000), 1) << "a process of it is left";
  close(alive[0]);
}

}  // namespace
}  // namespace memoir
