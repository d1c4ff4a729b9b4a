#include "simcuda/torch_values/memory/reused_blocks.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include <atomic>
#include <exception>

#include "simcuda/torch_values/memory/simulated_memory.h"

namespace memoir {
namespace {

using c10::cuda::CUDACachingAllocator::TraceEntry;

constinit std::atomic<bool> followed{false};

// Called under the allocator's lock.
void OnEvent(const TraceEntry& entry) {
  if (entry.action_ == TraceEntry::ALLOC) MarkAllocated(reinterpret_cast<void*>(entry.addr_), entry.size_);
}

}  // namespace

void FollowReusedBlocks() {
  if (followed.load(std::memory_order_relaxed)) [[likely]]
    return;
  auto* const allocator = c10::cuda::CUDACachingAllocator::get();
  if (allocator == nullptr || !allocator->initialized() || followed.exchange(true)) return;
  try {
    allocator->attachAllocatorTraceTracker(&OnEvent);
    // torch has no trace with cudaMallocAsync; the simulated device then makes freed bytes unknown itself.
  } catch (const std::exception&) {
  }
}

}  // namespace memoir
