// Records how long kernels, copies and fills run on devices, as CUPTI reports (docs/kernels.md). The option `--kernels
// times` requests these times.
//
//   a call of CUDA ──► CUPTI's callback: the call's correlation ──► the call's record (interpose/cuda/correlation.h)
//   its kernel ran on the device ──► CUPTI's buffers ──► on CUPTI's thread: a KernelRunRecord with the same correlation
//
// CUPTI allows one subscriber in a process. Memoir subscribes only if no other profiler has subscribed, and
// unsubscribes before a later profiler, such as torch.profiler, subscribes. No function here waits for a device.
#ifndef TRACKER_CUPTI_KERNEL_TIMES_H_
#define TRACKER_CUPTI_KERNEL_TIMES_H_

#include <cstdint>
#include <string>

namespace memoir {

// Resets the state. Called when a recording begins.
void PrepareKernelTimes(std::uint64_t ticks_per_second);

// Requests times for this recording; loads nothing yet. Call it after WatchDriver, which resets CudaIsInUse. If the
// parent of a forked child used CUDA, CudaIsInUse is true in the child until WatchDriver is called. If times were
// requested before that, StartKernelTimes could be called meanwhile, and call CUPTI in a child that does not use CUDA.
void RequestKernelTimes();

// Subscribes to CUPTI if times were requested. Call it when CUDA is in use, because an earlier subscription would
// initialize CUDA. Only the first call of a recording has an effect. Call it on a thread that holds no lock of CUDA or
// of the loader.
void StartKernelTimes();

// Records the kernels, copies and fills that have finished. Call it before a pause of the recording. May wait for the
// writer.
void FlushKernelTimes();

// Ends the subscription. Call it at the end of the recording, while recording is still on. Records the kernels, copies
// and fills that have finished, and leaves out those that still run.
void EndKernelTimes();

// Returns true if times are recorded in this recording, or were recorded until another profiler needed CUPTI.
bool KernelTimesAreRecorded();
// Returns the reason why times are missing, and how many of CUPTI's records were lost. Sets *since_tick to the tick
// since which times are missing. Empty if all times are recorded, or if they were not requested. Any thread.
std::string KernelTimesProblem(std::uint64_t* since_tick);

}  // namespace memoir

#endif  // TRACKER_CUPTI_KERNEL_TIMES_H_
