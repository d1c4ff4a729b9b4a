// Random programs through the real ring and writer, read back by another reader: every event, field by field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "interpose/ring/process_ring.h"
#include "interpose/system/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/random_stream.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"

namespace memoir::test {
namespace {

using testing::IsEmpty;

struct Program {
  std::uint64_t seed;
  int threads;
  int events;              // per thread
  bool odd_ticks = false;  // a clock that is no clock
  bool flushes = false;
  Recording::Options options;
};

struct Recorded {
  std::mutex lock;
  std::map<std::uint32_t, std::vector<Event>> events;
  std::uint64_t records = 0;
};

void RunThread(const Program& program, std::uint64_t seed, RandomHeap* heap, Recording* recording, Recorded* recorded) {
  RingProducer producer(seed % 3 == 0);
  RandomStream stream(seed, heap);
  std::mt19937_64 random(seed * 31);
  std::vector<Event> events;
  bool all = true;
  for (int i = 0; i < program.events; ++i) {
    {
      const std::lock_guard<std::mutex> lock(heap->lock());
      Event event = stream.Next();
      event.tick = program.odd_ticks ? AnyNumber(random) : Tick();
      all = producer.Record(event) && all;
      if (seed % 3 == 0) {  // without the ring's name table an operator is a text
        event.schema.clear();
        event.written.clear();
      }
      events.push_back(std::move(event));
    }
    if (program.flushes && random() % 200 == 0) recording->writer().Flush();
  }
  EXPECT_TRUE(all) << "the ring was full for seconds";
  const std::lock_guard<std::mutex> lock(recorded->lock);
  recorded->events[RingProducer::Thread()] = std::move(events);
  recorded->records += producer.records();
}

void Check(const DecodedCapture& capture, const Recorded& recorded) {
  EXPECT_THAT(capture.errors, IsEmpty());
  const auto decoded = capture.EventsByThread();
  ASSERT_EQ(decoded.size(), recorded.events.size());
  for (const auto& [thread, events] : recorded.events) {
    ASSERT_TRUE(decoded.contains(thread));
    const auto& got = decoded.at(thread);
    ASSERT_EQ(got.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i)
      ASSERT_EQ(got[i], events[i]) << "event " << i << " of thread " << thread;
  }
}

// Runs of a thread follow one another without a gap, and with the depth and the stack that the events before left.
void CheckRuns(const DecodedCapture& capture, std::uint64_t records) {
  std::map<std::uint32_t, std::uint64_t> next_record;
  std::map<std::uint32_t, std::uint32_t> depth;
  std::map<std::uint32_t, std::vector<FrameSeen>> stack;
  std::uint64_t all = 0;
  for (const DecodedChunk* chunk : capture.chunks()) {
    for (const DecodedRun& run : chunk->runs) {
      EXPECT_EQ(run.first_record, next_record[run.thread]);
      EXPECT_EQ(run.start_depth, depth[run.thread]);
      EXPECT_EQ(run.start_stack, stack[run.thread]);
      next_record[run.thread] += run.record_count;
      all += run.record_count;
      for (const Event& event : run.events) {
        if (event.kind <= memoir::v1::RANGE_BEGIN_DISPATCH) ++depth[run.thread];
        if (event.kind == memoir::v1::RANGE_END) --depth[run.thread];
        if (event.kind == memoir::v1::STACK) stack[run.thread] = event.frames;
      }
    }
  }
  EXPECT_EQ(all, records);
}

void CheckSequence(const DecodedCapture& capture) {
  std::uint64_t sequence = 0;
  for (const DecodedPart& part : capture.parts) {
    for (const DecodedChunk& chunk : part.chunks) EXPECT_EQ(chunk.header.sequence(), sequence++);
    EXPECT_TRUE(part.has_index) << part.path;
    ++sequence;
  }
}

// Only what a thread was just recording when the writer looked may come later than complete_until_tick says: one event
// per thread.
void CheckCompleteness(const DecodedCapture& capture) {
  std::uint64_t complete_until = 0;
  for (const DecodedChunk* chunk : capture.chunks()) {
    std::set<std::uint32_t> threads;
    for (const DecodedRun& run : chunk->runs) {
      const bool first = threads.insert(run.thread).second;
      for (std::size_t i = first ? 1 : 0; i < run.events.size(); ++i) ASSERT_GE(run.events[i].tick, complete_until);
    }
    EXPECT_GE(chunk->header.complete_until_tick(), complete_until);
    complete_until = chunk->header.complete_until_tick();
  }
}

DecodedCapture RecordAndCheck(const Program& program) {
  SCOPED_TRACE("seed " + std::to_string(program.seed));
  Recording recording(program.options);
  EXPECT_TRUE(recording.ok()) << recording.error();
  RandomHeap heap(program.seed);
  Recorded recorded;
  std::vector<std::thread> threads;
  for (int i = 0; i < program.threads; ++i) {
    const std::uint64_t seed = program.seed * 1000 + static_cast<std::uint64_t>(i);
    threads.emplace_back(RunThread, std::cref(program), seed, &heap, &recording, &recorded);
  }
  for (std::thread& thread : threads) thread.join();
  recording.Stop();
  EXPECT_EQ(recording.unread(), 0u);
  DecodedCapture capture = DecodeFolder(recording.folder());
  Check(capture, recorded);
  CheckRuns(capture, recorded.records);
  CheckSequence(capture);
  if (!program.odd_ticks) CheckCompleteness(capture);
  EXPECT_EQ(capture.end().reason(), memoir::v1::End::STOPPED);
  EXPECT_EQ(recording.status().events, capture.events());
  EXPECT_EQ(capture.counters().dropped_records(), 0u);
  return capture;
}

TEST(RoundTrip, OneThread) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed)
    RecordAndCheck({.seed = seed, .threads = 1, .events = 600, .flushes = seed % 2 == 0, .options = {}});
}

