// A process is killed at random instants; all that it had committed is in its ring file, or was drained before.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "interpose/ring/process_ring.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

constexpr int kProducers = 2;

// In memory that parent and child share. Both counts are by thread number (1 and 2).
struct Shared {
  std::atomic<std::uint64_t> committed[kProducers + 1];
  std::atomic<std::uint64_t> drained[kProducers + 1];
  std::atomic<bool> ready;
  char path[4096];
};

void Produce(Shared* shared) {
  ThreadSlot* slot = RingThread();
  for (std::uint64_t number = 0;; ++number) {
    const std::size_t bytes = kNumberBytes + (number % 20) * 8;
    if (!PutNumber(slot, number, OnEmptyPool::kWait, bytes)) abort();
    shared->committed[slot->thread].store(number + 1, std::memory_order_release);
  }
}

// Stands for the writer: notes what it "wrote" before it gives segments back.
[[noreturn]] void ConsumeForEver(Shared* shared, RingReader* reader) {
  static RingExtentView views[1024];
  for (;;) {
    const std::size_t count = reader->Scan(views, 1024);
    for (std::size_t index = 0; index < count; ++index) {
      Collected collected;
      const std::uint64_t records = collected.Take(views[index], true);
      reader->Consume(views[index], views[index].end, records);
      shared->drained[views[index].thread].store(views[index].first_record + records, std::memory_order_release);
    }
    reader->ReleaseConsumed();
    reader->WaitForWork(500'000);
  }
}

[[noreturn]] void RunVictim(Shared* shared, const std::string& folder) {
  if (!OpenRingIn(folder, kMinRingBytes).empty()) _exit(1);
  std::strcpy(shared->path, RingPath());
  SetRecordingEnabled(true);
  RingReader* reader = RingReader::OpenLive();
  shared->ready.store(true, std::memory_order_release);
  for (int producer = 0; producer < kProducers; ++producer) std::thread(Produce, shared).detach();
  ConsumeForEver(shared, reader);
}

class KillTest : public testing::Test {
 protected:
  void SetUp() override {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared_ = static_cast<Shared*>(memory);
  }
  void TearDown() override { munmap(shared_, sizeof(Shared)); }

  pid_t StartVictim() {
    for (auto& count : shared_->committed) count = 0;
    for (auto& count : shared_->drained) count = 0;
    shared_->ready = false;
    const pid_t victim = fork();
    if (victim == 0) RunVictim(shared_, folder_.path());
    while (!shared_->ready && kill(victim, 0) == 0) usleep(200);
    return victim;
  }

  // The ring's records must continue from what was drained, without a gap, at least to what was committed.
  void CheckRecovered(RingReader* reader) {
    std::vector<RingExtentView> views(1024);
    views.resize(reader->Scan(views.data(), views.size()));
    std::uint64_t recovered[kProducers + 1];
    for (int thread = 1; thread <= kProducers; ++thread) recovered[thread] = shared_->drained[thread];
    for (const RingExtentView& view : views) {
      ASSERT_LE(view.thread, static_cast<std::uint32_t>(kProducers));
      EXPECT_LE(view.first_record, recovered[view.thread]);
      Collected collected;
      const std::uint64_t end = view.first_record + collected.Take(view, true);
      recovered[view.thread] = std::max(recovered[view.thread], end);
    }
    for (int thread = 1; thread <= kProducers; ++thread) {
      EXPECT_GE(recovered[thread], shared_->committed[thread]);
      ThreadView view;
      if (recovered[thread] > shared_->drained[thread]) {
        EXPECT_TRUE(reader->FindThread(static_cast<std::uint32_t>(thread), &view));
      }
    }
  }

  TempFolder folder_;
  Shared* shared_ = nullptr;
};

TEST_F(KillTest, NothingCommittedIsLostAtAHundredInstants) {
  std::mt19937 random(20260101);
  std::uint64_t committed = 0;
  for (int instant = 0; instant < 100; ++instant) {
    const pid_t victim = StartVictim();
    usleep(static_cast<useconds_t>(random() % 20'000));
    kill(victim, SIGKILL);
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(victim), &info, WEXITED | WNOWAIT), 0);
    ASSERT_EQ(info.si_status, SIGKILL);
    char error[512] = "";
    // Not reaped yet: `memoir run` may look before anyone has waited for the dead.
    std::unique_ptr<RingReader> reader(RingReader::OpenFile(shared_->path, error, sizeof error));
    waitpid(victim, nullptr, 0);
    ASSERT_NE(reader, nullptr) << error;
    CheckRecovered(reader.get());
    committed += shared_->committed[1] + shared_->committed[2];
    std::filesystem::remove(shared_->path);
  }
  EXPECT_GT(committed, 10'000u);  // the victims did get to record
}

TEST_F(KillTest, ARingIsRefusedWhileItsProcessLives) {
  const pid_t victim = StartVictim();
  char error[512] = "";
  EXPECT_EQ(RingReader::OpenFile(shared_->path, error, sizeof error), nullptr);
  EXPECT_NE(std::string(error).find("still in use, process " + std::to_string(victim)), std::string::npos) << error;

  // Where the process cannot be seen (another pid namespace), the lock tells.
  const int fd = open(shared_->path, O_RDWR);
  const std::uint64_t elsewhere = 1;
  ASSERT_EQ(pwrite(fd, &elsewhere, sizeof elsewhere, offsetof(RingHeader, pid_namespace)), 8);
  close(fd);
  EXPECT_EQ(RingReader::OpenFile(shared_->path, error, sizeof error), nullptr);
  EXPECT_NE(std::string(error).find("holds its lock"), std::string::npos) << error;
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);
  std::unique_ptr<RingReader> reader(RingReader::OpenFile(shared_->path, error, sizeof error));
  EXPECT_NE(reader, nullptr) << error;
}

TEST_F(KillTest, AProcessIdThatWasUsedAgainIsNotTheOldProcess) {
  const pid_t victim = StartVictim();
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);
  const int fd = open(shared_->path, O_RDWR);
  const auto ours = static_cast<std::uint64_t>(getpid());  // alive, but began at another time
  ASSERT_EQ(pwrite(fd, &ours, sizeof ours, offsetof(RingHeader, pid)), 8);
  close(fd);
  char error[512] = "";
  std::unique_ptr<RingReader> reader(RingReader::OpenFile(shared_->path, error, sizeof error));
  EXPECT_NE(reader, nullptr) << error;
}

TEST_F(KillTest, OfTwoDrainersOneIsRefused) {
  const pid_t victim = StartVictim();
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);
  char error[512] = "";
  std::unique_ptr<RingReader> first(RingReader::OpenFile(shared_->path, error, sizeof error));
  ASSERT_NE(first, nullptr) << error;
  const pid_t second = fork();
  if (second == 0) _exit(RingReader::OpenFile(shared_->path, error, sizeof error) == nullptr ? 0 : 1);
  int status = -1;
  waitpid(second, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace memoir
