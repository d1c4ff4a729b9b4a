// NVML, NVIDIA's management library: what a device holds for this process and for others, as its driver counts.
//
// Asking takes microseconds to milliseconds, and locks of its own: only around a call that makes a context, and on the
// thread that reads. It is begun by the first question about a device, so that a process that never uses CUDA has none
// of its state; a forked child never uses what an ancestor has begun. Where a process is given a part of a GPU (MIG) it
// is asked about the part. libc only. Any thread.
#ifndef INTERPOSE_CUDA_MANAGEMENT_H_
#define INTERPOSE_CUDA_MANAGEMENT_H_

#include <cstdint>

#include "interpose/cuda/driver_records.h"

namespace memoir {

// Loads it (libnvidia-ml.so.1, for ever), where it is and was not loaded yet. Not in a hook: it calls the loader.
void LoadManagement();
bool HasManagement();

// What LoadManagement calls: dlopen and dlsym of the process.
void UseLoader(void* (*open)(const char*, int), void* (*find)(void*, const char*));

// In a call of the program's: notes how NVML will know the device.
void KnowDevice(int device);

// Bytes that the device has left; false where NVML does not say.
bool ReadManagedFree(int device, std::uint64_t* free);

// Bytes of this and of all other processes, and where they are not known yet those that are left. What is not known
// stays as it is: all, where this process is not in NVML's list (in a container with process ids of its own).
void ReadManaged(int device, DeviceNumbersRead* numbers);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_MANAGEMENT_H_
