// Queries NVML, NVIDIA's management library, for the memory that each process uses on a device, as the driver counts
// it.
//
// A query takes microseconds to milliseconds, and takes locks. So queries are made only around a call that creates a
// context, and on the sampling thread (sampling_thread.h). The first query initializes NVML, so a process that never
// uses a CUDA device never initializes NVML. A forked child never uses the NVML that its parent initialized. If a
// process has a MIG instance (a slice of a GPU), the figures belong to the instance.
//
// This code needs no library except libc. Its functions may be called on any thread.
#ifndef INTERPOSE_CUDA_NVML_QUERIES_H_
#define INTERPOSE_CUDA_NVML_QUERIES_H_

#include <cstdint>

#include "interpose/cuda/driver_records.h"

namespace memoir {

// Loads libnvidia-ml.so.1 if it exists and is not loaded yet, and never unloads it. Must not be called in a hook,
// because it calls the loader.
void LoadNvml();
// Whether LoadNvml has loaded NVML.
bool HasNvml();

// Stores pointers to the dlopen and dlsym of the process, for LoadNvml to call.
void SetLoader(void* (*open)(const char*, int), void* (*find)(void*, const char*));

// Stores the bus id and UUID of the device, by which NVML will identify the device. Called while the program is inside
// a CUDA call.
void IdentifyDevice(int device);

// Stores the device's free bytes in `free`. False if NVML does not report them.
bool ReadNvmlFree(int device, std::uint64_t* free);

// Sets the bytes of this process and of all other processes, and the free bytes if they are unknown. Figures that NVML
// does not report stay unchanged. NVML may not list this process (in a container with its own process ids). In this
// case the bytes of processes stay unchanged.
void ReadNvmlMemory(int device, DeviceSample* numbers);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_NVML_QUERIES_H_
