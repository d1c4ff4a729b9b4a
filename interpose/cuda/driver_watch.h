// Watches the driver allocations of this process, outside of torch's caching allocator, and writes them into the ring
// (docs/event_schema.md, "Driver allocations"). docs/decisions/0015-driver-allocations.md describes how, and which
// allocations are missed.
//
//   import slots of every object ─┐
//   results of look-ups           ├─► wrappers ─► records, device samples
//   (dlsym, cuGetProcAddress)    ─┘
//
// Import slots stay redirected until the process ends. While recording is off, and in a forked child, a call through a
// wrapper costs one additional load and branch, and so does a look-up. This code needs no library except libc.
#ifndef INTERPOSE_CUDA_DRIVER_WATCH_H_
#define INTERPOSE_CUDA_DRIVER_WATCH_H_

#include <cstdint>

#include "interpose/system/export.h"

namespace memoir {

// Starts to watch when a recording begins, and forgets the state of an earlier recording. Called by the thread that
// starts the recording, before it switches the enable flag on. Loads NVML if the process has a CUDA driver or runtime.
// `launches`: whether kernel launches are recorded.
MEMOIR_INTERPOSE_API void WatchDriver(bool launches = false);

// Redirects the slots of objects that were loaded since the last call, and requests the device samples that are due:
// once a second, and at once for a device that is newly used or refused an allocation. Called by the writer's thread
// each time it reads the ring. Cheap if no object was loaded. Does nothing before WatchDriver, and in a forked child.
MEMOIR_INTERPOSE_API void WrapNewObjects();

// Takes the final device samples. Called by the thread that ends the recording, before it switches the enable flag off.
MEMOIR_INTERPOSE_API void ReadDevicesLast();

// Whether Memoir has found a current CUDA context on a thread of the program. May be called on any thread.
MEMOIR_INTERPOSE_API bool CudaIsInUse();

// Stops watching: until the next WatchDriver, new objects are not examined, and look-ups return the same as without
// Memoir. Called by the thread that ends the recording, or that abandons its start.
MEMOIR_INTERPOSE_API void StopWatchingDriver();

// Functions and import slots whose calls bypass the wrappers, so that the calls are not recorded.
struct UnwrappedCalls {
  std::uint32_t functions;   // number of names that more than kWrapperVariants loaded libraries define
  const char* function;      // the first of these names
  std::uint32_t refused;     // number of import slots whose page could not be made writable; tried again later
  std::uint64_t since_tick;  // tick at which Memoir first found such a function or slot; 0: none
};
// May be called on any thread.
MEMOIR_INTERPOSE_API UnwrappedCalls CountUnwrappedCalls();

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DRIVER_WATCH_H_
