// Wraps calls on physical memory and its mappings: cuMemCreate and similar functions.
#include <cstdint>

#include "interpose/cuda/device_samples.h"
#include "interpose/cuda/driver_queries.h"
#include "interpose/cuda/driver_records.h"
#include "interpose/cuda/physical_memory.h"
#include "interpose/cuda/wrapped_calls.h"
#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

using Handle = std::uint64_t;   // CUmemGenericAllocationHandle
using Address = std::uint64_t;  // CUdeviceptr
using Flags = unsigned long long;
using Bytes = std::size_t;

// The beginning of CUmemAllocationProp.
struct Properties {
  int type, handle_types;
  int location_type, location;
};
constexpr int kOnDevice = 1;  // CU_MEM_LOCATION_TYPE_DEVICE

int Create(const CallSite& called, int (*original)(Handle*, Bytes, const Properties*, Flags), Handle* handle,
           Bytes bytes, const Properties* properties, Flags flags) {
  const OutermostDriverCall outermost;
  const int result = original(handle, bytes, properties, flags);
  if (!outermost || properties == nullptr) return result;
  const ErrnoKeeper errno_keeper;
  const int device = properties->location_type == kOnDevice ? properties->location : -1;
  if (result == 0) {
    NotePhysicalCreated(*handle, device, bytes, LibraryAt(called.code));
  } else if (static_cast<std::uint32_t>(result) == kCudaOutOfMemory) {
    RecordDriverRefusal({DriverCall::kMemoryCreate, device, bytes, SampleAfterRefusal(device), kCudaOutOfMemory},
                        LibraryAt(called.code));
  }
  return result;
}

int Import(const CallSite&, int (*original)(Handle*, void*, int), Handle* handle, void* shared, int type) {
  const OutermostDriverCall outermost;
  const int result = original(handle, shared, type);
  const ErrnoKeeper errno_keeper;
  if (outermost && result == 0) NotePhysicalImported(*handle, DeviceOfContext() < 0 ? 0 : DeviceOfContext());
  return result;
}

int Retain(const CallSite&, int (*original)(Handle*, void*), Handle* handle, void* address) {
  const int result = original(handle, address);
  const ErrnoKeeper errno_keeper;
  if (result == 0) NotePhysicalRetained(*handle, reinterpret_cast<std::uintptr_t>(address));
  return result;
}

int Release(const CallSite&, int (*original)(Handle), Handle handle) {
  {
    const ErrnoKeeper errno_keeper;
    NotePhysicalReleasing(handle);
  }
  return original(handle);
}

int Map(const CallSite& called, int (*original)(Address, Bytes, Bytes, Handle, Flags), Address address, Bytes bytes,
        Bytes offset, Handle handle, Flags flags) {
  const int result = original(address, bytes, offset, handle, flags);
  const ErrnoKeeper errno_keeper;
  if (result == 0) NotePhysicalMapped(address, bytes, handle, LibraryAt(called.code));
  return result;
}

int Unmap(const CallSite&, int (*original)(Address, Bytes), Address address, Bytes bytes) {
  {
    const ErrnoKeeper errno_keeper;
    NotePhysicalUnmapping(address, bytes);
  }
  return original(address, bytes);
}

constexpr WrappedCall kCalls[] = {
    Wrapped<"cuMemCreate", &Create>(),
    Wrapped<"cuMemImportFromShareableHandle", &Import>(),
    Wrapped<"cuMemRetainAllocationHandle", &Retain>(),
    Wrapped<"cuMemRelease", &Release>(),
    Wrapped<"cuMemMap", &Map>(),
    Wrapped<"cuMemUnmap", &Unmap>(),
};

}  // namespace

std::span<const WrappedCall> MappingCalls() { return kCalls; }

}  // namespace memoir
