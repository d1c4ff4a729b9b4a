// The writer's instructions for an event of a training step, from the ring to the file: regions for count_instructions.
#include <cstdio>
#include <memory>
#include <string>

#include "interpose/ring/ring.h"
#include "interpose/ring/ring_reader.h"
#include "interpose/system/tick.h"
#include "tests/instructions/region.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tests/writer/step_stream.h"
#include "tracker/writer/capture_writer.h"
#include "tracker/writer/chunk_builder.h"
#include "tracker/writer/file/ring_clock.h"
#include "tracker/writer/ring_pump.h"

namespace memoir::test {
namespace {

constexpr int kStepOperators = 400, kCountedOperators = 20;  // of four events each

bool Record(RingProducer* producer, StepStream* stream, int operators) {
  for (int i = 0; i < operators; ++i) {
    for (const Event& event : stream->NextOperator()) {
      if (!producer->Record(event)) return false;
    }
  }
  return true;
}

int Main() {
  ChooseTick();
  const TemporaryFolder folder;
  char error[512] = "";
  if (!RingOpen({folder.path().c_str(), kDefaultRingBytes, folder.path().c_str(), kStem}, error, sizeof error))
    return std::fprintf(stderr, "%s\n", error), 1;
  SetRecordingEnabled(true);
  const std::unique_ptr<RingReader> ring(RingReader::OpenLive());
  CaptureOptions options;
  options.folder = folder.path();
  options.stem = kStem;
  options.process_info = EncodeProcessInfo(SomeFacts(), ReadClock(), RingPath(), 3900);
  ChunkBuilder builder(*ring);
  CaptureWriter capture(options, *ring, &builder);
  RingPump pump(ring.get(), &builder, &capture);

  RingProducer producer;
  StepStream stream;
  // By then the step's names and layouts are known, as in a program that has run for a while.
  for (int step = 0; step < 3; ++step) {
    if (!Record(&producer, &stream, kStepOperators)) return std::fputs("a record was dropped\n", stderr), 1;
    pump.PackUntil(~std::uint64_t{0}, true);
  }
  if (!Record(&producer, &stream, kCountedOperators)) return std::fputs("a record was dropped\n", stderr), 1;
  CountRegion("writer, of 80 events", 1, [&] { pump.PackUntil(~std::uint64_t{0}, true); });
  capture.Close(EndReason::kStopped, "");
  SetRecordingEnabled(false);
  RingClose();
  return 0;
}

}  // namespace
}  // namespace memoir::test

int main() { return memoir::test::Main(); }
