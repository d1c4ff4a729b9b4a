// What the driver is asked about devices: never such that it makes a context, and only what needs none or one that is
// current on the calling thread. Found among the objects that are loaded; where there is no driver, every answer is no.
//
// A library may be unloaded again (a probe that opens libcuda.so.1 and closes it), and its functions with it: nothing
// is asked of one that may be gone. None is kept from being unloaded: a program that closes the driver before it forks
// counts on a fresh one.
//
// libc only. Any thread, also under torch's lock of a device; not in a forked child that does not record.
#ifndef INTERPOSE_CUDA_DRIVER_QUESTIONS_H_
#define INTERPOSE_CUDA_DRIVER_QUESTIONS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

inline constexpr int kMaxCudaDevices = 64;
inline constexpr std::uint32_t kCudaOutOfMemory = 2;  // the runtime's and the driver's

// Looks for those functions that were not found before; for all of them, where objects were unloaded since. Needs no
// turn at the loader: where another thread is at it, nothing is done.
void FindCudaFunctions();
// A recording begins, perhaps in a forked child.
void ForgetCudaFunctions();

// The device whose context is current on this thread; -1: none.
int DeviceOfContext();
// Whether one was current when it was asked for last, or before.
bool HasSeenContext();
// The context itself; 0: none.
std::uint64_t CurrentContext();
// The one that the runtime would use on this thread, with or without a context; -1 where that cannot be told.
int DeviceOfRuntime();
// Whether the device has a primary context; -1: that cannot be told.
int HasContext(int device);

// Of the device whose context is current.
bool ReadFreeBytes(std::uint64_t* free, std::uint64_t* total);
// Reserved by the device's default pool, used or not.
bool ReadPoolBytes(int device, std::uint64_t* bytes);
// The device that a block is of.
bool ReadBlockDevice(std::uint64_t address, int* device);
// Of the block around an address.
bool ReadBlockBytes(std::uint64_t address, std::uint64_t* bytes);
// "00000000:10:00.0": by it NVML knows the device.
bool ReadBusId(int device, char* text, std::size_t bytes);
// Of a part of a GPU (MIG) those of the part. `uuid`: 16 bytes.
bool ReadUuid(int device, unsigned char* uuid);
// Mangled, as CUDA keeps them (12.3 and later). Only of kernels that were launched: of others the runtime would note an
// error for the program.
bool ReadHostFunctionName(const void* function, const char** name);
bool ReadKernelName(const void* kernel, const char** name);      // CUkernel
bool ReadFunctionName(const void* function, const char** name);  // CUfunction
bool ReadTotalBytes(int device, std::uint64_t* bytes);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DRIVER_QUESTIONS_H_
