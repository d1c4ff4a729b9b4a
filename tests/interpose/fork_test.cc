// Children, however they are made, find recording off and leave the parent's ring alone.
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "interpose/ring/process_ring.h"
#include "interpose/ring/thread_slots.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

// 0, or the number of the first thing that is wrong. Runs in the child, where gtest's failures would not be seen.
int TryToRecord(ThreadSlot* parents) {
  if (RecordingEnabled()) return 1;
  if (HookNumber(999)) return 2;
  if (RingAttachThread() != nullptr) return 3;
  parents->limit =
      nullptr;  // the cold path, as if a hook had missed the flag (this thread is not recording in the parent)
  if (RingReserve(parents, kNumberBytes, OnEmptyPool::kWait) != nullptr) return 4;
  if (RingDefineOperator("child", "", nullptr, 0) != 0) return 5;
  if (RingPath()[0] != '\0') return 6;
  if (RingReader::OpenLive() != nullptr) return 7;
  SetRecordingEnabled(true);
  if (RecordingEnabled()) return 8;
  RingSetProcessInfo("child", 5);
  RingCountDroppedAllocation(1 << 20);
  OnThreadExit(parents);
  RingClose();
  return 0;
}

// A child that trains has its own ring, next to the parent's.
int RecordOnItsOwn(const std::string& folder) {
  if (!OpenRingIn(folder, kMinRingBytes).empty()) return 20;
  SetRecordingEnabled(true);
  for (std::uint64_t number = 0; number < 100; ++number) {
    if (!HookNumber(number)) return 21;
  }
  RingReader* reader = RingReader::OpenLive();
  Collected collected;
  collected.Drain(reader);
  delete reader;
  RingClose();
  return collected.total() == 100 ? 0 : 22;
}

