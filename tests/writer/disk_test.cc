// Disks that are full, small, read-only: recording goes on, losses are counted, and later events are recorded again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "interpose/system/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tests/writer/step_stream.h"
#include "tracker/writer/file/part_sink.h"

namespace {
std::atomic<int> closes_that_fail{0};
}

// As on a network file system that had no room when it came to write: the file is closed, its bytes may be gone.
extern "C" int __real_close(int file);
extern "C" int __wrap_close(int file);
int __wrap_close(int file) {
  char name[4096] = "";
  [[maybe_unused]] const auto size =
      readlink(("/proc/thread-self/fd/" + std::to_string(file)).c_str(), name, sizeof(name) - 1);
  const int result = __real_close(file);
  if (!std::string_view(name).ends_with(".memoir")) return result;
  if (closes_that_fail.fetch_sub(1) <= 0) return result;
  errno = EIO;
  return -1;
}

namespace memoir::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::uint64_t RecordOperators(int operators, StepStream* stream, RingProducer* producer) {
  std::uint64_t events = 0;
  for (int i = 0; i < operators; ++i) {
    for (Event& event : stream->NextOperator()) {
      event.tick = Tick();
      EXPECT_TRUE(producer->Record(event));
      ++events;
    }
  }
  return events;
}

// A file system of one's own, or none where that is not allowed.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& size) {
    mounted_ = mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const std::string& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  bool mounted_;
};

void Fill(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const std::string block(4096, 'x');
  while (file.write(block.data(), 4096) && file.flush()) {
  }
}

// First part, loss, and the events recorded after the disk had room again.
void CheckLossIsCounted(const DecodedCapture& capture, std::uint64_t recorded) {
  EXPECT_THAT(capture.errors, IsEmpty());
  const memoir::v1::Counters& counters = capture.counters();
  EXPECT_GT(counters.lost_events(), 0u);
  EXPECT_GT(counters.lost_chunks(), 0u);
  EXPECT_EQ(capture.events() + counters.lost_events(), recorded);
  // Each lost chunk leaves a gap in the sequence (as does a part that could not be begun or closed).
  std::uint64_t seen = capture.chunks().size();
  for (std::size_t i = 0; i + 1 < capture.parts.size(); ++i) seen += capture.parts[i].has_index ? 1 : 0;
  EXPECT_GE(capture.chunks().back()->header.sequence() + 1, seen + counters.lost_chunks());
}

TEST(Disk, FullAndFreedAgain) {
  const SmallDisk disk("1m");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  Recording recording({.capture = disk.path() + "/capture"});
  ASSERT_TRUE(recording.ok()) << recording.error();
  StepStream stream;
  RingProducer producer;
  std::uint64_t recorded = RecordOperators(1000, &stream, &producer);
  recording.writer().Flush();
  EXPECT_EQ(recording.writer().Status().lost_events, 0u);

  Fill(disk.path() + "/filler");
  for (int i = 0; i < 5; ++i) {
    recorded += RecordOperators(2000, &stream, &producer);
    recording.writer().Flush();
  }
  const WriterStatus full = recording.writer().Status();
  EXPECT_GT(full.lost_events, 0u);
  EXPECT_THAT(full.last_write_error, HasSubstr("No space left on device"));

  std::filesystem::remove(disk.path() + "/filler");
  recorded += RecordOperators(1000, &stream, &producer);
  recording.writer().Flush();
  EXPECT_EQ(recording.writer().Status().lost_events, full.lost_events) << "recorded again at once";
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  CheckLossIsCounted(capture, recorded);
  ASSERT_GT(capture.parts.size(), 1u);
  EXPECT_EQ(capture.end().reason(), memoir::v1::End::STOPPED);
  // The sums of the last part's keyframe know of the lost events too.
  const memoir::v1::Keyframe& keyframe = capture.parts.back().chunks.front().payload.keyframe();
  EXPECT_GT(keyframe.events_before() + 4000, recorded - 4000);
  EXPECT_EQ(keyframe.devices(0).allocations(), keyframe.events_before() / 4);
}

