// Requests for memory outside of torch's caching allocator that the driver or a library refused.
#ifndef TOOLS_ANALYZE_DRIVER_REFUSAL_H_
#define TOOLS_ANALYZE_DRIVER_REFUSAL_H_

#include <cstdint>
#include <string>

#include "tools/model/capture.h"

namespace memoir {

// The library that requested memory, and its call.
struct Refusal {
  std::string library;  // HolderName of the library
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;
  std::uint32_t error = 0;  // error code that the call returned
  bool of_host = false;     // the request was for pinned host memory
};

// Returns true for an out-of-memory error outside of torch's caching allocator. Refusals of the caching allocator do
// not count: it frees its cache and tries again, and the recording contains its own out-of-memory errors.
bool IsOutOfMemory(const ReplayState& state, const DriverRefusedEvent& event);

Refusal RefusalOf(const ReplayState& state, const DriverRefusedEvent& event);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DRIVER_REFUSAL_H_
