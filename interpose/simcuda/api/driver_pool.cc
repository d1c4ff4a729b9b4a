// The driver's names for what the runtime's memory and pools do (runtime_memory.cc, runtime_pool.cc).
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "interpose/simcuda/api/exported.h"

namespace {

// The runtime's codes are the driver's.
CUresult Driver(cudaError_t error) { return static_cast<CUresult>(error); }

void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Where the driver has an address, the runtime has a pointer.
template <typename Call>
CUresult Into(CUdeviceptr* address, Call call) {
  void* pointer = nullptr;
  const cudaError_t error = call(&pointer);
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return Driver(error);
}

}  // namespace

SIMULATED CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return Into(address, [&](void** pointer) { return cudaMallocAsync(pointer, bytes, stream); });
}

SIMULATED CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                           CUstream stream) {
  return Into(address, [&](void** pointer) { return cudaMallocFromPoolAsync(pointer, bytes, pool, stream); });
}

SIMULATED CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return Driver(cudaFreeAsync(Pointer(address), stream));
}

SIMULATED CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return Into(address, [&](void** pointer) { return cudaMallocManaged(pointer, bytes, flags); });
}

SIMULATED CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height,
                                      unsigned) {
  return Into(address, [&](void** pointer) { return cudaMallocPitch(pointer, pitch, width, height); });
}

SIMULATED CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return Driver(cudaDeviceGetDefaultMemPool(pool, device));
}

SIMULATED CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return Driver(cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value));
}

SIMULATED CUresult cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  return Driver(cudaMallocHost(pointer, bytes));
}

SIMULATED CUresult cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
  return Driver(cudaHostRegister(pointer, bytes, flags));
}

SIMULATED CUresult cuMemHostUnregister(void* pointer) { return Driver(cudaHostUnregister(pointer)); }

SIMULATED CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  cudaIpcMemHandle_t got{};
  const cudaError_t error = cudaIpcGetMemHandle(&got, Pointer(address));
  std::memcpy(handle->reserved, got.reserved, sizeof got.reserved);
  return Driver(error);
}

SIMULATED CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  cudaIpcMemHandle_t given{};
  std::memcpy(given.reserved, handle.reserved, sizeof given.reserved);
  return Into(address, [&](void** pointer) { return cudaIpcOpenMemHandle(pointer, given, flags); });
}

SIMULATED CUresult cuIpcCloseMemHandle(CUdeviceptr address) { return Driver(cudaIpcCloseMemHandle(Pointer(address))); }
