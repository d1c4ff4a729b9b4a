// Reports heaps and regions to a tool, with the memory extension of NVTX. The environment variable
// NVTX_INJECTION64_PATH names the tool (compute-sanitizer, Nsight). Only nvtx_memory.cc includes NVIDIA's headers for
// this extension.
//
//   ListenToMemory ──► NVTX's headers: dlopen(NVTX_INJECTION64_PATH) ──► the tool's InitializeInjectionNvtxExtension
//   RegisterHeap, ... ──► the tool's functions
//
// If the variable names Memoir's own injection library (interpose/imports/nvtx_injection.h), nothing is published. This
// code does not allocate and takes no lock, but the tool may. Exceptions of the tool are caught.
#ifndef TRACKER_TORCH_PUBLICATION_NVTX_MEMORY_H_
#define TRACKER_TORCH_PUBLICATION_NVTX_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

struct AddressRange {
  std::uint64_t address, bytes;

  std::uint64_t end() const { return address + bytes; }
  bool operator==(const AddressRange&) const = default;
};

// The tool's handle for a heap; nullptr if the tool has refused the heap.
using HeapHandle = void*;

// Returns nullptr if the environment names a tool. Otherwise returns the reason why nothing is published: one line of
// text, in a string that is never freed.
const char* ListenerProblem();

// At the first call in the process, makes NVTX load the tool, and creates the NVTX domain. Call it under no lock, and
// after the CUDA runtime is initialized, as the guide of compute-sanitizer requires. Returns nullptr, or the reason why
// nothing is published.
const char* ListenToMemory();

// Call the following functions only after ListenToMemory has returned nullptr. Any thread, also under a lock of the
// allocator.
HeapHandle RegisterHeap(AddressRange heap);
// Unregisters the heap with all its regions.
void UnregisterHeap(HeapHandle heap);
void RegisterRegions(HeapHandle heap, const AddressRange* regions, std::size_t count);
void UnregisterRegion(std::uint64_t address);

}  // namespace memoir

#endif  // TRACKER_TORCH_PUBLICATION_NVTX_MEMORY_H_
