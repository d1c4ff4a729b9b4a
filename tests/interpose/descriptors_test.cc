// The program closes descriptors that it did not open, and opens its own files on their numbers: its files stay open,
// and the ring stays locked.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "interpose/ring/process_ring.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

// A file of the program's, on a number that it was given.
class ProgramsFile {
 public:
  ProgramsFile(const std::string& path, int number) : path_(path), number_(number) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd == number) return;
    dup2(fd, number);
    close(fd);
  }
  bool Write(const std::string& text) const {
    return write(number_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  std::string Read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Close() const { close(number_); }

 private:
  std::string path_;
  int number_;
};

int LowestFreeNumber() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(fd);
  return fd;
}

// As another process sees it, by whose word a drainer goes.
bool IsLockedForOthers(const char* path) {
  const pid_t other = fork();
  if (other == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const int fd = open(path, O_RDWR);
    _exit(fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 1 : 0);
  }
  int status = 0;
  waitpid(other, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

class DescriptorsTest : public RingTest {};

TEST_F(DescriptorsTest, TheRingTakesNoNumberOfTheProgram) {
  const int before = LowestFreeNumber();
  Open(kMinRingBytes);
  EXPECT_EQ(LowestFreeNumber(), before);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    EXPECT_NE(std::filesystem::read_symlink(entry, error), RingPath());
  }
}

// Whatever its number is over there, the program's file of that number is another one.
TEST_F(DescriptorsTest, AFileOnTheRingsNumberIsNeitherClosedNorWritten) {
  Open(kMinRingBytes);
  EXPECT_TRUE(IsLockedForOthers(RingPath()));
  const ProgramsFile log(folder_.path() + "/log", ring_state.fd);
  ASSERT_TRUE(log.Write("begun\n"));
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(HookNumber(i));
  Collected collected;
  collected.Drain(reader_.get());
  EXPECT_EQ(collected.total(), 1000u);
  EXPECT_TRUE(IsLockedForOthers(RingPath()));
  reader_.reset();
  RingClose();
  EXPECT_TRUE(log.Write("ended\n"));
  EXPECT_EQ(log.Read(), "begun\nended\n");
  log.Close();
}

// A daemon: forks, closes all it has, opens its log, trains.
int RunDaemon(const std::string& folder, int parents_number) {
  if (close_range(3, ~0u, 0) != 0) return 10;
  const ProgramsFile log(folder + "/log", 3);
  const ProgramsFile other(folder + "/other", parents_number);
  if (!log.Write("begun\n") || !other.Write("begun\n")) return 11;
  if (!OpenRingIn(folder, kMinRingBytes).empty()) return 12;
  SetRecordingEnabled(true);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    HookNumber(i, OnEmptyPool::kDrop);
    if (i % 1000 == 0 && (!log.Write("step\n") || !other.Write("step\n"))) return 13;
  }
  if (ring_state.map.header->magic.load() != kRingMagic) return 14;
  RingClose();
  if (!log.Write("ended\n") || !other.Write("ended\n")) return 15;
  std::string steps = "begun\n";
  for (int i = 0; i < 20; ++i) steps += "step\n";
  return log.Read() == steps + "ended\n" && other.Read() == log.Read() ? 0 : 16;
}

TEST_F(DescriptorsTest, ADaemonsLogIsLeftAloneByItsOwnRing) {
  Open(kMinRingBytes);
  ASSERT_TRUE(HookNumber(0));
  const pid_t child = fork();
  if (child == 0) _exit(RunDaemon(folder_.path(), ring_state.fd + 100));
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  Collected collected;
  collected.Drain(reader_.get());
  EXPECT_EQ(collected.total(), 1u);
}

}  // namespace
}  // namespace memoir
