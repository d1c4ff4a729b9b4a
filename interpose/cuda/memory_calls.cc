// Wraps calls that allocate and free memory with an address: device memory, pinned memory, managed memory, memory of
// other processes.
#include <cstdint>

#include "interpose/cuda/context_watch.h"
#include "interpose/cuda/device_samples.h"
#include "interpose/cuda/driver_blocks.h"
#include "interpose/cuda/driver_queries.h"
#include "interpose/cuda/wrapped_calls.h"
#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

using Bytes = std::size_t;

bool IsOnHost(DriverCall call) { return call == DriverCall::kHostAllocate || call == DriverCall::kHostRegister; }

// Returns the device from which the call allocates. -1 for host memory; 0 if no context is current.
int DeviceOf(DriverCall call) {
  if (IsOnHost(call)) return -1;
  const int device = DeviceOfContext();
  return device < 0 ? 0 : device;
}

// Records an allocation. Stream-ordered memory belongs to the device of its pool, whichever device is current.
void RecordAllocation(DriverCall call, const void* pointer, std::uint64_t bytes, const void* code) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address == 0) return;
  const int home = DeviceOfContext();
  int device = IsOnHost(call) ? -1 : home < 0 ? 0 : home;
  if (call == DriverCall::kMallocAsync) ReadBlockDevice(address, &device);
  NoteBlockAllocated({call, device, address, bytes, home, CurrentContext()}, LibraryAt(code));
}

void RecordRefusal(DriverCall call, int result, std::uint64_t bytes, const void* code) {
  if (static_cast<std::uint32_t>(result) != kCudaOutOfMemory) return;
  const int device = DeviceOf(call);
  RecordDriverRefusal({call, device, bytes, SampleAfterRefusal(device), kCudaOutOfMemory}, LibraryAt(code));
}

// Makes and records an allocating call. After the call, `pointer()` returns the new block's address and `bytes()` its
// size.
template <DriverCall kCall, class Call, class Pointer, class Size>
int Give(const void* code, Call call, Pointer pointer, Size bytes) {
  const OutermostDriverCall outermost;
  if (!outermost) return call();
  ContextWatch context;
  {
    const ErrnoKeeper errno_keeper;
    context = ContextWatch::ForRuntime();
  }
  const int result = call();
  const ErrnoKeeper errno_keeper;
  // The device's free memory includes managed memory until a kernel or a prefetch uses it.
  const bool takes_device_memory = !IsOnHost(kCall) && kCall != DriverCall::kMallocManaged;
  context.Settle(true, result == 0 && takes_device_memory ? bytes() : 0, code);
  if (result == 0) {
    RecordAllocation(kCall, pointer(), bytes(), code);
  } else {
    RecordRefusal(kCall, result, bytes(), code);
  }
  return result;
}

// Wraps an allocating call whose first parameters are the result's address and the size.
template <DriverCall kCall, class... Rest>
int GiveBlock(const CallSite& called, int (*original)(void**, Bytes, Rest...), void** pointer, Bytes bytes,
              Rest... rest) {
  return Give<kCall>(
      called.code, [&] { return original(pointer, bytes, rest...); }, [&] { return *pointer; }, [&] { return bytes; });
}

// Records the pitch (bytes from one row to the next) times the height as the size. The pitch is known only after a
// successful call. For a refused call the width is used in its place, because it is the smallest possible pitch.
template <class... Rest>
int GivePitched(const CallSite& called, int (*original)(void**, Bytes*, Bytes, Bytes, Rest...), void** pointer,
                Bytes* pitch, Bytes width, Bytes height, Rest... rest) {
  bool done = false;
  return Give<DriverCall::kMalloc>(
      called.code,
      [&] {
        const int result = original(pointer, pitch, width, height, rest...);
        done = result == 0;
        return result;
      },
      [&] { return *pointer; }, [&] { return (done ? *pitch : width) * height; });
}

struct Pitched {  // cudaPitchedPtr
  void* pointer;
  Bytes pitch, width, height;
};
struct Extent {  // cudaExtent
  Bytes width, height, depth;
};
int Give3D(const CallSite& called, int (*original)(Pitched*, Extent), Pitched* pitched, Extent extent) {
  bool done = false;
  return Give<DriverCall::kMalloc>(
      called.code,
      [&] {
        const int result = original(pitched, extent);
        done = result == 0;
        return result;
      },
      [&] { return pitched->pointer; },
      [&] { return (done ? pitched->pitch : extent.width) * extent.height * extent.depth; });
}

