// The functions that are wrapped, by their names, and the wrapper that stands for one of a name's definitions.
//
//   a slot, or a look-up's result: F ──► WrapperFor("cudaMalloc", F) ──► variant n ──► records ──► F
//
// libc only. Any thread.
#ifndef INTERPOSE_CUDA_WRAPPED_CALLS_H_
#define INTERPOSE_CUDA_WRAPPED_CALLS_H_

#include <cstdint>
#include <span>

#include "interpose/cuda/call_wrapper.h"

namespace memoir {

// Each with its kind of calls.
std::span<const WrappedCall> MemoryCalls();
std::span<const WrappedCall> ContextCalls();
std::span<const WrappedCall> MappingCalls();
std::span<const WrappedCall> CodeCalls();
std::span<const WrappedCall> RefusableCalls();
std::span<const WrappedCall> WorkCalls();
std::span<const WrappedCall> LaunchCalls();
std::span<const WrappedCall> LookUpCalls();
std::span<const WrappedCall> ProfilerCalls();

// Whether launches are among those that are wrapped from here on; those that are stay so, and record nothing.
void WrapLaunches(bool wrapped);
bool LaunchesAreWrapped();

bool IsWrappedName(const char* name);

// What is to be called in place of `function`, a definition of that name: itself where the name is none that is
// wrapped, where it is a wrapper already, and where all variants stand for others: such are not recorded, but counted.
void* WrapperFor(const char* name, void* function);
// By the name that cuGetProcAddress knows a function by: without version or stream ("cuMemAlloc").
void* WrapperForShortName(const char* name, void* function);

// Functions of which one more library than there are variants has a definition that is called. In this process, ever.
struct PassedNames {
  std::uint32_t names;
  const char* first;
  std::uint64_t since_tick;
};
PassedNames CountPassedNames();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_WRAPPED_CALLS_H_
