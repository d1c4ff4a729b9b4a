// How fast the writer packs, and how many bytes an event takes: operators as a training step has them. Prints; asserts
// no time.
//
// The ring is filled before the clock starts, so producers and writer do not share the measured time.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "interpose/system/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"
#include "tests/writer/step_stream.h"

namespace memoir::test {
namespace {

double WriterSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int Main() {
  Recording recording({.capture = "", .ring_bytes = 512u << 20, .max_bytes = 0, .part_bytes = kDefaultPartBytes});
  if (!recording.ok()) return std::fprintf(stderr, "%s\n", recording.error().c_str()), 1;
  // Half of the pool wakes the writer; stay under it, and let a second chunk wait for the flush.
  RingProducer producer;
  StepStream stream;
  double seconds = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 1500; ++i) {
      for (const Event& event : stream.NextOperator()) {
        if (!producer.Record(event)) return 1;
      }
    }
    const double start = WriterSeconds();
    recording.writer().Flush();
    seconds += WriterSeconds() - start;
  }
  const std::uint64_t records = producer.records();
  recording.Stop();
  const DecodedCapture capture = DecodeFolder(recording.folder());
  std::uint64_t raw = 0, stored = 0;
  for (const DecodedPart& part : capture.parts) stored += part.file_bytes;
  for (const DecodedChunk* chunk : capture.chunks()) raw += chunk->payload_bytes;
  const auto events = static_cast<double>(capture.events());
  std::printf("%.0f events, %llu ring records, %.2f million ring records/s, %.2f bytes/event before zstd, %.2f after\n",
              events, static_cast<unsigned long long>(records), static_cast<double>(records) / seconds * 1e-6,
              static_cast<double>(raw) / events, static_cast<double>(stored) / events);
  return 0;
}

}  // namespace
}  // namespace memoir::test

int main() { return memoir::test::Main(); }
