// The interface of fake_cuda_allocator.cc, which a test finds with dlsym: a caching allocator of one device that can be
// made to fail. One thread at a time, except functions that a snapshot calls.
#ifndef TESTS_TORCH_FAKE_CUDA_ALLOCATOR_H_
#define TESTS_TORCH_FAKE_CUDA_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>

struct FakeCudaAllocator {
  // As torch's: the trace's entry, then the report.
  void (*allocate)(std::uint64_t address, std::size_t bytes);
  void (*free)(std::uint64_t address);
  int failing_snapshots;     // so many of the next ones throw
  void (*during_snapshot)();  // called by each one, where it is set
  int snapshots;             // that were asked for
  const char* name;
};

#endif  // TESTS_TORCH_FAKE_CUDA_ALLOCATOR_H_
