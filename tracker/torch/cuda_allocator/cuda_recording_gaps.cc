#include "tracker/torch/cuda_allocator/cuda_recording_gaps.h"

#include <atomic>

#include "tracker/torch/hooks.h"

namespace memoir {
namespace {

// A thread may read a gap while another thread changes it. So each field is atomic, and the reader compares the results
// of CudaGapChanges before and after it reads.
struct Gap {
  std::atomic<const char*> why;
  std::atomic<std::uint64_t> begin_tick, end_tick;
};
constinit Gap gaps[kMostCudaGaps];
constinit std::atomic<std::size_t> count{0};
constinit std::atomic<bool> is_open{false};
constinit std::atomic<std::uint32_t> changes{0};

}  // namespace

void ForgetCudaGaps() {
  count.store(0, std::memory_order_relaxed);
  is_open.store(false, std::memory_order_relaxed);
  changes.fetch_add(1, std::memory_order_release);
}

void OpenCudaGap(const char* why, std::uint64_t since_tick) {
  if (is_open.load(std::memory_order_relaxed)) return;
  const std::size_t before = count.load(std::memory_order_relaxed);
  // If there is no room for another gap, the last gap is opened again, and ends where the new gap ends.
  const std::size_t at = before < kMostCudaGaps ? before : kMostCudaGaps - 1;
  if (at == before) {
    gaps[at].why.store(why, std::memory_order_relaxed);
    gaps[at].begin_tick.store(since_tick, std::memory_order_relaxed);
  }
  gaps[at].end_tick.store(0, std::memory_order_relaxed);
  count.store(at + 1, std::memory_order_release);
  is_open.store(true, std::memory_order_relaxed);
  changes.fetch_add(1, std::memory_order_release);
}

void CloseCudaGap(std::uint64_t until_tick) {
  if (!is_open.exchange(false, std::memory_order_relaxed)) return;
  gaps[count.load(std::memory_order_relaxed) - 1].end_tick.store(until_tick, std::memory_order_relaxed);
  changes.fetch_add(1, std::memory_order_release);
}

bool CudaGapIsOpen() { return is_open.load(std::memory_order_relaxed); }

std::uint32_t CudaGapChanges() { return changes.load(std::memory_order_acquire); }

std::size_t CudaGaps(CudaGap (&found)[kMostCudaGaps]) {
  const std::size_t known = count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < known; ++i) {
    found[i] = {gaps[i].why.load(std::memory_order_relaxed), gaps[i].begin_tick.load(std::memory_order_relaxed),
                gaps[i].end_tick.load(std::memory_order_relaxed)};
  }
  return known;
}

}  // namespace memoir
