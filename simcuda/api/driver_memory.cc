// The driver's memory functions: blocks, host memory, copies, physical memory and its mapping, attributes of addresses,
// memory of other processes.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "simcuda/api/driver_conversions.h"
#include "simcuda/api/exported.h"
#include "simcuda/machine/machine.h"

using memoir::simcuda::BlockKind;
using memoir::simcuda::CurrentDevice;
using memoir::simcuda::Device;
using memoir::simcuda::Driver;
using memoir::simcuda::Into;
using memoir::simcuda::kGranularity;
using memoir::simcuda::Pointer;
using memoir::simcuda::TheMachine;

namespace {

CUresult Expect(bool condition, CUresult error) { return condition ? CUDA_SUCCESS : error; }

bool IsWhole(std::uint64_t number) { return number % kGranularity == 0; }

}  // namespace

SIMULATED CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return Driver(cudaMemGetInfo(free, total));
}

SIMULATED CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  void* pointer = nullptr;
  const cudaError_t error = bytes == 0 ? cudaErrorInvalidValue : cudaMalloc(&pointer, bytes);
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return Driver(error);
}

SIMULATED CUresult cuMemFree_v2(CUdeviceptr address) { return Driver(cudaFree(Pointer(address))); }

SIMULATED CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return Into(address, [&](void** pointer) { return cudaMallocManaged(pointer, bytes, flags); });
}

SIMULATED CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height,
                                      unsigned) {
  return Into(address, [&](void** pointer) { return cudaMallocPitch(pointer, pitch, width, height); });
}

SIMULATED CUresult cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  return Driver(cudaMallocHost(pointer, bytes));
}

SIMULATED CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return Driver(cudaHostAlloc(pointer, bytes, flags));
}

SIMULATED CUresult cuMemFreeHost(void* pointer) { return Driver(cudaFreeHost(pointer)); }

SIMULATED CUresult cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
  return Driver(cudaHostRegister(pointer, bytes, flags));
}

SIMULATED CUresult cuMemHostUnregister(void* pointer) { return Driver(cudaHostUnregister(pointer)); }

SIMULATED CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return Driver(cudaMemcpy(Pointer(to), from, bytes, cudaMemcpyDefault));
}

SIMULATED CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return Driver(cudaMemcpy(to, Pointer(from), bytes, cudaMemcpyDefault));
}

SIMULATED CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return Driver(cudaMemcpy(Pointer(to), Pointer(from), bytes, cudaMemcpyDefault));
}

SIMULATED CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return Driver(cudaMemcpyAsync(Pointer(to), from, bytes, cudaMemcpyDefault, stream));
}

SIMULATED CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return Driver(cudaMemcpyAsync(to, Pointer(from), bytes, cudaMemcpyDefault, stream));
}

SIMULATED CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return Driver(cudaMemcpyAsync(Pointer(to), Pointer(from), bytes, cudaMemcpyDefault, stream));
}

SIMULATED CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  return Driver(cudaMemsetAsync(Pointer(to), value, bytes, stream));
}

// If the four bytes of `value` differ, zeros are stored instead; torch and triton never pass such a value.
SIMULATED CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t words, CUstream stream) {
  const bool same = value == (value & 0xff) * 0x01010101u;
  return Driver(cudaMemsetAsync(Pointer(to), same ? static_cast<int>(value & 0xff) : 0, words * 4, stream));
}

SIMULATED CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                                 CUmemAllocationGranularity_flags) {
  *bytes = kGranularity;
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                               const CUmemAllocationProp* properties, unsigned long long) {
  if (!TheMachine().IsDevice(properties->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  if (properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_FABRIC) return CUDA_ERROR_NOT_SUPPORTED;
  if (bytes == 0 || !IsWhole(bytes)) return CUDA_ERROR_INVALID_VALUE;
  *handle = TheMachine().virtual_memory().Create(TheMachine().device(properties->location.id), bytes);
  return Expect(*handle != 0, CUDA_ERROR_OUT_OF_MEMORY);
}

SIMULATED CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return Expect(TheMachine().virtual_memory().Release(handle), CUDA_ERROR_INVALID_VALUE);
}

SIMULATED CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  *handle = TheMachine().virtual_memory().Retain(reinterpret_cast<std::uint64_t>(address));
  return Expect(*handle != 0, CUDA_ERROR_INVALID_VALUE);
}

SIMULATED CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                          CUmemGenericAllocationHandle handle) {
  const auto device = TheMachine().virtual_memory().DeviceOf(handle);
  *properties = CUmemAllocationProp();
  properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties->location.id = device.value_or(0);
  return Expect(device.has_value(), CUDA_ERROR_INVALID_VALUE);
}

SIMULATED CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr,
                                       unsigned long long) {
  if (bytes == 0 || !IsWhole(bytes) || !IsWhole(alignment) || (alignment & (alignment - 1)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *address =
      TheMachine().device(CurrentDevice()).Allocate(bytes, BlockKind::kAddresses, std::max(alignment, kGranularity));
  return Expect(*address != 0, CUDA_ERROR_OUT_OF_MEMORY);
}

SIMULATED CUresult cuMemAddressFree(CUdeviceptr address, std::size_t) {
  Device* const device = TheMachine().DeviceOf(Pointer(address));
  return Expect(device != nullptr && device->Free(address, BlockKind::kAddresses), CUDA_ERROR_INVALID_VALUE);
}

SIMULATED CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t, CUmemGenericAllocationHandle handle,
                            unsigned long long) {
  Device* const device = TheMachine().DeviceOf(Pointer(address));
  const auto block = device == nullptr ? std::nullopt : device->BlockAt(address);
  const bool reserved =
      block && block->kind == BlockKind::kAddresses && address + bytes <= block->address + block->bytes;
  return Expect(reserved && TheMachine().virtual_memory().Map(address, bytes, handle), CUDA_ERROR_INVALID_VALUE);
}

SIMULATED CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return Expect(TheMachine().virtual_memory().Unmap(address, bytes), CUDA_ERROR_INVALID_VALUE);
}

SIMULATED CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  Device* const device = TheMachine().DeviceOf(Pointer(address));
  const auto block = device == nullptr ? std::nullopt : device->BlockAt(address);
  if (!block) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = block->address;
  if (bytes != nullptr) *bytes = block->bytes;
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  Device* const device = TheMachine().DeviceOf(Pointer(address));
  if (device == nullptr && !TheMachine().pinned_memory().IsPinned(Pointer(address))) return CUDA_ERROR_INVALID_VALUE;
  const int ordinal = device == nullptr ? CurrentDevice() : device->ordinal();
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return cuDevicePrimaryCtxRetain(static_cast<CUcontext*>(value), ordinal);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<CUmemorytype*>(value) = device == nullptr ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *static_cast<CUdeviceptr*>(value) = address;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = ordinal;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(value) = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

// Does nothing, because all simulated memory is readable and writable from every device.
SIMULATED CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
  return CUDA_SUCCESS;
}

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
