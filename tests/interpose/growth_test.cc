// A ring grows where threads hold its segments, and only there.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "interpose/ring/process_ring.h"
#include "interpose/ring/ring_growth.h"
#include "tests/interpose/numbered_records.h"

namespace memoir {
namespace {

constexpr std::uint32_t kSegments = kDefaultRingBytes / kSegmentBytes;
constexpr std::uint32_t kMost = kMostRingBytes / kSegmentBytes;
constexpr std::size_t kThatGrows = 0;  // bytes
constexpr char kOldKernel[] = "this kernel cannot populate pages (Linux 5.14)";

// Threads that live as long as this. Each has recorded once, so it holds a segment; or waits for one.
class Holders {
 public:
  explicit Holders(std::uint32_t count, OnEmptyPool on_empty = OnEmptyPool::kDrop) {
    for (std::uint32_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, on_empty] {
        dropped_ += HookNumber(0, on_empty) ? 0 : 1;
        ++tried_;
        tried_.notify_all();
        ends_.wait(false);
      });
    }
    if (on_empty == OnEmptyPool::kWait) return;
    for (std::uint32_t seen = tried_; seen < count; seen = tried_) tried_.wait(seen);
  }
  ~Holders() {
    ends_ = true;
    ends_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  std::uint32_t tried() const { return tried_; }
  std::uint32_t dropped() const { return dropped_; }

 private:
  std::atomic<std::uint32_t> tried_{0}, dropped_{0};
  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;
};

std::uint32_t InUse() { return ring_state.map.ExtentsInUse(); }

class GrowthTest : public RingTest {
 protected:
  void SetUp() override { Open(kThatGrows); }
  void Close() {
    reader_.reset();
    RingClose();
  }
  // As the writer does with each of its looks.
  void Look() { reader_->WaitForWork(0); }
};

TEST_F(GrowthTest, WhatIsNotInUseTakesNoMemory) {
  struct stat status {};
  ASSERT_EQ(stat(RingPath(), &status), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(status.st_size), OffsetsFor(kMost).total);
  const std::uint64_t not_in_use = std::uint64_t{kMost - kSegments} * kSegmentBytes;
  EXPECT_LE(static_cast<std::uint64_t>(status.st_blocks) * 512, OffsetsFor(kMost).total - not_in_use + 65536);
  EXPECT_EQ(InUse(), kSegments);
}

TEST_F(GrowthTest, MoreThreadsThanSegmentsAllRecord) {
  const Holders first(kSegments / 2);
  Look();
  if (InUse() == kSegments) GTEST_SKIP() << kOldKernel;
  EXPECT_EQ(InUse(), 2 * kSegments);
  Look();
  EXPECT_EQ(InUse(), 2 * kSegments) << "a quarter of them is held now";
  const Holders more(kSegments);
  EXPECT_EQ(more.dropped(), 0u);
  EXPECT_EQ(RingReadCounters().dropped_records, 0u);
  EXPECT_EQ(RingReadCounters().waits, 0u);
  Collected collected;
  EXPECT_EQ(collected.Drain(reader_.get()), kSegments / 2 + kSegments);
  EXPECT_EQ(collected.total(), kSegments / 2 + kSegments);
}

TEST_F(GrowthTest, EventsThatFlowDoNotMakeItGrow) {
  for (std::uint64_t number = 0; HookNumber(number, OnEmptyPool::kDrop);) ++number;
  Look();
  EXPECT_EQ(InUse(), kSegments);
}

TEST_F(GrowthTest, AThreadThatWaitsGoesOn) {
  const Holders all(kSegments);
  const Holders waits(1, OnEmptyPool::kWait);
  while (RingReadCounters().waits == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // longer than it would wait in vain
  EXPECT_EQ(waits.tried(), 0u) << "it may still get one";
  Look();
  if (InUse() == kSegments) GTEST_SKIP() << kOldKernel;
  while (waits.tried() == 0) std::this_thread::yield();
  EXPECT_EQ(waits.dropped(), 0u);
}

TEST_F(GrowthTest, ItStaysAsItIsWhereTheFolderHasNoRoom) {
  Close();
  SmallFolder small("64m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs needs root";
  ASSERT_EQ(OpenRingIn(small.path(), kThatGrows), "");
  SetRecordingEnabled(true);
  reader_.reset(RingReader::OpenLive());
  {
    const Holders all(kSegments);
    Look();
    EXPECT_EQ(InUse(), kSegments);
    EXPECT_FALSE(HookNumber(0)) << "nobody waits for more";
    EXPECT_LT(RingReadCounters().wait_ns, 1'000'000'000u);
  }
  Close();
}

TEST_F(GrowthTest, ALimitOnFileSizesLeavesTheRingWithoutAHole) {
  Close();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{64u << 20, 64u << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    if (!OpenRingIn(folder_.path(), kThatGrows).empty()) _exit(1);
    _exit(ring_state.map.segment_count == kSegments && InUse() == kSegments ? 0 : 2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// The child's end: its ring's path is where `link` leads to. 77: an old kernel.
[[noreturn]] void GrowAndDie(const std::string& folder, const std::string& link) {
  if (!OpenRingIn(folder, kThatGrows).empty()) _exit(1);
  SetRecordingEnabled(true);
  RingReader* reader = RingReader::OpenLive();
  const Holders first(kSegments / 2);
  reader->WaitForWork(0);
  if (InUse() == kSegments) _exit(77);
  const Holders more(kSegments);
  _exit(more.dropped() == 0 && symlink(RingPath(), link.c_str()) == 0 ? 0 : 2);
}

TEST_F(GrowthTest, ARingThatGrewIsReadWholeAfterADeath) {
  Close();
  const std::string link = folder_.path() + "/link";
  const pid_t child = fork();
  if (child == 0) GrowAndDie(folder_.path(), link);
  int status = -1;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << kOldKernel;
  ASSERT_EQ(status, 0);
  char error[512] = "";
  const std::string path = std::filesystem::read_symlink(link);
  const std::unique_ptr<RingReader> dead(RingReader::OpenFile(path.c_str(), error, sizeof error));
  ASSERT_NE(dead, nullptr) << error;
  Collected collected;
  EXPECT_EQ(collected.Drain(dead.get()), kSegments / 2 + kSegments);
  EXPECT_EQ(collected.total(), kSegments / 2 + kSegments);
}

}  // namespace
}  // namespace memoir
