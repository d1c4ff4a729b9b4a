// The runtime's stream-ordered allocations and their pools.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "simcuda/api/exported.h"
#include "simcuda/api/runtime_error.h"
#include "simcuda/machine/machine.h"
#include "simcuda/machine/memory_pool.h"

using memoir::simcuda::CurrentDevice;
using memoir::simcuda::Expect;
using memoir::simcuda::MemoryPool;
using memoir::simcuda::Return;
using memoir::simcuda::TheMachine;

namespace {

MemoryPool& PoolOf(cudaMemPool_t handle) { return *reinterpret_cast<MemoryPool*>(handle); }
cudaMemPool_t HandleOf(MemoryPool& pool) { return reinterpret_cast<cudaMemPool_t>(&pool); }

cudaError_t AllocateFrom(MemoryPool& pool, void** pointer, std::size_t bytes) {
  *pointer = bytes == 0 ? nullptr : reinterpret_cast<void*>(pool.Allocate(bytes));
  return Expect(bytes == 0 || *pointer != nullptr, cudaErrorMemoryAllocation);
}

}  // namespace

SIMULATED cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) {
  if (TheMachine().devices() == 0) return Return(cudaErrorNoDevice);
  return AllocateFrom(memoir::simcuda::DefaultPool(CurrentDevice()), pointer, bytes);
}

SIMULATED cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t) {
  return AllocateFrom(PoolOf(pool), pointer, bytes);
}

SIMULATED cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
  if (pointer == nullptr) return cudaSuccess;
  auto* const pool = memoir::simcuda::PoolOfBlock(reinterpret_cast<std::uint64_t>(pointer));
  if (pool == nullptr) return cudaFree(pointer);
  return Expect(pool->Free(reinterpret_cast<std::uint64_t>(pointer)), cudaErrorInvalidValue);
}

SIMULATED cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (!TheMachine().IsDevice(device)) return Return(cudaErrorInvalidDevice);
  *pool = HandleOf(memoir::simcuda::DefaultPool(device));
  return cudaSuccess;
}

SIMULATED cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}

SIMULATED cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (!TheMachine().IsDevice(properties->location.id)) return Return(cudaErrorInvalidDevice);
  *pool = HandleOf(*new MemoryPool(TheMachine().device(properties->location.id)));
  return cudaSuccess;
}

// In CUDA, a destroyed pool exists until its blocks are freed. Here a destroyed pool is never deleted.
SIMULATED cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  PoolOf(pool).set_release_threshold(0);
  PoolOf(pool).TrimTo(0);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes) {
  PoolOf(pool).TrimTo(bytes);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      PoolOf(pool).set_release_threshold(*static_cast<std::uint64_t*>(value));
      break;
    case cudaMemPoolAttrUsedMemHigh:
      PoolOf(pool).ResetHighMarks(true, false);
      break;
    case cudaMemPoolAttrReservedMemHigh:
      PoolOf(pool).ResetHighMarks(false, true);
      break;
    default:
      break;  // the policies for reuse between streams: ignored, because no stream waits here
  }
  return cudaSuccess;
}

SIMULATED cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const auto statistics = PoolOf(pool).statistics();
  auto& number = *static_cast<std::uint64_t*>(value);
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      number = statistics.release_threshold;
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
      number = statistics.reserved;
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
      number = statistics.reserved_high;
      return cudaSuccess;
    case cudaMemPoolAttrUsedMemCurrent:
      number = statistics.used;
      return cudaSuccess;
    case cudaMemPoolAttrUsedMemHigh:
      number = statistics.used_high;
      return cudaSuccess;
    default:
      *static_cast<int*>(value) = 1;  // the policies for reuse between streams, all on
      return cudaSuccess;
  }
}
