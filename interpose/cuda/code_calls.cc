// Calls that load code: what the device has less afterwards is the code's block. Code that the driver loads lazily, at
// a kernel's first launch, is not seen.
#include <cstdint>

#include "interpose/cuda/device_readings.h"
#include "interpose/cuda/driver_blocks.h"
#include "interpose/cuda/driver_questions.h"
#include "interpose/cuda/kernel_names.h"
#include "interpose/cuda/wrapped_calls.h"
#include "interpose/errno_keeper.h"

namespace memoir {
namespace {

// CUmodule or CUlibrary.
using Code = void*;

// What other threads were given meanwhile is not the code's.
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
  level.given = GivenBytes(level.device);
  return level;
}

template <class... Rest>
int Load(const Called& called, int (*original)(Code*, Rest...), Code* code, Rest... rest) {
  const Outermost outermost;
  if (!outermost) return original(code, rest...);
  const Level before = LevelNow();
  const int result = original(code, rest...);
  const Level after = LevelNow();
  const ErrnoKeeper errno_keeper;
  const std::uint64_t explained = after.free + after.given - before.given;
  if (result == 0 && before.device >= 0 && after.device == before.device && before.free > explained) {
    const auto address = reinterpret_cast<std::uintptr_t>(*code);
    BlockGiven({DriverCall::kModuleLoad, before.device, address, before.free - explained}, LibraryAt(called.code));
  } else if (static_cast<std::uint32_t>(result) == kCudaOutOfMemory) {
    RecordDriverRefusal({DriverCall::kModuleLoad, before.device, 0, ReadRefused(before.device), kCudaOutOfMemory},
                        LibraryAt(called.code));
  }
  return result;
}

int Unload(const Called&, int (*original)(Code), Code code) {
  const Outermost outermost;
  if (!outermost) return original(code);
  const int saved = errno;
  const BlockLeaving block = BlockLeaves(reinterpret_cast<std::uintptr_t>(code));
  errno = saved;
  const int result = original(code);
  const ErrnoKeeper errno_keeper;
  BlockLeft(block, result == 0);
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
