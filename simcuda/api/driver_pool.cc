// The driver's stream-ordered allocations.
#include "simcuda/api/driver_conversions.h"
#include "simcuda/api/exported.h"

using memoir::simcuda::Driver;
using memoir::simcuda::Into;
using memoir::simcuda::Pointer;

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

SIMULATED CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return Driver(cudaDeviceGetDefaultMemPool(pool, device));
}

SIMULATED CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return Driver(cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value));
}
