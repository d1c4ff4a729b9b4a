// Rings of processes that died, as another recording program handles them.
#include "tracker/session/dead_ring_drainer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t SecondsAgo(std::uint64_t seconds) {
  return (static_cast<std::uint64_t>(std::time(nullptr)) - seconds) * kSecond;
}

volatile sig_atomic_t children_that_ended = 0;

class DeadRingsTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(rings());
    fs::create_directory(capture());
  }
  std::string rings() const { return folder_.path() + "/rings"; }
  std::string capture() const { return folder_.path() + "/capture"; }
  std::string own() const { return rings() + "/own.ring"; }

  // A process that recorded ten numbers into `capture` and ended without a word; the path of its ring.
  std::string LeaveRing(const std::string& capture, std::uint64_t last_seen_ns = SecondsAgo(1)) {
    const std::string path_file = folder_.path() + "/path";
    const pid_t child = fork();
    if (child == 0) {
      char error[512];
      const std::string stem = "r00000.a0.host." + std::to_string(getpid());
      if (!RingOpen({rings().c_str(), kMinRingBytes, capture.c_str(), stem.c_str()}, error, sizeof error)) _exit(1);
      RingReader::OpenLive()->set_last_clock({1, 1, last_seen_ns});
      SetRecordingEnabled(true);
      for (std::uint64_t number = 0; number < 10; ++number) {
        if (!HookNumber(number)) _exit(2);
      }
      std::ofstream(path_file) << RingPath();
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    std::string path;
    std::getline(std::ifstream(path_file), path);
    EXPECT_TRUE(fs::exists(path)) << path;
    return path;
  }

  static void LookUntil(DeadRingDrainer& dead, const std::function<bool()>& done) {
    for (int tries = 0; tries < 60'000 && !done(); ++tries) {
      dead.Look();
      usleep(1000);
    }
    EXPECT_TRUE(done());
  }

  static std::size_t FilesIn(const std::string& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  TempFolder folder_;
};

TEST_F(DeadRingsTest, ThoseOfTheSameCaptureAreMergedOneAfterTheOther) {
  for (int i = 0; i < 3; ++i) LeaveRing(capture());
  DeadRingDrainer dead(own(), capture(), MEMOIR_DRAIN);
  LookUntil(dead, [this] { return FilesIn(rings()) == 0; });
  dead.Finish();
  EXPECT_EQ(FilesIn(capture()), 3u);
}

// A program must not find a child that it did not make.
TEST_F(DeadRingsTest, TheProgramSeesNoChild) {
  children_that_ended = 0;
  LeaveRing(capture());
  struct sigaction count {};
  struct sigaction before {};
  count.sa_handler = [](int) { children_that_ended = children_that_ended + 1; };
  sigaction(SIGCHLD, &count, &before);
  DeadRingDrainer dead(own(), capture(), MEMOIR_DRAIN);
  LookUntil(dead, [this] {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    return FilesIn(rings()) == 0;
  });
  dead.Finish();
  sigaction(SIGCHLD, &before, nullptr);
  EXPECT_EQ(children_that_ended, 0);
}

TEST_F(DeadRingsTest, ThoseOfOtherCapturesRestAWhile) {
  const std::string other = folder_.path() + "/other", old = folder_.path() + "/old";
  fs::create_directory(other);
  fs::create_directory(old);
  const std::string fresh = LeaveRing(other);
  LeaveRing(old, SecondsAgo(600));
  LeaveRing(capture());
  DeadRingDrainer dead(own(), capture(), MEMOIR_DRAIN);
  LookUntil(dead, [this] { return FilesIn(rings()) == 1; });
  dead.Finish();
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_EQ(FilesIn(other), 0u);
  EXPECT_EQ(FilesIn(old), 1u);
}

TEST_F(DeadRingsTest, ThoseWhoseCaptureIsGoneAreRemoved) {
  LeaveRing(capture());
  LeaveRing(folder_.path() + "/gone", SecondsAgo(600));
  fs::remove_all(capture());
  DeadRingDrainer dead(own(), capture(), MEMOIR_DRAIN);
  LookUntil(dead, [this] { return FilesIn(rings()) == 0; });
  EXPECT_FALSE(fs::exists(capture()));
}

TEST_F(DeadRingsTest, ARunningProcessKeepsItsRing) {
  ASSERT_EQ(OpenRingIn(rings(), kMinRingBytes), "");
  LeaveRing("/captures/here");
  DeadRingDrainer dead(RingPath(), "/captures/here", MEMOIR_DRAIN);
  LookUntil(dead, [this] { return FilesIn(rings()) == 1; });
  EXPECT_TRUE(fs::exists(RingPath()));
  RingClose();
}

TEST_F(DeadRingsTest, ADrainThatFailsIsNotTriedAgainAndAgain) {
  const std::string log = folder_.path() + "/log", program = folder_.path() + "/drain";
  std::ofstream(program) << "#!/bin/sh\necho \"$@\" >> " << log << "\nexit 1\n";
  chmod(program.c_str(), 0700);
  const auto lines = [&log] {
    std::ifstream file(log);
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  const std::string first = LeaveRing(capture()), second = LeaveRing(capture());
  DeadRingDrainer dead(own(), capture(), program);
  LookUntil(dead, [&] { return lines() == 2; });
  dead.Finish();
  for (int i = 0; i < 50; ++i) dead.Look();
  dead.Finish();
  EXPECT_EQ(lines(), 2);
  EXPECT_TRUE(fs::exists(first) && fs::exists(second));
}

TEST_F(DeadRingsTest, WithoutADrainTheyStay) {
  const std::string ring = LeaveRing(capture());
  for (const char* program : {"", "/no/such/program"}) {
    DeadRingDrainer dead(own(), capture(), program);
    for (int i = 0; i < 10; ++i) dead.Look();
    dead.Finish();
  }
  EXPECT_TRUE(fs::exists(ring));
}

}  // namespace
}  // namespace memoir