// A part that may not grow is left and another one begun.
TEST(Disk, FileSizeLimit) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  Recording recording;  // its ring is larger than the limit and exists already
  ASSERT_TRUE(recording.ok()) << recording.error();
  const rlimit small{100'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  StepStream stream;
  RingProducer producer;
  std::uint64_t recorded = 0;
  for (int i = 0; i < 40; ++i) {
    recorded += RecordOperators(1000, &stream, &producer);
    recording.writer().Flush();
  }
  recording.Stop();
  setrlimit(RLIMIT_FSIZE, &before);
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_GT(capture.parts.size(), 2u);
  EXPECT_EQ(recording.status().events + recording.status().lost_events, recorded);
  EXPECT_GT(recording.status().events, recorded / 3);
  CheckLossIsCounted(capture, recorded);
  EXPECT_THAT(recording.status().last_write_error, HasSubstr("File too large"));
}

// Without a flush, which would try again by itself: each part loses only the chunk that did not fit.
TEST(Disk, ThePartAfterTheFileSizeLimitComesAtOnce) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  Recording recording({.capture = "", .part_bytes = 1u << 20});  // chunks of 64 KiB
  ASSERT_TRUE(recording.ok()) << recording.error();
  const rlimit small{60'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  StepStream stream;
  RingProducer producer;
  const std::uint64_t recorded = RecordOperators(60'000, &stream, &producer);
  recording.Stop();
  setrlimit(RLIMIT_FSIZE, &before);
  const DecodedCapture capture = DecodeFolder(recording.folder());
  CheckLossIsCounted(capture, recorded);
  EXPECT_GT(capture.parts.size(), 4u);
  EXPECT_LE(recording.status().lost_chunks, capture.parts.size());
}

// Where not even a first chunk fits it is not tried for every chunk: not before the time to try again, which is not
// within this test's.
TEST(Disk, AFileSizeLimitThatNoChunkKeepsIsNotTriedAgainAndAgain) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  Recording recording({.capture = "", .part_bytes = 1u << 20, .retry_ns = 3'600'000'000'000});
  ASSERT_TRUE(recording.ok()) << recording.error();
  const rlimit small{4'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  StepStream stream;
  RingProducer producer;
  const std::uint64_t recorded = RecordOperators(20'000, &stream, &producer);
  SetRecordingEnabled(false);
  while (recording.writer().Status().lost_chunks < 8) usleep(1000);
  setrlimit(RLIMIT_FSIZE, &before);
  recording.Stop();
  const WriterStatus status = recording.status();
  EXPECT_EQ(status.events + status.lost_events, recorded);
  // Each part that failed would have used a number in addition to the lost chunks'.
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_EQ(capture.chunks().back()->header.sequence() + 1, capture.chunks().size() + status.lost_chunks);
}

TEST(Disk, TheAdviceFitsTheCause) {
  EXPECT_THAT(RemedyFor(EFBIG), HasSubstr("raise the limit on file sizes (ulimit -f), or choose another folder"));
  EXPECT_THAT(RemedyFor(EDQUOT), HasSubstr("quota"));
  EXPECT_THAT(RemedyFor(ENOSPC), HasSubstr("make room there"));
  EXPECT_EQ(RemedyFor(EIO).rfind("choose another folder", 0), 0u);
}

// A daemon's: what it writes to its old streams must not become part of the capture.
TEST(Disk, ClosedStandardStreamsAreNotUsed) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    for (int stream = 0; stream <= 2; ++stream) close(stream);
    Recording recording({.capture = folder.path() + "/capture"});
    if (!recording.ok()) _exit(10);
    for (int stream = 0; stream <= 2; ++stream) {
      if (write(stream, "stray", 5) != -1) _exit(stream + 1);
    }
    recording.Stop();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  EXPECT_THAT(DecodeFolder(folder.path() + "/capture").errors, IsEmpty());
}

TEST(Disk, AFolderThatCannotBeMade) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  for (const std::string& capture : {folder.path() + "/file/capture", folder.path() + "/file"}) {
    Recording recording({.capture = capture});
    EXPECT_FALSE(recording.ok());
    EXPECT_THAT(recording.error(),
                HasSubstr("cannot make the folder " + capture + ": Not a directory; a file is in the way"));
    EXPECT_THAT(recording.error(), HasSubstr("MEMOIR_OUTPUT"));
  }
}

