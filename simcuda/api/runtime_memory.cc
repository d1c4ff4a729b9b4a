// The runtime's memory functions: device blocks, pinned and managed memory, attributes of addresses, memory of other
// processes.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstring>

#include "simcuda/api/exported.h"
#include "simcuda/api/runtime_error.h"
#include "simcuda/machine/machine.h"
#include "simcuda/machine/memory_pool.h"
#include "simcuda/streams/graph_capture.h"

using memoir::simcuda::BlockKind;
using memoir::simcuda::CurrentDevice;
using memoir::simcuda::Device;
using memoir::simcuda::Expect;
using memoir::simcuda::kGranularity;
using memoir::simcuda::PinnedMemory;
using memoir::simcuda::Return;
using memoir::simcuda::TheMachine;

namespace {

std::uint64_t Address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

// Allocates a block. Returns cudaErrorNoDevice, out of memory, or success with *pointer set.
cudaError_t Allocate(void** pointer, std::size_t bytes, BlockKind kind) {
  *pointer = nullptr;
  if (TheMachine().devices() == 0) return Return(cudaErrorNoDevice);
  if (memoir::simcuda::IsRefusedByCapture()) return Return(cudaErrorStreamCaptureUnsupported);
  Device& device = TheMachine().device(CurrentDevice());
  if (!device.Start()) return Return(cudaErrorMemoryAllocation);
  if (bytes == 0) return cudaSuccess;
  *pointer = reinterpret_cast<void*>(device.Allocate(bytes, kind, kGranularity));
  return Expect(*pointer != nullptr, cudaErrorMemoryAllocation);
}

// The first bytes of a handle by which another process opens a block. The rest of the handle's 64 bytes is zero.
struct ExportedBlock {
  std::uint64_t address, bytes;
  int process, device;
};
static_assert(sizeof(ExportedBlock) <= sizeof(cudaIpcMemHandle_t));

}  // namespace

SIMULATED cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return Allocate(pointer, bytes, BlockKind::kDevice);
}

SIMULATED cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  return bytes == 0 ? Return(cudaErrorInvalidValue) : Allocate(pointer, bytes, BlockKind::kManaged);
}

SIMULATED cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return Allocate(pointer, *pitch * height, BlockKind::kDevice);
}

SIMULATED cudaError_t cudaMalloc3D(cudaPitchedPtr* block, cudaExtent extent) {
  *block = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&block->ptr, &block->pitch, extent.width, extent.height * extent.depth);
}

SIMULATED cudaError_t cudaFree(void* pointer) {
  if (TheMachine().devices() == 0) return Return(cudaErrorNoDevice);
  if (pointer == nullptr) return Expect(TheMachine().device(CurrentDevice()).Start(), cudaErrorMemoryAllocation);
  Device* const device = TheMachine().DeviceOf(pointer);
  if (device == nullptr) return Return(cudaErrorInvalidValue);
  if (auto* const pool = memoir::simcuda::PoolOfBlock(Address(pointer));
      pool != nullptr && pool->Free(Address(pointer)))
    return cudaSuccess;
  TheMachine().progress().FinishDevice(device->ordinal());  // cudaFree waits for the device's work
  return Expect(
      device->Free(Address(pointer), BlockKind::kDevice) || device->Free(Address(pointer), BlockKind::kManaged),
      cudaErrorInvalidValue);
}

SIMULATED cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (TheMachine().devices() == 0) return Return(cudaErrorNoDevice);
  Device& device = TheMachine().device(CurrentDevice());
  if (!device.Start()) return Return(cudaErrorMemoryAllocation);
  const auto info = device.Info();
  *free = info.free();
  *total = info.total;
  return cudaSuccess;
}

SIMULATED cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  *pointer = bytes == 0 ? nullptr : TheMachine().pinned_memory().Allocate(bytes);
  return Expect(bytes == 0 || *pointer != nullptr, cudaErrorMemoryAllocation);
}

SIMULATED cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) { return cudaHostAlloc(pointer, bytes, 0); }

SIMULATED cudaError_t cudaFreeHost(void* pointer) {
  return Expect(pointer == nullptr || TheMachine().pinned_memory().Free(pointer), cudaErrorInvalidValue);
}

SIMULATED cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  if (pointer == nullptr || bytes == 0) return Return(cudaErrorInvalidValue);
  const auto registered = TheMachine().pinned_memory().Register(pointer, bytes);
  if (registered == PinnedMemory::RegisterResult::kRefused) return Return(cudaErrorMemoryAllocation);
  return Expect(registered == PinnedMemory::RegisterResult::kYes, cudaErrorHostMemoryAlreadyRegistered);
}

SIMULATED cudaError_t cudaHostUnregister(void* pointer) {
  return Expect(TheMachine().pinned_memory().Unregister(pointer), cudaErrorHostMemoryNotRegistered);
}

SIMULATED cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return Expect(TheMachine().pinned_memory().IsPinned(host), cudaErrorInvalidValue);
}

SIMULATED cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  *flags = cudaHostAllocMapped | cudaHostAllocPortable;
  return Expect(TheMachine().pinned_memory().IsPinned(host), cudaErrorInvalidValue);
}

SIMULATED cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = cudaPointerAttributes();
  void* const address = const_cast<void*>(pointer);
  if (Device* const device = TheMachine().DeviceOf(pointer)) {
    const auto block = device->BlockAt(Address(pointer));
    const bool managed = block && block->kind == BlockKind::kManaged;
    attributes->type = managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
    attributes->device = device->ordinal();
    attributes->devicePointer = address;
    attributes->hostPointer = managed ? address : nullptr;
  } else if (TheMachine().pinned_memory().IsPinned(pointer)) {
    attributes->type = cudaMemoryTypeHost;
    attributes->device = CurrentDevice();
    attributes->devicePointer = attributes->hostPointer = address;
  } else {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = -2;  // cudaInvalidDeviceId, as the real runtime reports it
    attributes->hostPointer = address;
  }
  return cudaSuccess;
}

SIMULATED cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  Device* const device = TheMachine().DeviceOf(pointer);
  const auto block = device == nullptr ? std::nullopt : device->BlockAt(Address(pointer));
  if (!block || block->kind != BlockKind::kDevice) return Return(cudaErrorInvalidValue);
  *handle = cudaIpcMemHandle_t();
  const ExportedBlock exported{block->address, block->bytes, getpid(), device->ordinal()};
  std::memcpy(handle->reserved, &exported, sizeof exported);
  return cudaSuccess;
}

// Reserves a range of addresses as large as the exported block. The range reads as zero, because this process cannot
// read the other process's block.
SIMULATED cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned) {
  ExportedBlock exported{};
  std::memcpy(&exported, handle.reserved, sizeof exported);
  if (exported.bytes == 0 || exported.process == getpid()) return Return(cudaErrorInvalidValue);
  return Allocate(pointer, exported.bytes, BlockKind::kImported);
}

SIMULATED cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  Device* const device = TheMachine().DeviceOf(pointer);
  return Expect(device != nullptr && device->Free(Address(pointer), BlockKind::kImported), cudaErrorInvalidValue);
}
