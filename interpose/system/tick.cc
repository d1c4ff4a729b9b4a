#include "interpose/system/tick.h"

#include <fcntl.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>

#include "interpose/system/own_files.h"
#include "interpose/system/private_file.h"

namespace memoir {
namespace {

#if defined(__x86_64__)
// Returns true if the kernel's clock is hpet, acpi_pm or jiffies, which the kernel uses if it saw the counter differ
// between cores.
bool KernelDistrustsCounter() {
  char name[32] = "";
  InOwnFiles([&] {
    const int fd = OpenPrivateFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY);
    if (fd < 0) return;
    const ssize_t size = read(fd, name, sizeof name - 1);
    close(fd);
    name[size > 0 ? size : 0] = '\0';
  });
  return std::strncmp(name, "hpet", 4) == 0 || std::strncmp(name, "acpi_pm", 7) == 0 ||
         std::strncmp(name, "jiffies", 7) == 0;
}

bool CounterIsInvariant() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) == 0) return false;
  return (edx & (1u << 8)) != 0 && !KernelDistrustsCounter();
}

struct Reading {
  std::uint64_t tick;
  std::uint64_t ns;
};

// Reads both clocks several times, and returns the pair of readings that took the shortest time, because an interrupt
// may come between the two readings of a pair.
Reading ReadBoth() {
  Reading best{};
  std::uint64_t least = UINT64_MAX;
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::uint64_t before = Tick();
    const std::uint64_t ns = MonotonicNs();
    const std::uint64_t after = Tick();
    if (after - before >= least) continue;
    least = after - before;
    best = {before + (after - before) / 2, ns};
  }
  return best;
}

std::uint64_t MeasureTicksPerSecond() {
  const Reading first = ReadBoth();
  // Sleeps again if a signal ends the sleep early, because over a shorter time the errors of the two readings have more
  // effect.
  constexpr std::uint64_t kMeasuredNs = 5'000'000;
  for (std::uint64_t now; (now = MonotonicNs()) - first.ns < kMeasuredNs;) {
    const timespec rest{0, static_cast<long>(kMeasuredNs - (now - first.ns))};
    nanosleep(&rest, nullptr);
  }
  const Reading last = ReadBoth();
  const auto rate = static_cast<unsigned __int128>(last.tick - first.tick) * 1'000'000'000u / (last.ns - first.ns);
  return static_cast<std::uint64_t>(rate);
}
#endif

}  // namespace

std::uint64_t ChooseTick() {
#if defined(__x86_64__)
  if (!CounterIsInvariant()) return 1'000'000'000;
  memoir_tick_is_counter = true;
  return MeasureTicksPerSecond();
#elif defined(__aarch64__)
  memoir_tick_is_counter = true;
  std::uint64_t rate;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(rate));
  return rate;
#else
  return 1'000'000'000;
#endif
}

}  // namespace memoir
