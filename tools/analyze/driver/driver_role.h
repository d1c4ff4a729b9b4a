// The role in a PyTorch program of the library that allocated memory of the driver.
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
  kCode,        // loaded modules
  kForeign,     // any other library
  kMemoryPool,  // in a pool of cudaMallocAsync, which may have more reserved
  kManaged,     // may lie on the host
  kOfAnother,   // opened by IPC: the process that made it is charged
  kPinned,      // host memory, allocated pinned
  kRegistered,  // host memory, pinned where it lay
};

DriverRole RoleOf(v1::DriverCall call, std::string_view library);
// "NCCL", "libcublas" (of NVIDIA's, without version), "libforeign.so", "context", "loaded code", "(unknown caller)"
std::string HolderName(DriverRole role, std::string_view library);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DRIVER_DRIVER_ROLE_H_