// Returns the number of elements of an array. Only the driver knows the layout of an array, so Memoir records the bytes
// of its elements as its size.
std::uint64_t Elements(Bytes width, Bytes height, Bytes depth) {
  return std::uint64_t{width} * (height == 0 ? 1 : height) * (depth == 0 ? 1 : depth);
}
struct Channels {  // cudaChannelFormatDesc
  int bits[4];
  int kind;
};
std::uint64_t BytesOf(const Channels& channels) {
  std::uint64_t bits = 0;
  for (const int channel : channels.bits) bits += static_cast<std::uint64_t>(channel);
  return bits / 8;
}
int GiveArray(const CallSite& called, int (*original)(void**, const Channels*, Bytes, Bytes, unsigned), void** array,
              const Channels* channels, Bytes width, Bytes height, unsigned flags) {
  return Give<DriverCall::kMalloc>(
      called.code, [&] { return original(array, channels, width, height, flags); }, [&] { return *array; },
      [&] { return channels == nullptr ? 0 : BytesOf(*channels) * Elements(width, height, 1); });
}
int Give3DArray(const CallSite& called, int (*original)(void**, const Channels*, Extent, unsigned), void** array,
                const Channels* channels, Extent extent, unsigned flags) {
  return Give<DriverCall::kMalloc>(
      called.code, [&] { return original(array, channels, extent, flags); }, [&] { return *array; },
      [&] {
        return channels == nullptr ? 0 : BytesOf(*channels) * Elements(extent.width, extent.height, extent.depth);
      });
}

struct ArrayShape {  // CUDA_ARRAY_DESCRIPTOR
  Bytes width, height;
  int format;
  unsigned channels;
  static constexpr Bytes depth = 1;
};
struct Array3DShape {  // CUDA_ARRAY3D_DESCRIPTOR
  Bytes width, height, depth;
  int format;
  unsigned channels, flags;
};
// Bytes of one channel, by CUarray_format; 1 for video formats and formats of compressed blocks.
std::uint64_t BytesOfFormat(int format) {
  constexpr int kUint16 = 0x02, kUint32 = 0x03, kInt16 = 0x09, kInt32 = 0x0a, kHalf = 0x10, kFloat = 0x20;
  if (format == kUint32 || format == kInt32 || format == kFloat) return 4;
  return format == kUint16 || format == kInt16 || format == kHalf ? 2 : 1;
}
template <class Shape>
int CreateArray(const CallSite& called, int (*original)(void**, const Shape*), void** array, const Shape* shape) {
  return Give<DriverCall::kMalloc>(
      called.code, [&] { return original(array, shape); }, [&] { return *array; },
      [&] {
        return shape == nullptr ? 0
                                : BytesOfFormat(shape->format) * shape->channels *
                                      Elements(shape->width, shape->height, shape->depth);
      });
}

int Register(const CallSite& called, int (*original)(void*, Bytes, unsigned), void* pointer, Bytes bytes,
             unsigned flags) {
  return Give<DriverCall::kHostRegister>(
      called.code, [&] { return original(pointer, bytes, flags); }, [&] { return pointer; }, [&] { return bytes; });
}

struct IpcHandle {  // cudaIpcMemHandle_t, CUipcMemHandle: passed by value
  char bytes[64];
};
int OpenIpc(const CallSite& called, int (*original)(void**, IpcHandle, unsigned), void** pointer, IpcHandle handle,
            unsigned flags) {
  bool done = false;
  return Give<DriverCall::kIpcOpen>(
      called.code,
      [&] {
        const int result = original(pointer, handle, flags);
        done = result == 0;
        return result;
      },
      [&] { return *pointer; },
      [&] {
        std::uint64_t bytes = 0;
        return done && ReadBlockBytes(reinterpret_cast<std::uintptr_t>(*pointer), &bytes) ? bytes : 0;
      });
}

// Wraps a freeing call. cudaFree(nullptr) frees nothing, but programs call it to create a context.
template <class... Rest>
int TakeBack(const CallSite& called, int (*original)(void*, Rest...), void* pointer, Rest... rest) {
  const OutermostDriverCall outermost;
  if (!outermost) return original(pointer, rest...);
  BlockFree block{};
  ContextWatch context;
  {
    const ErrnoKeeper errno_keeper;
    if (pointer != nullptr) {
      block = BeginBlockFree(reinterpret_cast<std::uintptr_t>(pointer));
    } else {
      context = ContextWatch::ForRuntime();
    }
  }
  const int result = original(pointer, rest...);
  const ErrnoKeeper errno_keeper;
  EndBlockFree(block, result == 0);
  context.Settle(result == 0, 0, called.code);
  return result;
}

