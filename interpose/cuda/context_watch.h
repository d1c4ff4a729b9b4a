// Measures the size of a CUDA context: free memory before the call that creates the context, minus free memory after
// that call, minus the bytes that calls allocated meanwhile. Memoir reads the free memory from NVML, because no CUDA
// query works before the context exists. Calls that create a context are the only calls of the program inside which
// Memoir queries NVML. The two queries are short compared with the hundred milliseconds that the creation of a context
// takes.
//
// If another process allocates or frees memory of the device during the call, the size is wrong by the bytes of that
// memory.
//
// This code needs no library except libc. Its functions may be called on any thread.
#ifndef INTERPOSE_CUDA_CONTEXT_WATCH_H_
#define INTERPOSE_CUDA_CONTEXT_WATCH_H_

#include <cstdint>

#include "interpose/cuda/caller_names.h"
#include "interpose/cuda/driver_records.h"

namespace memoir {

// Resets the state when a recording begins. Contexts that exist already are not measured.
void ForgetContexts();
// Resets the state of one device after its primary context ended. The next primary context is measured.
void ForgetContextOf(int device);

class ContextWatch {
 public:
  // Watches a call that may create the primary context of `device`. Watches nothing if `device` is -1 or the context
  // exists.
  static ContextWatch ForPrimary(int device);
  // Watches a call that may create the primary context of the runtime's current device. Watches nothing if a context is
  // current on this thread.
  static ContextWatch ForRuntime();
  // Watches a call that creates a context of `device` other than its primary one.
  static ContextWatch ForAnother(int device);

  // Call it after the watched call; records the context if the call created it. `own_bytes`: device memory that the
  // call itself allocated. `caller`: the call's return address.
  void Settle(bool succeeded, std::uint64_t own_bytes, const void* caller);
  // Like Settle, but after ForAnother. `made`: the new context.
  void SettleAnother(std::uint64_t made, const void* caller);

 private:
  void Begin(int device);
  void Record(const DriverBlock& block, std::uint64_t own_bytes, const void* caller);

  int device_ = -1;                 // the watched device; -1: none
  bool measured_ = false;           // whether NVML reported free_before_
  std::uint64_t free_before_ = 0;   // free bytes of the device before the call
  std::uint64_t given_before_ = 0;  // bytes of the device's recorded driver allocations before the call
};

}  // namespace memoir

#endif  // INTERPOSE_CUDA_CONTEXT_WATCH_H_
