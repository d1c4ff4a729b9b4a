// How fast a capture is opened and summarised, and in how much memory: writes a synthetic capture of N events, then
// measures in a child process, so that the builder's memory does not count.
//
//     summary_speed [events | capture folder | --write events folder]
//
// With --write it leaves the capture there, for other benchmarks.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <string_view>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"

namespace memoir {
namespace {

// Like a training step: operators two deep, two or three tensors in, one out, every result allocated and freed some
// time later.
void WriteCapture(const std::string& folder, std::uint64_t events) {
  testing::ProcessOptions options;
  options.chunk_events = 100'000;
  testing::ProcessBuilder process(options);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> live, free;
  for (std::uint64_t i = 0; i < 20'000; ++i) free.push_back(0x7f00'0000'0000 + 4096 * i);
  std::uint64_t impl = 0x5500'0000'0000;
  // Results are new tensors; arguments are live tensors, one in a thousand of them a storage that was never allocated.
  const auto argument = [&] {
    const std::uint64_t storage =
        random() % 1000 == 0 || live.empty() ? 0x1000 + 64 * (random() % 100) : live[random() % live.size()];
    return testing::TensorSpec{
        0x5500'0000'0000 + 64 * (storage % 9973), storage, 4096, {32, static_cast<std::int64_t>(storage % 7)}};
  };
  while (process.events() < events) {
    process.OnThread(random() % 64 == 0 ? 2 : 1);
    const testing::TensorSpec result{impl += 64, free.back(), 4096, {32, 32}};
    process.Begin("aten::op" + std::to_string(random() % 300), {argument(), argument()});
    process.Begin("aten::empty.memory_format").Allocate(free.back(), 64 << (random() % 12)).End({result});
    process.End({result});
    live.push_back(free.back());
    free.pop_back();
    if (live.size() < 5'000) continue;
    std::swap(live[random() % live.size()], live.back());
    process.Deallocate(live.back());
    free.push_back(live.back());
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
  timespec own;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
  const double replay = static_cast<double>(own.tv_sec) + 1e-9 * static_cast<double>(own.tv_nsec);
  const auto events = static_cast<double>(summary->events);
  std::printf(
      "%.0f events, %.2f B/event in the file, %.2f s (%.1f M events/s); CPU: %.2f s replay, %.2f s decoding; %ld MiB\n",
      events, static_cast<double>(capture->processes()[0].file_bytes) / events, seconds, events / seconds / 1e6, replay,
      cpu - replay, usage.ru_maxrss / 1024);
  return 0;
}

}  // namespace
}  // namespace memoir

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--write") {
    memoir::WriteCapture(argv[3], std::strtoull(argv[2], nullptr, 10));
    return 0;
  }
  if (argc > 1 && std::filesystem::exists(argv[1])) return memoir::Measure(argv[1]);
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
