// Wraps calls that load code. Memoir records the decrease in the device's free memory as the size of the code. Code
// that the driver loads lazily, at a kernel's first launch, is not recorded.
#include <cstdint>

#include "interpose/cuda/device_samples.h"
#include "interpose/cuda/driver_blocks.h"
#include "interpose/cuda/driver_queries.h"
#include "interpose/cuda/kernel_names.h"
#include "interpose/cuda/wrapped_calls.h"
#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

// A handle of loaded code: CUmodule or CUlibrary.
using Code = void*;

// The free bytes of a device (`free`) and the bytes of its recorded driver allocations (`given`). Allocations of other
// threads during a call increase `given`, so they are not counted as code.
struct Level {
  int device = -1;
  std::uint64_t free = 0, given = 0;
};

Level LevelNow() {
  const ErrnoKeeper errno_keeper;
  Level level;
  std::uint64_t total = 0;
  level.device = DeviceOfContext();
  if (level.device >= 0 && !ReadFreeBytes(&level.free, &total)) level.device = -1;
  level.given = AllocatedBytes(level.device);
  return level;
}

// Wraps a call that loads code.
template <class... Rest>
int Load(const CallSite& called, int (*original)(Code*, Rest...), Code* code, Rest... rest) {
  const OutermostDriverCall outermost;
  if (!outermost) return original(code, rest...);
  const Level before = LevelNow();
  const int result = original(code, rest...);
  const Level after = LevelNow();
  const ErrnoKeeper errno_keeper;
  const std::uint64_t explained = after.free + after.given - before.given;
  if (result == 0 && before.device >= 0 && after.device == before.device && before.free > explained) {
    const auto address = reinterpret_cast<std::uintptr_t>(*code);
    NoteBlockAllocated({DriverCall::kModuleLoad, before.device, address, before.free - explained},
                       LibraryAt(called.code));
  } else if (static_cast<std::uint32_t>(result) == kCudaOutOfMemory) {
    RecordDriverRefusal(
        {DriverCall::kModuleLoad, before.device, 0, SampleAfterRefusal(before.device), kCudaOutOfMemory},
        LibraryAt(called.code));
  }
  return result;
}

int Unload(const CallSite&, int (*original)(Code), Code code) {
  const OutermostDriverCall outermost;
  if (!outermost) return original(code);
  const int saved = errno;
  const BlockFree block = BeginBlockFree(reinterpret_cast<std::uintptr_t>(code));
  errno = saved;
  const int result = original(code);
  const ErrnoKeeper errno_keeper;
  EndBlockFree(block, result == 0);
  ForgetKernels();
  return result;
}

using Options = void*;

constexpr WrappedCall kCalls[] = {
    Wrapped<"cuModuleLoad", &Load<const char*>>(),
    Wrapped<"cuModuleLoadData", &Load<const void*>>(),
    Wrapped<"cuModuleLoadDataEx", &Load<const void*, unsigned, Options, void**>>(),
    Wrapped<"cuModuleLoadFatBinary", &Load<const void*>>(),
    Wrapped<"cuModuleUnload", &Unload>(),
    Wrapped<"cuLibraryLoadData", &Load<const void*, Options, void**, unsigned, Options, void**, unsigned>>(),
    Wrapped<"cuLibraryLoadFromFile", &Load<const char*, Options, void**, unsigned, Options, void**, unsigned>>(),
    Wrapped<"cuLibraryUnload", &Unload>(),
};

}  // namespace

std::span<const WrappedCall> CodeCalls() { return kCalls; }

}  // namespace memoir
