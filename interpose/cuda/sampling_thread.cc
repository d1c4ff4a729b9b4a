#include "interpose/cuda/sampling_thread.h"

#include <pthread.h>

#include <atomic>

#include "interpose/cuda/device_samples.h"
#include "interpose/system/futex.h"
#include "interpose/system/own_thread.h"
#include "interpose/system/tick.h"

namespace memoir {
namespace {

constexpr std::size_t kStackBytes = 512u << 10;
constexpr std::uint64_t kLongestSleepNs = 1'000'000'000;

constinit std::atomic<std::uint32_t> requested{0};  // number of the newest request for samples
constinit std::atomic<std::uint32_t> done{0};       // number of the newest request that was served
constinit std::atomic<std::uint32_t> recording{0};  // number of the recording; a thread ends when it changes
constinit std::atomic<bool> started{false};         // whether the thread of this recording was started

void* Read(void* of) {
  const auto own = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(of));
  pthread_setname_np(pthread_self(), "memoir-readings");
  std::uint32_t seen = done.load(std::memory_order_acquire);
  while (recording.load(std::memory_order_acquire) == own) {
    const std::uint32_t now = requested.load(std::memory_order_acquire);
    if (now == seen) {
      FutexWait(&requested, now, kLongestSleepNs);
      continue;
    }
    TakeRequestedSamples();
    seen = now;
    if (recording.load(std::memory_order_acquire) != own) break;
    done.store(now, std::memory_order_release);
    FutexWakeAll(&done);
  }
  return nullptr;
}

bool Start() {
  void* own = reinterpret_cast<void*>(std::uintptr_t{recording.load(std::memory_order_relaxed)});
  return StartOwnThread({.body = &Read, .argument = own, .stack_bytes = kStackBytes}, nullptr) == 0;
}

}  // namespace

void ForgetSamplingThread() {
  recording.fetch_add(1, std::memory_order_acq_rel);
  done.store(requested.load(std::memory_order_relaxed), std::memory_order_relaxed);
  started.store(false, std::memory_order_release);
  FutexWakeAll(&requested);
}

bool RequestSamples() {
  if (!started.exchange(true, std::memory_order_acq_rel) && !Start()) started.store(false, std::memory_order_release);
  if (!started.load(std::memory_order_acquire)) return false;
  requested.fetch_add(1, std::memory_order_acq_rel);
  FutexWakeAll(&requested);
  return true;
}

void AwaitSamples(std::uint64_t max_ns) {
  const std::uint32_t until = requested.load(std::memory_order_acquire);
  const std::uint64_t begin = MonotonicNs();
  for (;;) {
    const std::uint32_t now = done.load(std::memory_order_acquire);
    const std::uint64_t waited = MonotonicNs() - begin;
    if (static_cast<std::int32_t>(now - until) >= 0 || waited >= max_ns) return;
    FutexWait(&done, now, max_ns - waited);
  }
}

}  // namespace memoir
