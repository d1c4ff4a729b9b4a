// The program that drain_test kills: threads record numbered steps and operators, and count in shared memory what is
// committed.
//
//   writer_kill_victim RING_FOLDER CAPTURE_FOLDER COUNT_FILE THREADS [MAX_BYTES]
//
// With MAX_BYTES older parts are evicted, and there are besides, from the very beginning, a block that stays live and a
// thread that records five steps, five more when the others have filled a part or two, and goes quiet.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "interpose/ring/ring.h"
#include "interpose/system/tick.h"
#include "memoir/v1/capture.pb.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tests/writer/step_stream.h"

namespace memoir::test {
namespace {

using Count = std::atomic<std::uint64_t>;

// As hooks do: the stack where it is another one, or where the segment does not say it yet.
void RecordStack(RingProducer* producer, std::uint64_t step) {
  constexpr std::size_t kStackAndStep = 128;
  ThreadSlot* slot = RingThread();
  if (slot == nullptr || RingReserve(slot, kStackAndStep, OnEmptyPool::kWait) == nullptr) std::_Exit(3);
  if (step % 11 != 0 && slot->stack_is_known != 0) return;
  Event stack;
  stack.kind = memoir::v1::STACK;
  stack.tick = Tick();
  stack.frames = StackAt(step);
  if (!producer->Record(stack)) std::_Exit(3);
}

struct Recorder {
  RingProducer producer;
  StepStream stream;
};

// Goes on from `count`.
void Produce(Recorder* recorder, Count* count, std::uint64_t last) {
  RingProducer& producer = recorder->producer;
  Event step;
  step.kind = memoir::v1::STEP;
  for (step.step = count->load(); step.step < last; ++step.step) {
    RecordStack(&producer, step.step);
    step.tick = Tick();
    if (!producer.Record(step)) std::_Exit(3);
    count->store(step.step + 1, std::memory_order_release);
    if (step.step % 7 != 0) continue;
    // Groups, so that kills come between a begin and its tensors.
    for (Event& event : recorder->stream.NextOperator()) {
      event.tick = Tick();
      if (!producer.Record(event)) std::_Exit(3);
    }
  }
}

// The first of its records lie in the part that is kept for its peak, the last in one that is evicted soon.
void RecordQuietly(Count* count, const Count* another) {
  Recorder recorder;
  Event block;
  block.kind = memoir::v1::ALLOCATE;
  block.tick = Tick();
  block.address = kLongLivedAddress;
  block.bytes = kLongLivedBytes;
  block.serial = 1;
  if (!recorder.producer.Record(block)) std::_Exit(3);
  Produce(&recorder, count, kQuietSteps / 2);
  constexpr std::uint64_t kStepsOfAPart = 10'000;
  while (another->load() < kStepsOfAPart) usleep(100);
  Produce(&recorder, count, kQuietSteps);
  for (;;) pause();
}

int Main(int count, char** arguments) {
  const int file = open(arguments[3], O_RDWR);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) return 2;
  auto* counts = static_cast<Count*>(page);
  char error[512];
  ChooseTick();
  if (!RingOpen({arguments[1], kMinRingBytes, arguments[2], kStem}, error, sizeof(error))) return 2;
  WriterOptions options;
  options.folder = arguments[2];
  options.stem = kStem;
  options.process = SomeFacts();
  options.part_bytes = 200'000;
  if (count > 5) options.max_bytes = std::strtoull(arguments[5], nullptr, 10);
  std::string why;
  std::unique_ptr<Writer> writer = Writer::Start(options, &why);
  if (writer == nullptr) return 2;
  SetRecordingEnabled(true);
  const pid_t forked = fork();
  if (forked == 0) _exit(0);
  waitpid(forked, nullptr, 0);
  std::vector<std::thread> threads;
  const int producers = std::atoi(arguments[4]);
  if (options.max_bytes != 0) {
    threads.emplace_back(RecordQuietly, &counts[producers], &counts[0]);
    while (counts[producers].load() != kQuietSteps / 2) usleep(100);
  }
  for (int i = 0; i < producers; ++i) {
    threads.emplace_back([counts, i] {
      Recorder recorder;
      Produce(&recorder, &counts[i], ~std::uint64_t{0});
    });
  }
  for (;;) writer->Flush();  // so that kills come at every point of a chunk's way
}

}  // namespace
}  // namespace memoir::test

int main(int count, char** arguments) { return count == 5 || count == 6 ? memoir::test::Main(count, arguments) : 2; }
