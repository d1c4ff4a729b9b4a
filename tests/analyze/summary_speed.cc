// How fast a capture is opened and summarised, and in how much memory: writes a synthetic capture of N events, then measures
// in a child process, so that the builder's memory does not count.
//
//     summary_speed [events]
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary.h"

namespace memoir {
namespace {

// Like a training step: operators two deep, two or three tensors in, one out, every result allocated and freed some time later.
void WriteCapture(const std::string& folder, std::uint64_t events) {
  testing::ProcessOptions options;
  options.chunk_events = 100'000;
  testing::ProcessBuilder process(options);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> live;
  std::uint64_t impl = 0x5500'0000'0000;
  const auto tensor = [&](std::uint64_t storage) {
    return testing::TensorSpec{impl + 64 * (storage % 50'000), storage, 4096, {32, static_cast<std::int64_t>(storage % 7)}};
  };
  while (process.events() < events) {
    process.OnThread(random() % 64 == 0 ? 2 : 1);
    const std::uint64_t address = 0x7f00'0000'0000 + 64 * (process.next_serial() % 1'000'003);
    const std::uint64_t in = live.empty() ? address : live[random() % live.size()];
    process.Begin("aten::op" + std::to_string(random() % 300), {tensor(in), tensor(in + 64)});
    process.Begin("aten::empty.memory_format").Allocate(address, 64 << (random() % 12)).End({tensor(address)});
    process.End({tensor(address)});
    live.push_back(address);
    if (live.size() < 5'000) continue;
    std::swap(live[random() % live.size()], live.back());
    process.Deallocate(live.back());
    live.pop_back();
  }
  process.WriteTo(folder);
}

int Measure(const std::string& folder) {
  const auto begin = std::chrono::steady_clock::now();
  absl::StatusOr<Capture> capture = Capture::Open(folder);
  if (!capture.ok()) return 1;
  const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, {});
  if (!summary.ok()) return 1;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  const auto events = static_cast<double>(summary->events);
  std::printf("%.0f events, %.2f B/event in the file, %.2f s (%.1f M events/s), %.2f s of CPU, %ld MiB resident\n", events,
              static_cast<double>(capture->processes()[0].file_bytes) / events, seconds, events / seconds / 1e6, cpu,
              usage.ru_maxrss / 1024);
  return 0;
}

}  // namespace
}  // namespace memoir

int main(int argc, char** argv) {
  const std::uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  const memoir::testing::TemporaryFolder folder;
  const auto in_child = [&](auto function) {
    const pid_t child = fork();
    if (child == 0) _exit(function());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  };
  const int written = in_child([&] {
    memoir::WriteCapture(folder.path(), events);
    return 0;
  });
  return written != 0 ? written : in_child([&] { 
    const int result = memoir::Measure(folder.path());
    std::fflush(stdout);
    return result;
  });
}
