// The cost of the hooks' parts, without torch: the flag, the tick, and a record with the writer, on disk as in real
// use.
//
// Prints; asserts no time. Records for which the writer is too slow wait, as in a program; drops fail the run.
#include <benchmark/benchmark.h>

#include <new>

#include "interpose/ring/ring.h"
#include "interpose/system/tick.h"
#include "tests/writer/recording.h"

namespace memoir::test {
namespace {

void FlagOff(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(RecordingEnabled());
}
BENCHMARK(FlagOff);

void TickRead(benchmark::State& state) {
  ChooseTick();
  for (auto _ : state) benchmark::DoNotOptimize(Tick());
}
BENCHMARK(TickRead);

// One allocation or its deallocation, in turn, as the CPU allocator's hook writes them.
void Record(benchmark::State& state) {
  Recording recording(
      {.capture = "", .ring_bytes = kDefaultRingBytes, .max_bytes = 0, .part_bytes = kDefaultPartBytes});
  if (!recording.ok()) return state.SkipWithError(recording.error().c_str());
  std::uint64_t serial = 0;
  for (auto _ : state) {
    ThreadSlot* slot = RingThread();
    std::uint8_t* place = RingReserve(slot, sizeof(AllocateRecord), OnEmptyPool::kWait);
    if (place == nullptr) return state.SkipWithError("a record was dropped");
    new (place) AllocateRecord{.header = {.words = sizeof(AllocateRecord) / 8,
                                          .kind = RecordKind::kAllocate,
                                          .flags = 0,
                                          .depth = 0,
                                          .count = 0},
                               .tick = Tick(),
                               .address = 0x7f0000000000 + 64 * (serial % 4096),
                               .bytes = 64,
                               .serial = ++serial,
                               .device_type = 0,
                               .device_index = -1,
                               .reserved0 = 0,
                               .reserved1 = 0};
    RingCommit(slot, sizeof(AllocateRecord));
  }
  state.counters["waits"] = static_cast<double>(RingReadCounters().waits);
  recording.Stop();
  if (recording.status().lost_events != 0) state.SkipWithError("events were lost");
}
BENCHMARK(Record)->Iterations(2'000'000)->UseRealTime();

}  // namespace
}  // namespace memoir::test

BENCHMARK_MAIN();
