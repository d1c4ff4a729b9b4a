// Where a ring can be made, how small it gets, and what is said when it cannot.
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "interpose/lifecycle.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

class FolderTest : public testing::Test {
 protected:
  void TearDown() override { RingClose(); }
  std::uint32_t Segments() const { return ring_state.map.segment_count; }
  TempFolder folder_;
};

// A tmpfs of a given size, or none where that is not allowed.
class SmallFolder : public TempFolder {
 public:
  explicit SmallFolder(const std::string& size)
      : mounted_(mount("tmpfs", path().c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0) {}
  ~SmallFolder() {
    if (mounted_) umount2(path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  bool mounted_;
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
