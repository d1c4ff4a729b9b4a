// How many bytes a recording of a week takes, and how much of a processor its writer: a step of a real program that was
// recorded with --detail blocks goes through the ring and the writer again and again, as --detail auto records it.
//
//     memoir run --detail blocks -o step -- python train.py; week_size step [STEPS] [FOLDER]
//
// train.py calls memoir.step(), at least six times.
// Host blocks have other addresses in each step, as malloc gives them. Prints; asserts no size and no time. FOLDER
// keeps the recording.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "interpose/system/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"

namespace memoir::test {
namespace {

// An event of the step; of a free, in which step before it which event allocated its block.
struct Repeated {
  Event event;
  std::uint64_t steps_back = 0;
  std::size_t born = 0;
};

// The last step but one of the thread that marks steps: what the end of the program freed is not in it.
std::vector<Repeated> StepOf(const std::string& folder) {
  const DecodedCapture capture = DecodeFolder(folder);
  std::vector<std::vector<Repeated>> steps;
  for (const auto& [thread, events] : capture.EventsByThread()) {
    std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> born;  // by address: step and event
    std::vector<std::vector<Repeated>> of_thread;
    std::vector<FrameSeen> stack;
    for (const Event& event : events) {
      if (event.kind == v1::STEP) of_thread.emplace_back();
      // Each ring extent repeats the stack, wherever in a step it begins.
      if (event.kind == v1::STACK && std::exchange(stack, event.frames) == event.frames) continue;
      if (of_thread.empty()) continue;
      Repeated repeated{event};
      if (event.kind == v1::ALLOCATE) born[event.address] = {of_thread.size(), of_thread.back().size()};
      if (event.kind == v1::DEALLOCATE) {
        const auto block = born.find(event.address);
        if (block == born.end()) continue;
        repeated.steps_back = of_thread.size() - block->second.first;
        repeated.born = block->second.second;
      }
      const bool is_memory = event.kind == v1::ALLOCATE || event.kind == v1::DEALLOCATE;
      if (is_memory || event.kind == v1::STACK || event.kind == v1::STEP) of_thread.back().push_back(repeated);
    }
    if (of_thread.size() > steps.size()) steps = of_thread;
  }
  return steps.size() < 4 ? std::vector<Repeated>() : steps[steps.size() - 2];
}

double ProcessorSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

std::uint64_t AddressOf(std::uint64_t step, std::size_t event) {
  return 0x7e0000000000 + (step * 0x9e3779b97f4a7c15u >> 44 << 24) + event * 64;
}

int Main(int count, char** arguments) {
  const std::vector<Repeated> step = count < 2 ? std::vector<Repeated>() : StepOf(arguments[1]);
  if (step.empty()) return std::fprintf(stderr, "week_size CAPTURE [STEPS] [FOLDER]: no capture of four steps\n"), 2;
  const std::uint64_t steps = count < 3 ? 100'000 : std::strtoull(arguments[2], nullptr, 10);
  Recording recording({.capture = count < 4 ? "" : arguments[3], .ring_bytes = kDefaultRingBytes, .repeats = true});
  if (!recording.ok()) return std::fprintf(stderr, "%s\n", recording.error().c_str()), 1;
  RingProducer producer;
  Event is_skimmed;
  is_skimmed.kind = v1::PAUSE;
  is_skimmed.level = v1::LEVEL_MEMORY + 4 * v1::LEVEL_ALL;
  is_skimmed.tick = Tick();
  if (!producer.Record(is_skimmed)) return 1;
  std::uint64_t serial = 0;
  const double before = ProcessorSeconds();
  for (std::uint64_t number = 1; number <= steps; ++number) {
    for (std::size_t i = 0; i < step.size(); ++i) {
      Event event = step[i].event;
      event.tick = Tick();
      event.step = number;
      event.serial = ++serial;
      if (event.kind == v1::ALLOCATE) event.address = AddressOf(number, i);
      if (event.kind == v1::DEALLOCATE) event.address = AddressOf(number - step[i].steps_back, step[i].born);
      if (!producer.Record(event)) return std::fprintf(stderr, "the ring is full\n"), 1;
    }
  }
  recording.Stop();
  const double seconds = ProcessorSeconds() - before;
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(recording.folder())) bytes += entry.file_size();
  const double events = static_cast<double>(steps) * static_cast<double>(step.size());
  std::printf(
      "%llu steps of %zu events: %.1f bytes a step, %.1f MiB; %.0f ns of a processor an event, producer included\n",
      static_cast<unsigned long long>(steps), step.size(), static_cast<double>(bytes) / static_cast<double>(steps),
      static_cast<double>(bytes) / (1 << 20), seconds / events * 1e9);
  return 0;
}

}  // namespace
}  // namespace memoir::test

int main(int count, char** arguments) { return memoir::test::Main(count, arguments); }