TEST(Disk, AFolderThatMayNotBeMade) {
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::none);
  // Root may do anything, so a child does it as somebody else. Below the locked folder nothing can even be looked at.
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && setuid(65534) != 0) _exit(2);
    const std::string error = MakeFolder(folder.path() + "/a/b");
    const bool right = error == "cannot make the folder " + folder.path() +
                                    "/a/b: Permission denied; ask for permission to write there, or choose another "
                                    "folder (MEMOIR_OUTPUT, --output)";
    if (!right) std::fprintf(stderr, "%s\n", error.c_str());
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  EXPECT_EQ(status, 0);
}

TEST(Disk, AFolderOnAFullDisk) {
  const SmallDisk disk("16k,nr_inodes=2");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  EXPECT_THAT(MakeFolder(disk.path() + "/a/b/c"),
              HasSubstr("No space left on device; make room there, or choose another folder"));
}

TEST(Disk, AFolderOnAReadOnlyDisk) {
  const SmallDisk disk("1m,ro");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  EXPECT_THAT(MakeFolder(disk.path() + "/a"), HasSubstr("Read-only file system; choose another folder"));
}

TEST(Disk, APartThatCannotBeClosedCountsAsLost) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  StepStream stream;
  RingProducer producer;
  RecordOperators(10, &stream, &producer);
  closes_that_fail = 1;
  recording.Stop();
  closes_that_fail = 0;
  EXPECT_EQ(recording.status().lost_chunks, 1u);
  EXPECT_THAT(recording.status().last_write_error, HasSubstr("cannot close " + recording.folder()));
  EXPECT_THAT(recording.status().last_write_error, HasSubstr("Input/output error"));
}

// The following parts report it.
TEST(Disk, AnEarlierPartThatCouldNotBeClosedIsInTheCounters) {
  Recording recording({.capture = "", .part_bytes = 20'000});
  ASSERT_TRUE(recording.ok()) << recording.error();
  StepStream stream;
  RingProducer producer;
  closes_that_fail = 1;
  for (int i = 0; i < 10; ++i) {
    RecordOperators(1000, &stream, &producer);
    recording.writer().Flush();
  }
  recording.Stop();
  closes_that_fail = 0;
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_GT(capture.parts.size(), 1u);
  EXPECT_EQ(capture.counters().lost_chunks(), 1u);
  EXPECT_EQ(capture.counters().lost_events(), 0u);
  EXPECT_THAT(capture.counters().last_write_error(), HasSubstr("cannot close"));
}

TEST(Disk, AReadOnlyFolder) {
  const SmallDisk disk("1m");
  if (!disk.mounted())
    GTEST_SKIP() << "mounting a tmpfs needs root, and to root no folder is read-only but on such a disk";
  std::filesystem::create_directory(disk.path() + "/capture");
  ASSERT_EQ(mount(nullptr, disk.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  Recording recording({.capture = disk.path() + "/capture"});
  EXPECT_FALSE(recording.ok());
  EXPECT_THAT(recording.error(),
              HasSubstr("cannot create " + disk.path() + "/capture/r00000.a0.testhost.1.p0000.memoir"));
  EXPECT_THAT(recording.error(), HasSubstr("Read-only file system"));
  EXPECT_THAT(recording.error(), HasSubstr("choose another folder"));
}

TEST(Disk, WithoutARingThereIsNoWriter) {
  const TemporaryFolder folder;
  std::string error;
  WriterOptions options;
  options.folder = folder.path();
  options.stem = kStem;
  EXPECT_EQ(Writer::Start(options, &error), nullptr);
  EXPECT_THAT(error, HasSubstr("no event ring is open in this process; open one"));
}

TEST(Disk, EarlierPartsAreNotOverwritten) {
  const TemporaryFolder folder;
  std::uint64_t recorded = 0;
  for (int run = 0; run < 3; ++run) {
    Recording recording({.capture = folder.path() + "/capture"});
    ASSERT_TRUE(recording.ok()) << recording.error();
    StepStream stream;
    RingProducer producer;
    recorded += RecordOperators(10, &stream, &producer);
  }
  const DecodedCapture capture = DecodeFolder(folder.path() + "/capture");
  EXPECT_THAT(capture.errors, IsEmpty());
  EXPECT_EQ(capture.parts.size(), 3u);
  EXPECT_EQ(capture.events(), recorded);
}

}  // namespace
}  // namespace memoir::test
