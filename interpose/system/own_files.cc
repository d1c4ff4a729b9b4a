#include "interpose/system/own_files.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <new>

#include "interpose/system/errno_keeper.h"
#include "interpose/system/futex.h"
#include "interpose/system/own_thread.h"
#include "interpose/system/signal_blocker.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

namespace memoir {
namespace {

constexpr std::size_t kStackBytes = 512 * 1024;  // enough for compression, which the writer does on this thread
constexpr std::uint64_t kLongestSleepNs = 1'000'000'000;

struct Work {
  void (*function)(void*);
  void* argument;
  void Do() const { function(argument); }
};

enum class Turn : std::uint32_t {
  kNone,  // the files thread waits for work
  kWork,  // the files thread runs the work
  kCall,  // the waiting caller runs a call that the work made (RunInProgramsFiles)
  kEnd,   // the files thread ends
};

// The files thread of one process, and the work in progress. A forked child never uses its parent's state, because a
// thread that does not exist in the child may hold the mutex.
struct FileThread {
  pid_t owner;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // held during work; guards the fields below
  int keepers = 0;    // number of callers that need the thread; the thread ends when this becomes 0
  bool runs = false;  // whether the thread was started and has not ended
  pthread_t thread{};
  std::atomic<std::uint32_t> turn{0};
  Work work{};  // the work to run in this turn
};
constinit std::atomic<FileThread*> of_process{nullptr};

enum class Place : std::uint8_t {
  kProgram,  // the thread runs no work of RunInOwnFiles or RunInProgramsFiles
  kHere,     // the thread is not the files thread, and runs such work with the program's descriptors
  kThere,    // the thread is the files thread
};
constinit thread_local Place place = Place::kProgram;
constinit thread_local FilesWay way = FilesWay::kShared;

// Returns the FileThread of this process. The first call in a process creates it. nullptr if the system has no memory
// for it.
FileThread* OfThisProcess() {
  FileThread* known = of_process.load(std::memory_order_acquire);
  if (known != nullptr && known->owner == getpid()) return known;
  void* memory = mmap(nullptr, sizeof(FileThread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* fresh = new (memory) FileThread{.owner = getpid()};
  if (of_process.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return fresh;
  munmap(memory, sizeof(FileThread));
  return known;  // another thread created it
}

// Locks the mutex and blocks signals. Otherwise a signal handler of the program could leave by siglongjmp, and the
// mutex would stay locked.
class FileThreadLock {
 public:
  explicit FileThreadLock(FileThread* files) : files_(files) { pthread_mutex_lock(&files_->mutex); }
  ~FileThreadLock() { pthread_mutex_unlock(&files_->mutex); }
  FileThreadLock(const FileThreadLock&) = delete;
  FileThreadLock& operator=(const FileThreadLock&) = delete;

 private:
  const SignalBlocker held_;
  FileThread* files_;
};

rlim_t MostDescriptors() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

// Closes all descriptors in this thread's table, which unshare has copied from the program's table. The program's
// descriptors stay open.
void CloseAll() {
  constexpr rlim_t kLeast = 65536, kMost = 1u << 20;
  const auto end = static_cast<int>(std::clamp(MostDescriptors(), kLeast, kMost));
  for (int fd = 0; fd < end; ++fd) close(fd);
}

// Opens /dev/null as descriptors 0 to 2, so that no file of Memoir gets these numbers and receives a library's output.
// If the limit of descriptors is less than 8, opens it only as standard error.
void OccupyStandardStreams() {
  constexpr rlim_t kFew = 8;
  const int least = MostDescriptors() < kFew ? STDERR_FILENO : STDIN_FILENO;
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (int stream = least; stream <= STDERR_FILENO; ++stream) {
    if (stream != null) dup3(null, stream, O_CLOEXEC);
  }
  if (null < least) close(null);
}

FilesWay TakeOwnTable() {
  FilesWay taken = FilesWay::kCloseRange;
  if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) != 0) {
    if (unshare(CLONE_FILES) != 0) return FilesWay::kShared;
    taken = FilesWay::kUnshare;
    CloseAll();
  }
  OccupyStandardStreams();
  return taken;
}

void GiveTurn(FileThread& files, Turn turn) {
  files.turn.store(static_cast<std::uint32_t>(turn), std::memory_order_release);
  FutexWakeAll(&files.turn);
}

// Waits until files.turn differs from `turn`. Returns the new turn.
Turn AwaitEndOf(FileThread& files, Turn turn) {
  const auto not_wanted = static_cast<std::uint32_t>(turn);
  std::uint32_t now;
  while ((now = files.turn.load(std::memory_order_acquire)) == not_wanted)
    FutexWait(&files.turn, not_wanted, kLongestSleepNs);
  return static_cast<Turn>(now);
}

void* Serve(void* given) {
  FileThread& files = *static_cast<FileThread*>(given);
  pthread_setname_np(pthread_self(), "memoir-files");
  place = Place::kThere;
  way = TakeOwnTable();
  while (AwaitEndOf(files, Turn::kNone) == Turn::kWork) {
    files.work.Do();
    GiveTurn(files, Turn::kNone);
  }
  return nullptr;
}

void Keep(FileThread& files) {
  if (files.keepers++ > 0) return;
  files.turn.store(static_cast<std::uint32_t>(Turn::kNone), std::memory_order_relaxed);
  files.runs = StartOwnThread({.body = &Serve, .argument = &files, .stack_bytes = kStackBytes}, &files.thread) == 0;
}

void Leave(FileThread& files) {
  if (--files.keepers > 0 || !files.runs) return;
  files.runs = false;
  GiveTurn(files, Turn::kEnd);
  pthread_join(files.thread, nullptr);
}

void DoHere(const Work& work) {
  const Place before = place;
  place = Place::kHere;
  work.Do();
  place = before;
}

void DoThere(FileThread& files, const Work& work) {
  files.work = work;
  GiveTurn(files, Turn::kWork);
  while (AwaitEndOf(files, Turn::kWork) == Turn::kCall) {
    DoHere(files.work);
    GiveTurn(files, Turn::kWork);
  }
}

// Runs `work`. The caller holds the mutex.
void Do(FileThread& files, const Work& work) {
  Keep(files);
  files.runs ? DoThere(files, work) : DoHere(work);
  Leave(files);
}

// Like Do, but locks the mutex itself. Returns false at once if the work of another caller is running.
bool TryDo(FileThread& files, const Work& work) {
  const SignalBlocker held;
  if (pthread_mutex_trylock(&files.mutex) != 0) return false;
  Do(files, work);
  pthread_mutex_unlock(&files.mutex);
  return true;
}

}  // namespace

void KeepOwnFiles() {
  const ErrnoKeeper errno_keeper;
  FileThread* files = OfThisProcess();
  if (files == nullptr) return;
  const FileThreadLock locked(files);
  Keep(*files);
}

void ReleaseOwnFiles() {
  const ErrnoKeeper errno_keeper;
  FileThread* files = of_process.load(std::memory_order_acquire);
  if (files == nullptr || files->owner != getpid()) return;
  const FileThreadLock locked(files);
  if (files->keepers > 0) Leave(*files);
}

void RunInOwnFiles(void (*function)(void*), void* argument) {
  const ErrnoKeeper errno_keeper;
  const Work work{function, argument};
  if (place != Place::kProgram) return work.Do();
  FileThread* files = OfThisProcess();
  if (files == nullptr) return DoHere(work);
  const FileThreadLock locked(files);
  Do(*files, work);
}

// Signals are blocked during a try, but not between two tries, so that the program can still be interrupted. Only the
// pauses count as waiting time, so time in which the process was stopped (SIGSTOP) does not count.
bool RunInOwnFilesWithin(std::uint64_t max_wait_ns, void (*function)(void*), void* argument) {
  const ErrnoKeeper errno_keeper;
  const Work work{function, argument};
  if (place != Place::kProgram) return work.Do(), true;
  FileThread* files = OfThisProcess();
  if (files == nullptr) return DoHere(work), true;
  constexpr std::uint64_t kPauseNs = 1'000'000;
  const timespec pause{.tv_sec = 0, .tv_nsec = kPauseNs};
  for (std::uint64_t waited_ns = 0; !TryDo(*files, work); waited_ns += kPauseNs) {
    if (waited_ns >= max_wait_ns) return false;
    nanosleep(&pause, nullptr);
  }
  return true;
}

void RunInProgramsFiles(void (*function)(void*), void* argument) {
  if (place != Place::kThere) return function(argument);
  FileThread& files = *of_process.load(std::memory_order_acquire);
  files.work = {function, argument};
  GiveTurn(files, Turn::kCall);
  AwaitEndOf(files, Turn::kCall);
}

FilesWay OwnFilesMode() { return way; }

}  // namespace memoir
