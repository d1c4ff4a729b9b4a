// Queries of the driver that never create a CUDA context: they need no context, or use the context that is current on
// the calling thread. Memoir finds the driver's functions among the loaded objects; without a driver every query fails.
//
// The driver's library may be unloaded, for example by a program that opens libcuda.so.1 only to find out whether it
// exists. So if any object was unloaded, the next query looks up all functions again, unless a query has found a
// current context. Memoir does not keep the library loaded, because a program that closes the driver before it forks
// expects to load a new driver in the child.
//
// This code needs no library except libc. Its functions may be called on any thread, also under the lock of torch's
// CUDA allocator, but not in a forked child that does not record.
#ifndef INTERPOSE_CUDA_DRIVER_QUERIES_H_
#define INTERPOSE_CUDA_DRIVER_QUERIES_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

inline constexpr int kMaxCudaDevices = 64;
inline constexpr std::uint32_t kCudaOutOfMemory = 2;  // the same number in the runtime and the driver

// Looks up the functions that earlier calls did not find. If objects were unloaded since the last call, looks up all
// functions. Needs no LoaderListGuard. Does nothing while another thread runs this function.
void FindCudaFunctions();
// Resets the state when a recording begins, perhaps in a forked child.
void ForgetCudaFunctions();

// Returns the device whose context is current on this thread. -1 if no context is current.
int DeviceOfContext();
// Whether any query found a current context since the recording began.
bool HasSeenContext();
// Returns the context that is current on this thread. 0 if no context is current.
std::uint64_t CurrentContext();
// Returns the device that the runtime uses on this thread, even if this device has no context yet. -1 if unknown.
int DeviceOfRuntime();
// Whether the device has a primary context: 1 or 0. -1 if unknown.
int HasContext(int device);

// Each of the following functions stores its result and returns true. False on failure.

// Free and total bytes of the current context's device.
bool ReadFreeBytes(std::uint64_t* free, std::uint64_t* total);
// Bytes that the device's default pool of cudaMallocAsync has reserved, whether they are used or not.
bool ReadPoolBytes(int device, std::uint64_t* bytes);
// The device to which the block at an address belongs.
bool ReadBlockDevice(std::uint64_t address, int* device);
// The size of the block around an address.
bool ReadBlockBytes(std::uint64_t address, std::uint64_t* bytes);
// The PCI bus id, by which NVML identifies the device: "00000000:10:00.0".
bool ReadBusId(int device, char* text, std::size_t bytes);
// The UUID; for a MIG instance (a slice of a GPU), the UUID of the instance. `uuid`: 16 bytes.
bool ReadUuid(int device, unsigned char* uuid);
// The mangled name of a kernel (CUDA 12.3 and later). `function`: the host function that represents the kernel. Only
// for kernels that were launched: for another kernel the runtime would set its last error, which the program would see.
bool ReadHostFunctionName(const void* function, const char** name);
// The mangled name of a CUkernel (CUDA 12.3 and later).
bool ReadKernelName(const void* kernel, const char** name);
// The mangled name of a CUfunction, or of a CUkernel that the program uses as a CUfunction (CUDA 12.3 and later).
bool ReadFunctionName(const void* function, const char** name);
// The size of the device's memory.
bool ReadTotalBytes(int device, std::uint64_t* bytes);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DRIVER_QUERIES_H_
