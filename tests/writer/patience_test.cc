// The writer's thread or the files thread hangs, as in a call of a file system that does not answer. Waits for them end
// all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tests/writer/step_stream.h"
#include "tracker/writer/throwing_work.h"

namespace memoir::test {
namespace {

constexpr std::uint64_t kPatienceNs = 300'000'000;

// Holds the writer's thread in its next look, until Release.
class Held {
 public:
  void Look() {
    is_held_ = true;
    is_held_.notify_all();
    holds_.wait(true);
  }
  void AwaitLook() { is_held_.wait(false); }
  void Release() {
    holds_ = false;
    holds_.notify_all();
  }

 private:
  std::atomic<bool> holds_{true}, is_held_{false};
};

bool IsEnded(const std::string& folder) {
  const DecodedCapture capture = DecodeFolder(folder);
  return capture.errors.empty() && !capture.parts.empty() && capture.parts.back().has_index;
}

TEST(Patience, NobodyWaitsForAWriterThatDoesNotGetOn) {
  Held held;
  Recording::Options options;
  options.patience_ns = kPatienceNs;
  options.before_read = [&] { held.Look(); };
  Recording recording(options);
  ASSERT_TRUE(recording.ok()) << recording.error();
  held.AwaitLook();
  StepStream stream;
  RingProducer producer;
  for (Event& event : stream.NextOperator()) producer.Record(event);

  recording.writer().Flush();
  EXPECT_THAT(recording.writer().WriteSnapshot({recording.folder() + "/snapshot", "program"}),
              testing::HasSubstr("nothing could be written for too long"));
  SetRecordingEnabled(false);
  EXPECT_FALSE(recording.writer().Stop(EndReason::kExited, ""));
  EXPECT_FALSE(recording.writer().Stop(EndReason::kExited, "")) << "the ring must stay open";

  // The thread comes back after all: the recording is whole.
  held.Release();
  while (!IsEnded(recording.folder())) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GT(DecodeFolder(recording.folder()).events(), 0u);
}

// In the order of StopSession: the last sample, the end of the hooks, the writer.
TEST(Patience, ARecordingStopsWhileAWriteHangs) {
  Held held;
  Recording::Options options;
  options.patience_ns = kPatienceNs;
  options.before_read = [&] { InOwnFiles([&] { held.Look(); }); };
  Recording recording(options);
  ASSERT_TRUE(recording.ok()) << recording.error();
  held.AwaitLook();

  EXPECT_FALSE(InOwnFilesThrowingWithin(kPatienceNs, [] { ADD_FAILURE() << "the files thread hangs"; }));
  SetRecordingEnabled(false);
  EXPECT_FALSE(recording.writer().Stop(EndReason::kExited, ""));

  held.Release();
  while (!IsEnded(recording.folder())) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  int done = 0;
  EXPECT_TRUE(InOwnFilesThrowingWithin(kDefaultPatienceNs, [&] { ++done; }));
  EXPECT_EQ(done, 1);
}

// Slow is not stuck: each chunk takes half of the patience, and all of them far more than that.
TEST(Patience, AWriterThatGetsOnIsWaitedFor) {
  Recording::Options options;
  options.patience_ns = kPatienceNs;
  std::atomic<int> looks = 0;
  options.before_read = [&] {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kPatienceNs / 2));
    ++looks;
  };
  Recording recording(options);
  ASSERT_TRUE(recording.ok()) << recording.error();
  for (int flush = 0; flush < 4; ++flush) recording.writer().Flush();
  EXPECT_GE(looks, 4);
  EXPECT_TRUE(recording.writer().Stop(EndReason::kExited, ""));
}

}  // namespace
}  // namespace memoir::test
