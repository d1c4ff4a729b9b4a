// A thread that takes device samples with NVML, at the times that device_samples.cc sets. A query may take
// milliseconds, or never return if a card has failed. So neither the program nor the writer's thread waits for a query.
// Only the thread that ends a recording waits, for a limited time (AwaitSamples).
//
//   writer's thread ─► RequestSamples ─► thread: TakeRequestedSamples ─► records
//
// This code needs no library except libc.
#ifndef INTERPOSE_CUDA_SAMPLING_THREAD_H_
#define INTERPOSE_CUDA_SAMPLING_THREAD_H_

#include <cstdint>

namespace memoir {

// Makes the thread of an earlier recording end, and take no further samples. Called when a recording begins, perhaps in
// a forked child, and when it ends.
void ForgetSamplingThread();

// Wakes the thread to take samples, and starts it if it does not run. False if no thread can be started. Called by the
// writer's thread and by the thread that ends the recording.
bool RequestSamples();
// Waits until the thread has served all requests so far, for at most `max_ns` nanoseconds.
void AwaitSamples(std::uint64_t max_ns);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_SAMPLING_THREAD_H_