TEST(RoundTrip, ManyThreads) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    RecordAndCheck({.seed = seed, .threads = 6, .events = 300, .flushes = seed % 2 == 0, .options = {}});
}

TEST(RoundTrip, ManyParts) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Program program{.seed = seed, .threads = 3, .events = 1000, .flushes = true, .options = {}};
    program.options.part_bytes = 60'000;
    EXPECT_GT(RecordAndCheck(program).parts.size(), 2u);
  }
}

TEST(RoundTrip, TicksThatAreNoClock) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RecordAndCheck(
        {.seed = seed, .threads = 3, .events = 300, .odd_ticks = true, .flushes = seed % 2 == 0, .options = {}});
  }
}

TEST(RoundTrip, AHundredThreads) {
  RecordAndCheck({.seed = 7, .threads = 100, .events = 100, .options = {.capture = "", .ring_bytes = 8u << 20}});
}

Event StepAt(std::uint64_t tick, std::uint64_t step) {
  Event event;
  event.kind = memoir::v1::STEP;
  event.tick = tick;
  event.step = step;
  return event;
}

TEST(RoundTrip, FlushPutsEverythingOnFile) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  RingProducer producer;
  for (std::uint64_t step = 1; step <= 50; ++step) {
    ASSERT_TRUE(producer.Record(StepAt(Tick(), step)));
    recording.writer().Flush();
    EXPECT_EQ(DecodeFolder(recording.folder()).events(), step);
    EXPECT_EQ(recording.writer().Status().events, step);
  }
}

TEST(RoundTrip, FlushWithAClockThatIsAhead) {
  Recording recording;
  RingProducer producer;
  for (std::uint64_t step = 1; step <= 20; ++step) {
    ASSERT_TRUE(producer.Record(StepAt(~std::uint64_t{0} - 100 + step, step)));
    recording.writer().Flush();
    EXPECT_EQ(recording.writer().Status().events, step);
  }
}

