// Readings of devices: what CUDA and NVML say of all that a device holds, when it is first seen, when the driver has
// given more than ever before, at refusals, every second, and in the end (docs/event_schema.md).
//
//   in a call of the program's    cudaMemGetInfo's numbers alone: torch's lock of the device may be held
//   on a thread for it            NVML's; `free`, too (reading_thread.h)
//
// libc only. Any thread. Sizes are bytes.
#ifndef INTERPOSE_CUDA_DEVICE_READINGS_H_
#define INTERPOSE_CUDA_DEVICE_READINGS_H_

#include <cstdint>

#include "interpose/ring_record.h"

namespace memoir {

// A recording begins: nothing is known of any device.
void ForgetDevices();

// What the driver has given to this process of the device and not got back, as far as it was recorded. A new maximum
// is read; but growth of less than 1 MiB since the last reading is not.
void NoteGiven(int device, DriverCall call, std::uint64_t bytes);
void NoteTakenBack(int device, DriverCall call, std::uint64_t bytes);
std::uint64_t GivenBytes(int device);

// Inside of a call of the program's, after it. The first of a device is its kStart.
void SeeDevice(int device);
// Returns what the device has left, or kNotKnown.
std::uint64_t ReadRefused(int device);

// From the writer's thread, with each of its looks: asks for NVML's numbers of devices that were seen since, were
// refused something, or were not read for a second.
void ReadRegularly();
// What was asked for, on the thread for it.
void ReadWanted();
// By whoever ends the recording, before it does. Waits two seconds for NVML at most, and goes on without it.
void ReadLast();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DEVICE_READINGS_H_
