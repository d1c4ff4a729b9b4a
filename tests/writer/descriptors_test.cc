// The program closes and opens descriptors while it is recorded: its files and the recording's stay as they were
// written. Where the writer gets no table of descriptors, and the program closes a part, the recording goes on with the
// next part.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "interpose/system/tick.h"
#include "tests/interpose/refused_calls.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tests/writer/step_stream.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace memoir::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

// The number under which the program has the file open; -1: under none.
int NumberOf(const std::string& path) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (fs::read_symlink(entry, error) == path) return std::stoi(entry.path().filename());
  }
  return -1;
}

// A recording, and the operators that it records.
class Recorded {
 public:
  explicit Recorded(const Recording::Options& options = {}) : recording(options) {}
  void Record(int operators) {
    for (int i = 0; i < operators; ++i) {
      for (Event& event : stream_.NextOperator()) {
        event.tick = Tick();
        if (producer_.Record(event)) ++events;
      }
    }
    recording.writer().Flush();
  }
  std::string Part() { return recording.writer().Status().part; }

  Recording recording;
  std::uint64_t events = 0;

 private:
  StepStream stream_;
  RingProducer producer_;
};

TEST(DescriptorsOfTheWriter, NoNumberOfTheProgramIsAParts) {
  Recorded recorded;
  ASSERT_TRUE(recorded.recording.ok()) << recorded.recording.error();
  recorded.Record(10);
  EXPECT_TRUE(fs::exists(recorded.Part()));
  EXPECT_EQ(NumberOf(recorded.Part()), -1);
}

// A checkpoint of the program's on each number that the writer may have over there.
TEST(DescriptorsOfTheWriter, NeitherSideReachesTheOthersFiles) {
  Recorded recorded;
  ASSERT_TRUE(recorded.recording.ok()) << recorded.recording.error();
  const TemporaryFolder folder;
  const std::string checkpoint = folder.path() + "/checkpoint";
  const std::string content(135, 'c');
  recorded.Record(100);
  const int file = open(checkpoint.c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
  std::vector<int> taken;
  for (int number = file + 1; number < file + 10; ++number) taken.push_back(fcntl(file, F_DUPFD, number));
  ASSERT_EQ(write(taken.back(), content.data(), content.size()), static_cast<ssize_t>(content.size()));
  recorded.Record(5000);
  recorded.recording.Stop();
  for (const int number : taken) EXPECT_EQ(close(number), 0);
  EXPECT_EQ(close(file), 0);
  EXPECT_EQ(fs::file_size(checkpoint), content.size());
  const DecodedCapture capture = DecodeFolder(recorded.recording.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  EXPECT_EQ(capture.parts.size(), 1u);
  EXPECT_EQ(capture.events(), recorded.events);
  EXPECT_EQ(capture.counters().lost_events(), 0u);
  EXPECT_EQ(capture.end().reason(), memoir::v1::End::STOPPED);
}

// A file in the place of a part that somebody removed is not the part.
TEST(DescriptorsOfTheWriter, AFileInThePartsPlaceIsNotWritten) {
  Recorded recorded;
  ASSERT_TRUE(recorded.recording.ok()) << recorded.recording.error();
  recorded.Record(100);
  const std::string part = recorded.Part();
  fs::remove(part);
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  ASSERT_EQ(write(file, "mine", 4), 4);
  close(file);
  recorded.Record(100);
  recorded.recording.Stop();
  EXPECT_EQ(fs::file_size(part), 4u);
  EXPECT_THAT(recorded.recording.status().last_write_error, HasSubstr(part));
}

// Two numbers for the ring and the part, one for /dev/null: the program's three are in another table.
int RecordWithThreeDescriptors(const std::string& folder) {
  rlimit usual{};
  getrlimit(RLIMIT_NOFILE, &usual);
  const rlimit three{3, usual.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &three) != 0) return 10;
  Recorded recorded({.capture = folder});
  if (!recorded.recording.ok()) return 11;
  recorded.Record(1000);
  recorded.recording.Stop();
  setrlimit(RLIMIT_NOFILE, &usual);
  const DecodedCapture capture = DecodeFolder(folder);
  return capture.errors.empty() && capture.events() == recorded.events ? 0 : 12;
}

TEST(DescriptorsOfTheWriter, ALimitOfThreeIsEnough) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) _exit(RecordWithThreeDescriptors(folder.path() + "/capture"));
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

// In a process whose kernel gives threads no table of their own.
int CloseThePart(const std::string& folder) {
  if (!RefuseCalls({SYS_close_range, SYS_unshare})) return 10;
  constexpr std::uint64_t kNever = ~std::uint64_t{0} / 2;
  Recorded recorded({.capture = folder, .retry_ns = kNever});
  if (!recorded.recording.ok()) return 11;
  recorded.Record(100);
  const int number = NumberOf(recorded.Part());
  if (number < 255 || close(number) != 0) return 12;
  recorded.Record(100);  // lost: it was for that part
  recorded.Record(100);
  recorded.recording.Stop();
  const DecodedCapture capture = DecodeFolder(folder);
  if (!capture.errors.empty() || capture.parts.size() != 2) return 13;
  if (capture.events() + capture.counters().lost_events() != recorded.events) return 14;
  return capture.counters().lost_events() < recorded.events / 2 ? 0 : 15;
}

TEST(DescriptorsOfTheWriter, AFailedWriteIsFollowedByTheNextPart) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) _exit(CloseThePart(folder.path() + "/capture"));
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

}  // namespace
}  // namespace memoir::test
