// The writer's thread runs out of memory: the recording ends, the program does not, and it is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "interpose/ring.h"
#include "interpose/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tests/writer/step_stream.h"

namespace {

std::atomic<bool> writer_has_memory{true};

bool IsWriter() {
  char name[16] = "";
  return pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 && std::strcmp(name, "memoir-writer") == 0;
}

}  // namespace

// Not inlined, or the compiler sees malloc meet delete.
__attribute__((noinline)) void* operator new(std::size_t bytes) {
  const bool fails = !writer_has_memory && IsWriter();
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
  recording.writer().Flush();  // returns: nobody waits for a thread that has ended
  EXPECT_FALSE(RecordingEnabled());
  RecordOperators(100, &stream, &producer);
  recording.Stop();
  writer_has_memory = true;
  EXPECT_EQ(recording.status().last_write_error, "the writer gave up: std::bad_alloc");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("memoir: recording has ended: the writer gave up: std::bad_alloc; what was written"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);

  EXPECT_GT(recording.unread(), 0u);

  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, testing::IsEmpty());
  EXPECT_GE(capture.events(), on_file);
}

// Before the first part is there: whoever starts is told.
TEST(Failure, AWriterThatCannotBeginIsNotStarted) {
  testing::internal::CaptureStderr();
  writer_has_memory = false;
  const Recording recording;
  writer_has_memory = true;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(recording.ok());
  EXPECT_THAT(recording.error(), HasSubstr("the writer gave up: std::bad_alloc; "));
}

}  // namespace
}  // namespace memoir::test
