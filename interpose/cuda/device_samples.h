// Takes device samples: used and free bytes as CUDA and NVML report them. A sample is taken when a device is first
// used, when driver allocations reach a new maximum, after a refused allocation, every second, and at the end of a
// recording (docs/event_schema.md). The record of a sample (DeviceReadingRecord) also contains its cause.
//
//   inside a call of the program    figures of cudaMemGetInfo only, because torch's allocator may hold its lock
//   on the sampling thread          figures of NVML, including the free bytes (sampling_thread.h)
//
// This code needs no library except libc. Its functions may be called on any thread, unless the function's comment
// restricts this. Sizes are in bytes.
#ifndef INTERPOSE_CUDA_DEVICE_SAMPLES_H_
#define INTERPOSE_CUDA_DEVICE_SAMPLES_H_

#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

// Resets the state of all devices when a recording begins.
void ForgetDevices();

// These functions count the device bytes of recorded driver allocations that are not freed yet. A new maximum causes a
// sample, unless the bytes grew by less than 1 MiB since the last sample that a maximum caused.
void NoteAllocatedBytes(int device, DriverCall call, std::uint64_t bytes);
void NoteFreedBytes(int device, DriverCall call, std::uint64_t bytes);
std::uint64_t AllocatedBytes(int device);

// Takes the first sample of a device (kStart), once. Call it inside a wrapped call of the program, after the original
// function has returned.
void NoteDevice(int device);
// Takes a sample after a refused allocation. Returns the device's free bytes, or kNotKnown.
std::uint64_t SampleAfterRefusal(int device);

// Requests NVML samples of devices that are newly used or that refused an allocation, and once a second of all used
// devices. Called by the writer's thread each time it reads the ring.
void RequestDueSamples();
// Takes the requested samples. Called on the sampling thread (sampling_thread.h).
void TakeRequestedSamples();
// Takes the final sample of each device. Called by the thread that ends the recording, while recording is still on.
// Waits at most two seconds for NVML.
void TakeFinalSamples();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DEVICE_SAMPLES_H_
