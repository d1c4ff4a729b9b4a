// Memoir's files and the program's: neither side can reach the other's, and with an older kernel or in a sandbox the
// recorder still finds its way.
#include "interpose/system/own_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "interpose/system/private_file.h"
#include "tests/interpose/numbered_records.h"
#include "tests/interpose/refused_calls.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace memoir {
namespace {

std::set<std::string> OpenNumbers() {
  std::set<std::string> numbers;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    numbers.insert(entry.path().filename());
  return numbers;
}

// The exit code of a child that runs `body`.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

FilesWay WayThere() {
  FilesWay way = FilesWay::kShared;
  InOwnFiles([&] { way = OwnFilesMode(); });
  return way;
}

// Both sides open, write and close; each finds its own file as it left it.
int UseBothSides(const std::string& folder, FilesWay expected) {
  const std::string ours = folder + "/ours", theirs = folder + "/theirs";
  const int program = open(theirs.c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
  if (program < 0) return 10;
  const std::set<std::string> before = OpenNumbers();
  KeepOwnFiles();
  int file = -1;
  FilesWay way = FilesWay::kShared;
  InOwnFiles([&] {
    way = OwnFilesMode();
    file = OpenLastingFile(ours.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND);
  });
  if (way != expected) return 11;
  if (file <= STDERR_FILENO) return 12;
  if ((OpenNumbers() == before) != (way != FilesWay::kShared)) return 13;
  if (way == FilesWay::kShared && file < 255) return 14;
  for (int fd = 3; fd < 1024; ++fd) {
    if (fd != program && (fd != file || way != FilesWay::kShared)) close(fd);
  }
  if (write(program, "theirs", 6) != 6) return 15;
  bool wrote = false;
  InOwnFiles([&] { wrote = write(file, "ours", 4) == 4 && close(file) == 0; });
  ReleaseOwnFiles();
  if (!wrote || std::filesystem::file_size(ours) != 4 || std::filesystem::file_size(theirs) != 6) return 16;
  return close(program) == 0 ? 0 : 17;
}

class OwnFiles : public testing::Test {
 protected:
  TempFolder folder_;
};

TEST_F(OwnFiles, AreInATableOfTheirOwn) {
  EXPECT_EQ(InChild([&] { return UseBothSides(folder_.path(), FilesWay::kCloseRange); }), 0);
}

TEST_F(OwnFiles, AreSoWithoutCloseRange) {
  EXPECT_EQ(InChild([&] {
              if (!RefuseCalls({SYS_close_range})) return 1;
              return UseBothSides(folder_.path(), FilesWay::kUnshare);
            }),
            0);
}

TEST_F(OwnFiles, ShareTheProgramsTableWhereNoneIsToBeHad) {
  EXPECT_EQ(InChild([&] {
              if (!RefuseCalls({SYS_close_range, SYS_unshare})) return 1;
              return UseBothSides(folder_.path(), FilesWay::kShared);
            }),
            0);
}

// A copy of a pipe's end that stayed open would keep its reader waiting.
TEST_F(OwnFiles, NoCopyOfTheProgramsStaysOpen) {
  for (const std::vector<unsigned>& refused : {std::vector<unsigned>{}, std::vector<unsigned>{SYS_close_range}}) {
    EXPECT_EQ(InChild([&] {
                if (!refused.empty() && !RefuseCalls(refused)) return 1;
                int ends[2];
                if (pipe(ends) != 0) return 2;
                KeepOwnFiles();
                if (WayThere() == FilesWay::kShared) return 3;
                close(ends[1]);
                fcntl(ends[0], F_SETFL, O_NONBLOCK);
                char byte;
                return read(ends[0], &byte, 1) == 0 ? 0 : 4;  // the end, not EAGAIN
              }),
              0);
  }
}

TEST_F(OwnFiles, WorkReachesTheProgramsByTheThreadThatWaits) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ssize_t there = 0, here = 0;
  InOwnFiles([&] {
    there = write(ends[1], "x", 1);
    InProgramsFiles([&] { here = write(ends[1], "line", 4); });
  });
  EXPECT_EQ(there, -1);
  EXPECT_EQ(here, 4);
  char text[8];
  EXPECT_EQ(read(ends[0], text, sizeof text), 4);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(OwnFiles, WorkInWorkIsDoneAtOnce) {
  int done = 0;
  InOwnFiles([&] {
    InOwnFiles([&] { ++done; });
    InProgramsFiles([&] { InOwnFiles([&] { ++done; }); });
    InOwnFiles([&] { InProgramsFiles([&] { ++done; }); });
  });
  InProgramsFiles([&] { ++done; });
  EXPECT_EQ(done, 4);
}

// The files thread hangs in another thread's work, as in a write to a file system that does not answer.
TEST_F(OwnFiles, AreWaitedForNoLongerThanAllowed) {
  constexpr std::uint64_t kShortNs = 50'000'000, kLongNs = 60'000'000'000;
  std::atomic<bool> hangs{true}, has_begun{false};
  std::thread writer([&] {
    InOwnFiles([&] {
      has_begun = true;
      has_begun.notify_all();
      hangs.wait(true);
    });
  });
  has_begun.wait(false);
  int done = 0;
  EXPECT_FALSE(InOwnFilesWithin(kShortNs, [&] { ++done; }));
  EXPECT_EQ(done, 0);
  hangs = false;
  hangs.notify_all();
  EXPECT_TRUE(InOwnFilesWithin(kLongNs, [&] { done += InOwnFilesWithin(0, [&] { ++done; }) ? 1 : 0; }));
  EXPECT_EQ(done, 2) << "work in work is done at once";
  writer.join();
}

TEST_F(OwnFiles, AForkedChildHasItsOwn) {
  KeepOwnFiles();
  EXPECT_EQ(InChild([&] { return UseBothSides(folder_.path(), FilesWay::kCloseRange); }), 0);
  EXPECT_EQ(WayThere(), FilesWay::kCloseRange);
  ReleaseOwnFiles();
}

// Also while other threads of the parent have work done there: the child waits for none of them.
TEST_F(OwnFiles, AForkInTheMiddleOfWorkLeavesNoChildThatWaits) {
  std::atomic<bool> stop{false};
  KeepOwnFiles();
  pthread_t worker;
  const auto work = [](void* given) -> void* {
    while (!static_cast<std::atomic<bool>*>(given)->load()) InOwnFiles([] { close(open("/dev/null", O_RDONLY)); });
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&worker, nullptr, work, &stop), 0);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(InChild([] {
                alarm(20);
                return WayThere() == FilesWay::kShared ? 1 : 0;
              }),
              0);
  }
  stop = true;
  pthread_join(worker, nullptr);
  ReleaseOwnFiles();
}

TEST_F(OwnFiles, AreOpenedWithALimitOfThreeDescriptors) {
  EXPECT_EQ(InChild([&] {
              const rlimit three{3, 3};
              if (setrlimit(RLIMIT_NOFILE, &three) != 0) return 1;
              int first = -1, second = -1;
              KeepOwnFiles();
              InOwnFiles([&] {
                first = OpenLastingFile((folder_.path() + "/first").c_str(), O_RDWR | O_CREAT | O_EXCL);
                second = OpenLastingFile((folder_.path() + "/second").c_str(), O_RDWR | O_CREAT | O_EXCL);
              });
              return first >= 0 && second >= 0 && first != STDERR_FILENO && second != STDERR_FILENO ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace memoir