using Stream = void*;
using Pool = void*;

constexpr WrappedCall kCalls[] = {
    Wrapped<"cudaMalloc", &GiveBlock<DriverCall::kMalloc>>(),
    Wrapped<"cudaMallocPitch", &GivePitched<>>(),
    Wrapped<"cudaMalloc3D", &Give3D>(),
    Wrapped<"cudaMallocManaged", &GiveBlock<DriverCall::kMallocManaged, unsigned>>(),
    Wrapped<"cudaMallocAsync", &GiveBlock<DriverCall::kMallocAsync, Stream>>(),
    Wrapped<"cudaMallocAsync_ptsz", &GiveBlock<DriverCall::kMallocAsync, Stream>>(),
    Wrapped<"cudaMallocFromPoolAsync", &GiveBlock<DriverCall::kMallocAsync, Pool, Stream>>(),
    Wrapped<"cudaMallocFromPoolAsync_ptsz", &GiveBlock<DriverCall::kMallocAsync, Pool, Stream>>(),
    Wrapped<"cudaHostAlloc", &GiveBlock<DriverCall::kHostAllocate, unsigned>>(),
    Wrapped<"cudaMallocHost", &GiveBlock<DriverCall::kHostAllocate>>(),
    Wrapped<"cudaHostRegister", &Register>(),
    Wrapped<"cudaIpcOpenMemHandle", &OpenIpc>(),
    Wrapped<"cudaFree", &TakeBack<>>(),
    Wrapped<"cudaFreeAsync", &TakeBack<Stream>>(),
    Wrapped<"cudaFreeAsync_ptsz", &TakeBack<Stream>>(),
    Wrapped<"cudaFreeHost", &TakeBack<>>(),
    Wrapped<"cudaHostUnregister", &TakeBack<>>(),
    Wrapped<"cudaIpcCloseMemHandle", &TakeBack<>>(),
    Wrapped<"cuMemAlloc_v2", &GiveBlock<DriverCall::kMalloc>>(),
    Wrapped<"cuMemAllocPitch_v2", &GivePitched<unsigned>>(),
    Wrapped<"cuMemAllocManaged", &GiveBlock<DriverCall::kMallocManaged, unsigned>>(),
    Wrapped<"cuMemAllocAsync", &GiveBlock<DriverCall::kMallocAsync, Stream>>(),
    Wrapped<"cuMemAllocAsync_ptsz", &GiveBlock<DriverCall::kMallocAsync, Stream>>(),
    Wrapped<"cuMemAllocFromPoolAsync", &GiveBlock<DriverCall::kMallocAsync, Pool, Stream>>(),
    Wrapped<"cuMemAllocFromPoolAsync_ptsz", &GiveBlock<DriverCall::kMallocAsync, Pool, Stream>>(),
    Wrapped<"cuMemAllocHost_v2", &GiveBlock<DriverCall::kHostAllocate>>(),
    Wrapped<"cuMemHostAlloc", &GiveBlock<DriverCall::kHostAllocate, unsigned>>(),
    Wrapped<"cuMemHostRegister_v2", &Register>(),
    Wrapped<"cuIpcOpenMemHandle_v2", &OpenIpc>(),
    Wrapped<"cuMemFree_v2", &TakeBack<>>(),
    Wrapped<"cuMemFreeAsync", &TakeBack<Stream>>(),
    Wrapped<"cuMemFreeAsync_ptsz", &TakeBack<Stream>>(),
    Wrapped<"cuMemFreeHost", &TakeBack<>>(),
    Wrapped<"cuMemHostUnregister", &TakeBack<>>(),
    Wrapped<"cuIpcCloseMemHandle", &TakeBack<>>(),
    Wrapped<"cudaMallocArray", &GiveArray>(),
    Wrapped<"cudaMalloc3DArray", &Give3DArray>(),
    Wrapped<"cudaFreeArray", &TakeBack<>>(),
    Wrapped<"cuArrayCreate_v2", &CreateArray<ArrayShape>>(),
    Wrapped<"cuArray3DCreate_v2", &CreateArray<Array3DShape>>(),
    Wrapped<"cuArrayDestroy", &TakeBack<>>(),
};

}  // namespace

std::span<const WrappedCall> MemoryCalls() { return kCalls; }

}  // namespace memoir
