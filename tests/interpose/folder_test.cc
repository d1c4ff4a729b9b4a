// Folders for a ring, its smallest size, and the error if it cannot be made.
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "interpose/ring/process_ring.h"
#include "interpose/ring/ring_file.h"
#include "interpose/system/own_files.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

class FolderTest : public testing::Test {
 protected:
  void TearDown() override { RingClose(); }
  std::uint32_t Segments() const { return ring_state.map.segment_count; }
  TempFolder folder_;
};

// Fills every byte of the ring: a store that faults would end the test.
void RecordUntilFull() {
  SetRecordingEnabled(true);
  std::uint64_t kept = 0;
  while (HookNumber(kept, OnEmptyPool::kDrop)) ++kept;
  EXPECT_EQ(kept, std::uint64_t{ring_state.map.segment_count} * (kSegmentBytes / kNumberBytes));
}

TEST_F(FolderTest, AFolderOf64MiBTakesTheDefaultRing) {
  SmallFolder small("64m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  ASSERT_EQ(OpenRingIn(small.path(), kDefaultRingBytes), "");
  EXPECT_EQ(Segments(), kDefaultRingBytes / kSegmentBytes);
  RecordUntilFull();
}

TEST_F(FolderTest, ASmallerFolderTakesASmallerRing) {
  SmallFolder small("16m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  ASSERT_EQ(OpenRingIn(small.path(), kDefaultRingBytes), "");
  EXPECT_EQ(Segments(), kDefaultRingBytes / kSegmentBytes / 4);
  RecordUntilFull();
}

TEST_F(FolderTest, AFolderThatIsTooSmallIsNamedWithTheRoomNeeded) {
  SmallFolder small("4m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  const std::string error = OpenRingIn(small.path(), kDefaultRingBytes);
  EXPECT_NE(error.find(small.path()), std::string::npos) << error;
  EXPECT_NE(error.find("MiB needed, 4 MiB free; set MEMOIR_RING_DIR"), std::string::npos) << error;
  EXPECT_TRUE(small.IsEmpty());
}

TEST_F(FolderTest, ALimitOnFileSizesShrinksTheRingAndRaisesNoSignal) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{12u << 20, 12u << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    if (!OpenRingIn(folder_.path(), kDefaultRingBytes).empty()) _exit(1);
    _exit(ring_state.map.segment_count < kDefaultRingBytes / kSegmentBytes ? 0 : 2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(FolderTest, ALimitOnFileSizesIsNamedAndNoFolderIsAskedFor) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{3u << 20, 3u << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = OpenRingIn(folder_.path(), kDefaultRingBytes);
    const std::string cause = " MiB needed, the file size limit (ulimit -f) is 3072 KiB; raise that limit";
    if (error.find(cause) == std::string::npos || error.find("MEMOIR_RING_DIR") != std::string::npos) {
      std::fprintf(stderr, "%s\n", error.c_str());
      _exit(1);
    }
    char usual[1024] = "";
    unsetenv("MEMOIR_RING_DIR");
    if (RingOpen({nullptr, kDefaultRingBytes, nullptr, nullptr}, usual, sizeof usual)) _exit(2);
    _exit(std::string(usual).find(cause) == std::string::npos ? 3 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_F(FolderTest, ErrorsNameFolderCauseAndFix) {
  const std::string missing = OpenRingIn(folder_.path() + "/missing", kMinRingBytes);
  EXPECT_EQ(missing,
            "no ring in " + folder_.path() +
                "/missing: No such file or directory; set MEMOIR_RING_DIR to a writable folder on a local disk or "
                "in memory");
  std::ofstream(folder_.path() + "/file") << "x";
  EXPECT_NE(OpenRingIn(folder_.path() + "/file", kMinRingBytes).find("Not a directory"), std::string::npos);
  EXPECT_FALSE(RecordingEnabled());
}

TEST_F(FolderTest, AFolderThatMayNotBeWrittenIsNamed) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  const pid_t child = fork();  // as an ordinary user, for root may write anywhere
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(1);
    _exit(OpenRingIn(folder_.path(), kMinRingBytes).find("Permission denied; set MEMOIR_RING_DIR") ==
          std::string::npos);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(FolderTest, TheVariableChoosesTheFolder) {
  setenv("MEMOIR_RING_DIR", folder_.path().c_str(), 1);
  char error[512] = "";
  EXPECT_TRUE(RingOpen({nullptr, kMinRingBytes, nullptr, nullptr}, error, sizeof error)) << error;
  unsetenv("MEMOIR_RING_DIR");
  EXPECT_EQ(std::string(RingPath()).rfind(folder_.path() + "/memoir-ring-" + std::to_string(getpid()) + "-", 0), 0u);
  struct stat status;
  ASSERT_EQ(stat(RingPath(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_GE(static_cast<std::uint64_t>(status.st_blocks) * 512, OffsetsFor(Segments()).total);  // all allocated
}

TEST_F(FolderTest, TheStandardStreamsOfAProgramThatClosedThemStayClosed) {
  const pid_t child = fork();
  if (child == 0) {
    for (int stream = 0; stream <= 2; ++stream) close(stream);
    if (!OpenRingIn(folder_.path(), kMinRingBytes).empty()) _exit(10);
    for (int stream = 0; stream <= 2; ++stream) {
      if (fcntl(stream, F_GETFD) != -1) _exit(stream + 1);
    }
    int flags = -1;
    InOwnFiles([&] { flags = fcntl(ring_state.fd, F_GETFD); });
    _exit(flags >= 0 && (flags & FD_CLOEXEC) != 0 ? 0 : 11);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST(NetworkFileSystem, IsToldFromLocalOnes) {
  EXPECT_STREQ(NetworkFileSystem(NFS_SUPER_MAGIC), "NFS");
  EXPECT_STREQ(NetworkFileSystem(static_cast<std::int32_t>(CIFS_SUPER_MAGIC)), "CIFS");  // negative there
  EXPECT_STREQ(NetworkFileSystem(FUSE_SUPER_MAGIC), "FUSE");
  for (const long local :
       std::initializer_list<long>{TMPFS_MAGIC, EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC}) {
    EXPECT_EQ(NetworkFileSystem(local), nullptr);
  }
}

// The default folders in sizes that a test sets; in a child with private mounts.
class UsualPlacesTest : public FolderTest {
 protected:
  static bool Mount(const char* size, const char* where) {
    return mount("tmpfs", where, "tmpfs", 0, (std::string("size=") + size).c_str()) == 0;
  }
  // The path of the ring that a program would get there, or "error: ...".
  std::string OpenWith(const char* shared_memory, const char* temporary, const char* variable) {
    int ends[2];
    if (pipe(ends) != 0) return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
      const std::string result = OpenInChild(shared_memory, temporary, variable);
      _exit(write(ends[1], result.data(), result.size()) < 0);
    }
    close(ends[1]);
    char text[2048] = "";
    for (std::size_t at = 0; at < sizeof text - 1;) {
      const ssize_t size = read(ends[0], text + at, sizeof text - 1 - at);
      if (size <= 0) break;
      at += static_cast<std::size_t>(size);
    }
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return text;
  }

 private:
  static std::string OpenInChild(const char* shared_memory, const char* temporary, const char* variable) {
    unsetenv("MEMOIR_RING_DIR");
    unsetenv("TMPDIR");
    if (variable != nullptr) setenv("TMPDIR", variable, 1);
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "skip";
    if (!Mount(shared_memory, "/dev/shm")) return "skip";
    if (temporary != nullptr && !Mount(temporary, "/tmp")) return "skip";
    char error[1024] = "";
    if (!RingOpen({nullptr, kDefaultRingBytes, nullptr, nullptr}, error, sizeof error)) {
      return std::string("error: ") + error;
    }
    const std::string opened = std::to_string(ring_state.map.segment_count) + " " + RingPath();
    RingClose();
    return opened;
  }
};

TEST_F(UsualPlacesTest, MemoryIsTakenWhereThereIsTwiceTheRoom) {
  const std::string opened = OpenWith("1g", nullptr, folder_.path().c_str());
  if (opened == "skip") GTEST_SKIP() << "own mounts need root";
  EXPECT_EQ(opened.rfind("1024 /dev/shm/memoir-ring-", 0), 0u) << opened;
}

TEST_F(UsualPlacesTest, TheSharedMemoryOfAContainerIsLeftToTheProgram) {
  const std::string opened = OpenWith("64m", nullptr, folder_.path().c_str());
  if (opened == "skip") GTEST_SKIP() << "own mounts need root";
  EXPECT_EQ(opened.rfind("1024 " + folder_.path(), 0), 0u) << opened;
}

TEST_F(UsualPlacesTest, AnUnusableTmpdirIsPassedOver) {
  const std::string opened = OpenWith("64m", nullptr, "/no/such/folder");
  if (opened == "skip") GTEST_SKIP() << "own mounts need root";
  EXPECT_EQ(opened.rfind("1024 /tmp/memoir-ring-", 0), 0u) << opened;
}

TEST_F(UsualPlacesTest, ASmallRingIsBetterThanNone) {
  const std::string opened = OpenWith("16m", "1m", nullptr);
  if (opened == "skip") GTEST_SKIP() << "own mounts need root";
  EXPECT_EQ(opened.rfind("256 /dev/shm/memoir-ring-", 0), 0u) << opened;
}

TEST_F(UsualPlacesTest, WhereNothingFitsEachPlaceIsNamed) {
  const std::string opened = OpenWith("1m", "2m", nullptr);
  if (opened == "skip") GTEST_SKIP() << "own mounts need root";
  EXPECT_EQ(opened.find('\n'), std::string::npos);
  EXPECT_NE(opened.find("MiB needed, 1 MiB free; /tmp: "), std::string::npos) << opened;
  EXPECT_NE(opened.find("MiB needed, 2 MiB free; set MEMOIR_RING_DIR"), std::string::npos) << opened;
}

TEST_F(FolderTest, ARingLeftFromBeforeExecIsKept) {
  ASSERT_EQ(OpenRingIn(folder_.path(), kMinRingBytes), "");
  const std::string first = RingPath();
  RingClose();
  std::ofstream(first) << "evidence";
  ASSERT_EQ(OpenRingIn(folder_.path(), kMinRingBytes), "");
  EXPECT_NE(RingPath(), first);
  EXPECT_EQ(std::filesystem::file_size(first), 8u);
}

}  // namespace
}  // namespace memoir
