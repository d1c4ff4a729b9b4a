// How long kernels, copies and fills run on devices, as CUPTI reports (docs/kernels.md): with --kernels times.
//
//   a call of CUDA ──► CUPTI's callback: its correlation ──► the call's record (interpose/cuda/correlation.h)
//   it ran on a device ──► CUPTI's buffers ──► on CUPTI's thread: a KernelRunRecord with that correlation
//
// CUPTI allows one subscriber in a process. Memoir subscribes only where no other profiler has, and unsubscribes before
// the call of one that begins later, such as torch.profiler's. Nothing waits for a device.
#ifndef TRACKER_CUPTI_KERNEL_TIMES_H_
#define TRACKER_CUPTI_KERNEL_TIMES_H_

#include <cstdint>
#include <string>

namespace memoir {

// A recording begins.
void PrepareKernelTimes(std::uint64_t ticks_per_second);

// It wants times. Nothing is loaded yet. Once CUDA's contexts are known anew: until then a forked child knows the
// parent's, in which CUPTI may not be called.
void AskForKernelTimes();

// CUDA is in use: to subscribe before would begin to use it. Once in a recording. Any thread that holds no lock of
// CUDA's or of the loader's.
void StartKernelTimes();

// Recording is switched off for now: what has run is recorded. It must still be on. May wait for the writer.
void FlushKernelTimes();

// The recording ends; it must still be on. What has run is recorded; what has not ended is left out.
void EndKernelTimes();

// Whether times are, or were, recorded.
bool KernelTimesAreRecorded();
// What is not recorded of them, and since when; "": nothing, or nobody asked. Any thread.
std::string KernelTimesProblem(std::uint64_t* since_tick);

}  // namespace memoir

#endif  // TRACKER_CUPTI_KERNEL_TIMES_H_
