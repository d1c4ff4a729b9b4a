// Memory runs out: the recording ends or does not begin, the program runs on, and it is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include "interpose/ring/ring.h"
#include "interpose/system/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tests/writer/step_stream.h"

namespace {

std::atomic<bool> writer_has_memory{true};
thread_local int news_left = -1;  // of this thread, before one fails; -1: none does

bool IsWriter() {
  char name[16] = "";
  if (pthread_getname_np(pthread_self(), name, sizeof(name)) != 0) return false;
  return std::strcmp(name, "memoir-writer") == 0 || std::strcmp(name, "memoir-files") == 0;
}

}  // namespace

// Not inlined, or the compiler sees malloc meet delete.
__attribute__((noinline)) void* operator new(std::size_t bytes) {
  const bool fails = (news_left >= 0 && news_left-- == 0) || (!writer_has_memory && IsWriter());
  void* memory = fails ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace memoir::test {
namespace {

using testing::HasSubstr;

void RecordOperators(int operators, StepStream* stream, RingProducer* producer) {
  for (int i = 0; i < operators; ++i) {
    for (Event& event : stream->NextOperator()) {
      event.tick = Tick();
      producer->Record(event);
    }
  }
}

TEST(Failure, AWriterWithoutMemoryEndsTheRecordingAndNotTheProgram) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  StepStream stream;
  RingProducer producer;
  RecordOperators(100, &stream, &producer);
  recording.writer().Flush();
  const std::uint64_t on_file = recording.writer().Status().events;
  ASSERT_GT(on_file, 0u);

  testing::internal::CaptureStderr();
  writer_has_memory = false;
  RecordOperators(100, &stream, &producer);
  recording.writer().Flush();  // returns: no thread waits for one that has ended
  EXPECT_FALSE(RecordingEnabled());
  RecordOperators(100, &stream, &producer);
  recording.Stop();
  writer_has_memory = true;
  EXPECT_EQ(recording.status().last_write_error, "the writer failed: std::bad_alloc");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("memoir: recording has ended: the writer failed: std::bad_alloc; what was written"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);

  EXPECT_GT(recording.unread(), 0u);

  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, testing::IsEmpty());
  EXPECT_GE(capture.events(), on_file);
}

// Before the first part exists: start returns the error.
TEST(Failure, AWriterThatCannotBeginIsNotStarted) {
  testing::internal::CaptureStderr();
  writer_has_memory = false;
  const Recording recording;
  writer_has_memory = true;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(recording.ok());
  EXPECT_THAT(recording.error(), HasSubstr("the writer failed: std::bad_alloc; allow the program more memory"));
}

std::ptrdiff_t Threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

// A thread that was joined is a moment longer in the list.
bool AllThreadsEnd(std::ptrdiff_t but) {
  for (int look = 0; look < 10'000; ++look) {
    if (Threads() == but) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Each allocation of the starting thread fails in turn, until start succeeds.
TEST(Failure, AStartIsRefusedOrWhole) {
  const TemporaryFolder folder;
  const std::string capture = folder.path() + "/capture";
  WriterOptions options;
  options.folder = capture;
  options.stem = kStem;
  options.process = SomeFacts();
  const std::ptrdiff_t threads = Threads();
  int refused = 0;
  for (bool started = false; !started; ++refused) {
    char message[512] = "";
    ASSERT_TRUE(RingOpen({folder.path().c_str(), kMinRingBytes, capture.c_str(), kStem}, message, sizeof(message)));
    std::unique_ptr<Writer> writer;
    std::string error;
    news_left = refused;
    try {
      writer = Writer::Start(options, &error);
    } catch (const std::bad_alloc&) {
      error = "no memory";
    }
    news_left = -1;
    started = writer != nullptr;
    EXPECT_NE(started, !error.empty()) << error;
    writer.reset();
    RingClose();
    ASSERT_TRUE(AllThreadsEnd(threads)) << "at the allocation " << refused;
  }
  EXPECT_GT(refused, 20);
  EXPECT_THAT(DecodeFolder(capture).errors, testing::IsEmpty());
}

}  // namespace
}  // namespace memoir::test
