// The cost of recording a launch in the launching thread, without a writer:
//
//     launch_speed on|off [launches]
//
// Launches of a fake runtime (tests/interpose/cuda/work_runtime.c) through the wrapper, with and without --kernels.
// That runtime returns a thread's context and device at once; a card's driver takes longer.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/cuda/driver_watch.h"
#include "interpose/ring/ring.h"
#include "interpose/ring/ring_reader.h"

namespace memoir {
namespace {

constexpr std::size_t kRing = std::size_t{64} << 20;
constexpr long kBetweenReads = 10'000;  // launches, whose records have room in the ring

// Makes room, as the writer does; its time is not counted.
void Forget(RingReader& reader) {
  std::vector<RingExtentView> views(4096);
  const std::size_t count = reader.Scan(views.data(), views.size());
  for (std::size_t i = 0; i < count; ++i)
    reader.Consume(views[i], views[i].end, static_cast<std::uint64_t>(views[i].end - views[i].begin) / 56);
  reader.ReleaseConsumed();
}

int Run(bool kernels, long launches) {
  const std::string folder = std::filesystem::temp_directory_path() / "memoir-launch-speed";
  std::filesystem::create_directories(folder);
  char error[1024] = "";
  const RingOptions options{folder.c_str(), kRing, "/captures/here", "r00000.a0.host.1"};
  if (!RingOpen(options, error, sizeof error)) return std::puts(error), 1;
  SetRecordingEnabled(true);
  const std::unique_ptr<RingReader> reader(RingReader::OpenLive());
  WatchDriver(kernels);
  void* const caller = dlopen(MEMOIR_WORK_CALLER, RTLD_NOW | RTLD_LOCAL);
  if (caller == nullptr) return std::puts(dlerror()), 1;
  WrapNewObjects();
  const auto launch = reinterpret_cast<int (*)(std::size_t, unsigned, void*)>(dlsym(caller, "work_launch"));
  std::chrono::nanoseconds spent{0};
  for (long done = 0; done < launches; done += kBetweenReads) {
    const auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < kBetweenReads; ++i) launch(2 * (1 + static_cast<std::size_t>(i % 50)), 1, nullptr);
    spent += std::chrono::steady_clock::now() - begin;
    Forget(*reader);
  }
  std::printf("%.1f ns for a launch, %llu records dropped\n",
              static_cast<double>(spent.count()) / static_cast<double>(launches),
              static_cast<unsigned long long>(RingReadCounters().dropped_records));
  RingClose();
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace memoir

int main(int argc, char** argv) {
  return memoir::Run(argc > 1 && std::string_view(argv[1]) == "on", argc > 2 ? std::atol(argv[2]) : 1'000'000);
}
