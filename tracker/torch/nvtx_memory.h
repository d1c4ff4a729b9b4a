// The memory extension of NVTX: heaps and regions, told to the tool that the environment names
// (NVTX_INJECTION64_PATH: compute-sanitizer, Nsight). The only file that includes NVIDIA's headers of it.
//
//   ListenToMemory ──► NVTX's headers: dlopen(NVTX_INJECTION64_PATH) ──► InitializeInjectionNvtxExtension there
//   RegisterHeap ... ──► the tool's functions
//
// Memoir's own injection (interpose/nvtx_injection.h) is no tool: with it nothing is published. Nothing here allocates
// or locks, but the tool may; what it throws stays here.
#ifndef TRACKER_TORCH_NVTX_MEMORY_H_
#define TRACKER_TORCH_NVTX_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

struct AddressRange {
  std::uint64_t address, bytes;

  std::uint64_t end() const { return address + bytes; }
  bool operator==(const AddressRange&) const = default;
};

// The tool's own name for a heap. nullptr: it has refused it.
using HeapHandle = void*;

// Whether the environment names a tool; it is looked at. nullptr, or why nothing is published: one line that stays.
const char* WhyNobodyListens();

// Has NVTX load the tool, at the first call of the process, and makes the domain. Not before the CUDA runtime is
// initialized (compute-sanitizer's guide of NVTX asks for it), nor under a lock. nullptr, or why nothing is published.
const char* ListenToMemory();

// Once somebody listens. Any thread; also under a lock of the allocator's.
HeapHandle RegisterHeap(AddressRange heap);
// With all its regions.
void UnregisterHeap(HeapHandle heap);
void RegisterRegions(HeapHandle heap, const AddressRange* regions, std::size_t count);
void UnregisterRegion(std::uint64_t address);

}  // namespace memoir

#endif  // TRACKER_TORCH_NVTX_MEMORY_H_
