// The tables of the functions that Memoir wraps, and the wrapper for each definition of such a function.
//
//   a slot, or a look-up's result: F ──► WrapperFor("cudaMalloc", F) ──► variant n ──► records ──► F
//
// This code needs no library except libc. Its functions may be called on any thread.
#ifndef INTERPOSE_CUDA_WRAPPED_CALLS_H_
#define INTERPOSE_CUDA_WRAPPED_CALLS_H_

#include <cstdint>
#include <span>

#include "interpose/cuda/call_wrapper.h"

namespace memoir {

// One table for each kind of call.
std::span<const WrappedCall> MemoryCalls();
std::span<const WrappedCall> ContextCalls();
std::span<const WrappedCall> MappingCalls();
std::span<const WrappedCall> CodeCalls();
std::span<const WrappedCall> RefusableCalls();
std::span<const WrappedCall> WorkCalls();
std::span<const WrappedCall> LaunchCalls();
std::span<const WrappedCall> LookUpCalls();
std::span<const WrappedCall> ProfilerCalls();

// Sets whether WrapperFor wraps launches from now on. Launches that are already wrapped stay wrapped, but are not
// recorded while `wrapped` is false.
void WrapLaunches(bool wrapped);
bool LaunchesAreWrapped();

// Whether Memoir wraps functions of this name. False for the name of a launch while launches are not wrapped.
bool IsWrappedName(const char* name);

// Returns the wrapper for `function`, a definition of `name`. Returns `function` itself if Memoir does not wrap the
// name, if `function` is already a wrapper, or if all variants are in use. If all variants are in use, calls of
// `function` are not recorded, and the name is counted (CountUnwrappedNames).
void* WrapperFor(const char* name, void* function);
// Like WrapperFor, for a name as cuGetProcAddress expects it: without a suffix for version or stream ("cuMemAlloc").
void* WrapperForShortName(const char* name, void* function);

// Names with more definitions than variants, in this process so far.
struct UnwrappedNames {
  std::uint32_t names;       // number of these names
  const char* first;         // the name that was found first; nullptr: none
  std::uint64_t since_tick;  // tick at which it was found
};
UnwrappedNames CountUnwrappedNames();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_WRAPPED_CALLS_H_