TEST(RoundTrip, ProcessInfoAndEnd) {
  Recording recording;
  recording.Stop(EndReason::kFailed, "because");
  const DecodedCapture capture = DecodeFolder(recording.folder());
  ASSERT_EQ(capture.parts.size(), 1u);
  const memoir::v1::ProcessInfo& process = capture.parts[0].process;
  const ProcessFacts facts = SomeFacts();
  EXPECT_EQ(process.format_version(), 1u);
  EXPECT_EQ(process.pid(), facts.pid);
  EXPECT_EQ(process.host(), facts.host);
  EXPECT_EQ(process.rank(), facts.rank);
  EXPECT_EQ(process.world_size(), facts.world_size);
  EXPECT_EQ(process.restart(), facts.restart);
  EXPECT_EQ(process.rank_source(), facts.rank_source);
  EXPECT_EQ(process.program(), facts.program);
  EXPECT_EQ(process.memoir_version(), facts.memoir_version);
  EXPECT_EQ(process.torch_version(), facts.torch_version);
  EXPECT_EQ(process.python_version(), facts.python_version);
  EXPECT_NE(process.start().tick(), 0u);
  EXPECT_NE(process.ticks_per_second(), 0u);
  EXPECT_NE(process.ring_path(), "");
  EXPECT_THAT(process.sources(), testing::ElementsAre("ranges", "cpu-allocator"));
  EXPECT_EQ(process.boot_id(), facts.boot_id);
  EXPECT_EQ(process.part(), 0u);
  EXPECT_EQ(capture.end().reason(), memoir::v1::End::FAILED);
  EXPECT_EQ(capture.end().message(), "because");
}

TEST(RoundTrip, AnIdleProcessWritesNothing) {
  Recording recording;
  recording.writer().Flush();
  const std::uint64_t bytes = recording.writer().Status().bytes;
  for (int i = 0; i < 5; ++i) recording.writer().Flush();
  EXPECT_EQ(recording.writer().Status().bytes, bytes);
}

TEST(RoundTrip, SlotlessRecordsAndForkedChildrenAreInTheCapture) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const std::uint32_t free_slots = ring_state.map.header->free_slots.exchange(0);  // as if so many threads were live
  std::thread([] { EXPECT_EQ(RingThread(), nullptr); }).join();
  ring_state.map.header->free_slots = free_slots;
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_EQ(capture.counters().forked_children(), 1u);
  EXPECT_EQ(capture.counters().slotless_records(), 1u);
  EXPECT_EQ(capture.counters().dropped_records(), 1u);
}

TEST(RoundTrip, RecordsThatAHookDroppedAreAGap) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  RingProducer producer;
  Event step;
  step.kind = memoir::v1::STEP;
  for (std::uint64_t i = 0; i < 4; ++i) {
    step.step = i;
    step.tick = Tick();
    ASSERT_TRUE(producer.Record(step));
    if (i == 1) RingDropRecord(RingThread());
    if (i == 1) RingDropRecord(RingThread());
  }
  RingDropRecord(RingThread());
  recording.Stop();
  EXPECT_EQ(recording.unread(), 0u);
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;  // first record, how many
  for (const DecodedChunk* chunk : capture.chunks()) {
    for (const DecodedRun& run : chunk->runs) runs.emplace_back(run.first_record, run.record_count);
  }
  EXPECT_EQ(runs, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 2}, {4, 2}}));
  EXPECT_EQ(capture.counters().dropped_records(), 3u);
}

TEST(LateRankTest, IsOnFileWithoutAnyEvent) {
  Recording recording;
  ASSERT_TRUE(recording.ok()) << recording.error();
  ProcessFacts facts = recording.facts();
  facts.rank = 5;
  facts.rank_source = "torch.distributed";
  recording.writer().SetProcess(facts);
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  ASSERT_EQ(capture.parts.size(), 1u);
  EXPECT_EQ(capture.parts[0].process.rank(), 5u);
  EXPECT_EQ(capture.parts[0].process.rank_source(), "torch.distributed");
}

}  // namespace
}  // namespace memoir::test
