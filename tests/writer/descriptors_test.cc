// The program closes descriptors that it did not open, and gets their numbers for files of its own: nothing may be
// written to these, cut off or closed, and the recording goes on by the part's path.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "interpose/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tests/writer/step_stream.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

// The number under which this process has the file open; -1: under none.
int NumberOf(const std::string& path) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (fs::read_symlink(entry, error) == path) return std::stoi(entry.path().filename());
  }
  return -1;
}

class DescriptorsOfTheWriter : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(recording_.ok()) << recording_.error(); }

  void Record(int operators) {
    for (int i = 0; i < operators; ++i) {
      for (Event& event : stream_.NextOperator()) {
        event.tick = Tick();
        ASSERT_TRUE(producer_.Record(event));
        ++recorded_;
      }
    }
    recording_.writer().Flush();
  }
  std::string Part() { return recording_.writer().Status().part; }

  // A checkpoint of the program's on the number of the part, which it has closed.
  void TakeThePartsNumber(std::size_t bytes) {
    number_ = NumberOf(Part());
    ASSERT_GE(number_, 0);
    const int file = open(checkpoint().c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(dup2(file, number_), number_);
    close(file);
    checkpoint_bytes_ = bytes;
    ASSERT_EQ(write(number_, std::string(bytes, 'c').data(), bytes), static_cast<ssize_t>(bytes));
  }
  std::string checkpoint() const { return folder_.path() + "/checkpoint"; }

  // Still open, as long as it was, and only the program's.
  void ExpectCheckpointUntouched() {
    EXPECT_EQ(lseek(number_, 0, SEEK_END), static_cast<off_t>(checkpoint_bytes_));
    std::ifstream file(checkpoint(), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(content == std::string(checkpoint_bytes_, 'c'));
    EXPECT_EQ(close(number_), 0);
  }

  void ExpectAllRecorded(std::size_t parts) {
    const DecodedCapture capture = DecodeFolder(recording_.folder());
    EXPECT_THAT(capture.errors, IsEmpty());
    EXPECT_EQ(capture.parts.size(), parts);
    EXPECT_EQ(capture.events(), recorded_);
    EXPECT_EQ(capture.counters().lost_events(), 0u);
    EXPECT_EQ(capture.end().reason(), memoir::v1::End::STOPPED);
  }

  TemporaryFolder folder_;
  Recording recording_;
  StepStream stream_;
  RingProducer producer_;
  std::uint64_t recorded_ = 0;
  int number_ = -1;
  std::size_t checkpoint_bytes_ = 0;
};

TEST_F(DescriptorsOfTheWriter, APartTakesNoNumberThatTheProgramWouldGet) {
  Record(10);
  EXPECT_GT(NumberOf(Part()), 255);
}

TEST_F(DescriptorsOfTheWriter, AClosedPartIsOpenedAnew) {
  Record(100);
  ASSERT_EQ(close(NumberOf(Part())), 0);
  Record(100);
  recording_.Stop();
  ExpectAllRecorded(1);
}

TEST_F(DescriptorsOfTheWriter, ACheckpointOnThePartsNumberGetsNoChunk) {
  Record(100);
  TakeThePartsNumber(135);
  Record(5000);
  recording_.Stop();
  ExpectCheckpointUntouched();
  ExpectAllRecorded(1);
}

TEST_F(DescriptorsOfTheWriter, AnOrderlyStopClosesNothingOfTheProgram) {
  Record(100);
  TakeThePartsNumber(135);
  recording_.Stop();
  ExpectCheckpointUntouched();
  ExpectAllRecorded(1);
}

// A write that fails gives back what it wrote of a chunk: only to the part.
TEST_F(DescriptorsOfTheWriter, ACheckpointIsNotCutOffAfterAFailedWrite) {
  signal(SIGXFSZ, SIG_IGN);
  Record(100);
  TakeThePartsNumber(5'000'000);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{fs::file_size(Part()) + 100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  Record(5000);
  setrlimit(RLIMIT_FSIZE, &before);
  recording_.Stop();
  ExpectCheckpointUntouched();
  const DecodedCapture capture = DecodeFolder(recording_.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  EXPECT_GT(capture.counters().lost_events(), 0u);
  EXPECT_EQ(capture.events() + capture.counters().lost_events(), recorded_);
}

// Neither is a file of the program's by the part's name taken for the part.
TEST_F(DescriptorsOfTheWriter, AFileInThePartsPlaceIsNotWritten) {
  Record(100);
  const std::string part = Part();
  ASSERT_EQ(close(NumberOf(part)), 0);
  fs::remove(part);
  std::ofstream(part) << "mine";
  Record(100);
  recording_.Stop();
  std::ifstream file(part);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(content, "mine");
  EXPECT_THAT(recording_.status().last_write_error, HasSubstr(part));
}

}  // namespace
}  // namespace memoir::test
