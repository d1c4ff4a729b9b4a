// Watches what CUDA's driver gives to this process past torch's caching allocator, and writes it into the ring
// (docs/event_schema.md, "What the driver gives"; how, and what is missed:
// docs/decisions/0015-what-the-driver-gives.md).
//
//   import slots of every object ─┐
//   results of look-ups           ├─► wrappers ─► records, readings
//   (dlsym, cuGetProcAddress)    ─┘
//
// Slots stay redirected for ever; while nothing is recorded, and in a forked child, a wrapper costs a load and a
// branch, and so does a look-up between recordings. libc only.
#ifndef INTERPOSE_CUDA_DRIVER_WATCH_H_
#define INTERPOSE_CUDA_DRIVER_WATCH_H_

#include <cstdint>

#include "interpose/export.h"

namespace memoir {

// A recording begins: what a former one knew is forgotten. By the thread that starts it, before the enable flag is on.
// Loads NVML where there is a CUDA driver or runtime in the process. `launches`: of kernels are recorded, too.
MEMOIR_INTERPOSE_API void WatchDriver(bool launches = false);

// Sees to objects that were loaded since, and reads the devices, at most once a second. From the writer's thread, with
// each of its looks. Cheap where there is nothing new. Does nothing before WatchDriver, and in a child that was forked.
MEMOIR_INTERPOSE_API void LookAtDriver();

// The recording ends: the last readings. By the thread that ends it, before the enable flag is off.
MEMOIR_INTERPOSE_API void ReadDevicesLast();

// Whether a thread of the program was seen to have a context. Any thread.
MEMOIR_INTERPOSE_API bool CudaIsInUse();

// From here on nothing is looked at, and look-ups find what they would without Memoir, until WatchDriver. By whoever
// ends the recording, or gives up its start.
MEMOIR_INTERPOSE_API void LeaveDriver();

// Calls that go past the wrappers and are not recorded. Any thread.
struct PassedCalls {
  std::uint32_t functions;   // that more than kWrapperVariants loaded libraries define: calls of the further ones
  const char* function;      // the first of them
  std::uint32_t refused;     // import slots that the system did not let be written to; tried again with later looks
  std::uint64_t since_tick;  // 0: none are
};
MEMOIR_INTERPOSE_API PassedCalls CountPassedCalls();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DRIVER_WATCH_H_