int ExitCode(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

pid_t RawClone() { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kForks = 3;  // a child that it did not see being made costs the thread sanitizer a second
#else
constexpr std::uint64_t kForks = 20;
#endif

class ForkTest : public RingTest {
 protected:
  // Forks again and again while another thread records; then every record of the parent must be there, and no other.
  void ForkWhileRecording(pid_t (*make_child)(), bool own_ring) {
    Open(8u << 20);
    ThreadSlot* idle = nullptr;  // of this thread, which forks
    ASSERT_TRUE(HookNumber(0));
    idle = memoir_thread_slot;
    std::atomic<bool> stop{false}, stopped{false};
    std::uint64_t recorded = 0;
    std::thread other([&] {
      while (!stop) recorded += HookNumber(recorded);
      stopped = true;
    });
    Collected collected;
    for (std::uint64_t round = 0; round < kForks; ++round) {
      ThreadSlot copy{};
      copy.generation = idle->generation;
      copy.segment = idle->segment;
      const pid_t child = make_child();
      if (child == 0) {
        int code = TryToRecord(&copy);
        if (code == 0 && own_ring) code = RecordOnItsOwn(folder_.path());
        _exit(code);
      }
      EXPECT_EQ(ExitCode(child), 0);
      collected.Drain(reader_.get());
    }
    stop = true;
    while (!stopped) collected.Drain(reader_.get());  // it may be waiting for room
    other.join();
    collected.Drain(reader_.get());
    EXPECT_EQ(collected.total(), recorded + 1);
    EXPECT_EQ(collected.next().size(), 2u);
    EXPECT_EQ(RingReadCounters().dropped_records, 0u);
    EXPECT_EQ(RingReadCounters().dropped_allocated_bytes, 0u);
    EXPECT_EQ(RingReadCounters().forked_children, make_child == fork ? kForks : 0u);
    NameView name;
    EXPECT_FALSE(reader_->FindName(1, &name));
    EXPECT_TRUE(std::filesystem::exists(RingPath()));
    EXPECT_TRUE(HookNumber(1));
  }
};

TEST_F(ForkTest, Fork) { ForkWhileRecording(fork, false); }
TEST_F(ForkTest, UnderscoreFork) { ForkWhileRecording(_Fork, false); }
TEST_F(ForkTest, CloneSystemCall) { ForkWhileRecording(RawClone, false); }
TEST_F(ForkTest, ForkedChildrenRecordIntoTheirOwnRing) { ForkWhileRecording(fork, true); }

bool ForkAndWait(int (*in_child)()) {
  const pid_t child = fork();
  if (child == 0) _exit(in_child == nullptr ? 0 : in_child());
  return ExitCode(child) == 0;
}

TEST_F(ForkTest, ChildrenAreCountedWhileRecordingAndByTheirOwnParent) {
  ASSERT_TRUE(ForkAndWait(nullptr));
  Open(kMinRingBytes);
  SetRecordingEnabled(false);
  ASSERT_TRUE(ForkAndWait(nullptr));
  EXPECT_EQ(RingReadCounters().forked_children, 0u);
  SetRecordingEnabled(true);
  static const std::string folder = folder_.path();
  ASSERT_TRUE(ForkAndWait([] {
    if (!ForkAndWait(nullptr)) return 1;  // no process's: this child does not record yet
    if (!OpenRingIn(folder, kMinRingBytes).empty()) return 2;
    SetRecordingEnabled(true);
    if (!ForkAndWait(nullptr) || !ForkAndWait(nullptr)) return 3;
    const bool counted = RingReadCounters().forked_children == 2;
    RingClose();
    return counted ? 0 : 4;
  }));
  EXPECT_EQ(RingReadCounters().forked_children, 1u);
}

constinit pthread_key_t last_key = 0;  // made after the ring's, so its destructor runs after the ring's
void EndProcess(void*) { _exit(0); }

// Forks in a new thread, without any handler of C++ on its stack that pthread_exit would unwind through.
void* ForkAndExitThread(void* exit_code) {
  if (!HookNumber(0)) return nullptr;
  const pid_t child = fork();
  if (child == 0) {
    pthread_setspecific(last_key, &last_key);
    pthread_exit(nullptr);  // runs the ring's destructor on the parent's slot
  }
  *static_cast<int*>(exit_code) = ExitCode(child);
  EXPECT_EQ(memoir_thread_slot->state.load(), static_cast<std::uint32_t>(SlotState::kLive));
  EXPECT_TRUE(HookNumber(1));
  return nullptr;
}

TEST_F(ForkTest, TheParentsThreadExitKeyIsHarmlessInTheChild) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer itself crashes when a forked child's thread exits";
#endif
  Open(kMinRingBytes);
  ASSERT_EQ(pthread_key_create(&last_key, EndProcess), 0);
  int exit_code = -1;
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, nullptr, ForkAndExitThread, &exit_code), 0);
  pthread_join(thread, nullptr);
  pthread_key_delete(last_key);
  EXPECT_EQ(exit_code, 0);
  Collected collected;
  collected.Drain(reader_.get());
  EXPECT_EQ(collected.total(), 2u);
}

TEST_F(ForkTest, AChildWithoutRoomForDataLeavesTheParentsSlotsAlone) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer needs private memory of its own";
#endif
  Open(kMinRingBytes);
  ASSERT_TRUE(HookNumber(0));
  static const std::string folder = folder_.path();
  static ThreadSlot* const slot = memoir_thread_slot;
  const std::uint8_t* const limit = slot->limit;
  ASSERT_NE(limit, nullptr);
  ASSERT_TRUE(ForkAndWait([] {
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_DATA, &none) != 0) return 1;
    if (!OpenRingIn(folder, kMinRingBytes).empty()) return 2;
    slot->limit = nullptr;  // as a hook that still remembers it
    return 0;
  }));
  EXPECT_EQ(slot->limit, limit);
}

TEST_F(ForkTest, VforkAndExecLeaveTheParentRecording) {
  Open(kMinRingBytes);
  ASSERT_TRUE(HookNumber(0));
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(127);
  }
  EXPECT_EQ(ExitCode(child), 0);
  ASSERT_TRUE(HookNumber(1));
  Collected collected;
  collected.Drain(reader_.get());
  EXPECT_EQ(collected.total(), 2u);
}

}  // namespace
}  // namespace memoir
