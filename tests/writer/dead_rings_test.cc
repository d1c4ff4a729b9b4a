// Rings of dead processes as `memoir doctor` and recording processes have memoir-drain deal with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "interpose/ring/ring_reader.h"
#include "tests/writer/victim.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(DeadRingDrainer, RemovesTheRingOfACaptureThatIsGoneWhereThatIsAsked) {
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

// The lines that `memoir doctor` reads.
TEST(DeadRingDrainer, ListsAndCleansTheRingsOfAFolder) {
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
TEST(DeadRingDrainer, WaitsForAnotherDrain) {
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

}  // namespace
}  // namespace memoir::test
