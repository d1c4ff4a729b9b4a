// The role of a driver allocation: the library that allocated it, or the kind of memory.
#ifndef TOOLS_ANALYZE_DRIVER_DRIVER_ROLE_H_
#define TOOLS_ANALYZE_DRIVER_DRIVER_ROLE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/model/capture.h"

namespace memoir {

enum class DriverRole : std::uint8_t {
  kTorchAllocator,  // segments of torch's caching allocator
  kNccl,
  kLibrary,  // workspaces of NVIDIA's other libraries
  kContext,
  kCode,        // loaded CUDA modules
  kForeign,     // any other library
  kMemoryPool,  // in a pool of cudaMallocAsync, which may have reserved more bytes
  kManaged,     // managed memory, which may reside on the host
  kOfAnother,   // opened by IPC; the memory belongs to the process that allocated it
  kPinned,      // host memory that was allocated as pinned
  kRegistered,  // host memory that was pinned after its allocation
};

// Returns the role of memory that a library allocated with `call`. `library`: file name of the library; may be empty.
DriverRole RoleOf(v1::DriverCall call, std::string_view library);
inline constexpr std::string_view kNcclName = "NCCL";
// Returns "context", "loaded code", "NCCL", another library of NVIDIA without its version ("libcublas"), the file name
// of any other library ("libforeign.so"), or "(unknown caller)".
std::string HolderName(DriverRole role, std::string_view library);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DRIVER_DRIVER_ROLE_H_
