// Requests for memory outside of torch's caching allocator that the driver or a library refused.
#ifndef TOOLS_ANALYZE_DRIVER_REFUSAL_H_
#define TOOLS_ANALYZE_DRIVER_REFUSAL_H_

#include <cstdint>
#include <string>

#include "tools/model/capture.h"

namespace memoir {

// Who asked, and how.
struct Refusal {
  std::string library;  // HolderName of it
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;
  std::uint32_t error = 0;  // what the call returned
  bool of_host = false;     // pinned memory
};

// Whether it is an out-of-memory error of its own: for want of memory, and not torch's caching allocator's, which frees
// its cache, asks again, and says itself when that did not help.
bool IsOutOfMemory(const ReplayState& state, const DriverRefusedEvent& event);

Refusal RefusalOf(const ReplayState& state, const DriverRefusedEvent& event);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DRIVER_REFUSAL_H_
