// Around a call that may make a device's context: what the device has less afterwards, beside what calls were given, is
// the context's block. Measured by NVML before and after, for no call of CUDA's could say it before: the one thing that
// NVML is asked inside of a call of the program's, twice for each context, which itself takes a hundred milliseconds.
//
// libc only. Any thread. Another process that takes or gives back memory of the device meanwhile shows in the figure.
#ifndef INTERPOSE_CUDA_CONTEXT_WATCH_H_
#define INTERPOSE_CUDA_CONTEXT_WATCH_H_

#include <cstdint>

#include "interpose/cuda/caller_names.h"
#include "interpose/cuda/driver_records.h"

namespace memoir {

// A recording begins: contexts that are there already are not measured.
void ForgetContexts();
// The device was reset: the next one is measured.
void ForgetContextOf(int device);

class ContextWatch {
 public:
  // Of `device`'s primary context. -1: there is nothing to watch.
  static ContextWatch Primary(int device);
  // Of the device that the runtime uses on this thread, unless a context is current on it.
  static ContextWatch OfRuntime();
  // Of another context than the primary one.
  static ContextWatch Another(int device);

  // After the call. `own_bytes`: what the call itself was given of the device.
  void Settle(bool succeeded, std::uint64_t own_bytes, const void* caller);
  void SettleAnother(std::uint64_t made, const void* caller);

 private:
  void Begin(int device);
  void Record(const DriverBlock& block, std::uint64_t own_bytes, const void* caller);

  int device_ = -1;  // that is watched
  bool measured_ = false;
  std::uint64_t free_before_ = 0, given_before_ = 0;
};

}  // namespace memoir

#endif  // INTERPOSE_CUDA_CONTEXT_WATCH_H_
