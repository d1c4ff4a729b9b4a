// Requests for memory that the driver or a library refused, other than the requests of torch's caching allocator.
#ifndef TOOLS_ANALYZE_DRIVER_REFUSAL_H_
#define TOOLS_ANALYZE_DRIVER_REFUSAL_H_

#include <cstdint>
#include <string>

#include "tools/model/capture.h"

namespace memoir {

// A refused request: the library that requested memory, and the call that failed.
struct Refusal {
  std::string library;  // HolderName of the library
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;
  std::uint32_t error = 0;  // error code that the call returned
  bool of_host = false;     // the request was for pinned host memory
};

// Returns true for an out-of-memory error outside of torch's caching allocator. A refused request of the caching
// allocator does not count: the allocator frees its cache and tries again. The recording contains the allocator's
// out-of-memory errors as OutOfMemoryEvent.
bool IsOutOfMemory(const ReplayState& state, const DriverRefusedEvent& event);

Refusal RefusalOf(const ReplayState& state, const DriverRefusedEvent& event);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DRIVER_REFUSAL_H_
