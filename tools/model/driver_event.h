// Events of what the driver gives, past torch's caching allocator (docs/event_schema.md). Pointers are valid during the
// call.
#ifndef TOOLS_MODEL_DRIVER_EVENT_H_
#define TOOLS_MODEL_DRIVER_EVENT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "memoir/v1/capture.pb.h"
#include "tools/model/event_base.h"
#include "tools/model/ids.h"

namespace memoir {

// What one call to the driver got, or asked for. Of an allocation that was seen, also what ran around it.
struct DriverBlock {
  std::uint64_t address = 0;  // or handle, context, module
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;
  Tick tick = 0;
  DeviceId device;  // of pinned memory the CPU
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;
  NameId library;  // file name of the object that called
  ThreadId thread;
  NameId operator_name;  // outermost; may be invalid, as the next two
  NameId user_name;      // innermost user range
  ModuleId module;       // ReplayOptions::modules only, as the next
  Phase phase = Phase::kOther;
  BlockOrigin origin = BlockOrigin::kRecorded;  // or kKeyframe
};
std::string_view ToString(v1::DriverCall call);  // "malloc", "host_allocate", "communicator", ...

// ReplayState::driver has it, unless its free was shown before it.
struct DriverAllocateEvent : Event {
  const DriverBlock* block = nullptr;
};

struct DriverFreeEvent : Event {
  DeviceId device;
  std::uint64_t address = 0;
  std::uint64_t serial = 0;
  const DriverBlock* block = nullptr;  // nullptr: from before the recording, or its allocation was lost
};

// The driver, or a library, did not give what was asked for.
struct DriverRefusedEvent : Event {
  const DriverBlock* asked = nullptr;  // bytes 0: the call does not say
  std::optional<std::uint64_t> device_free;
  std::uint32_t error = 0;  // what the call returned
};

// What the driver and NVML say of a device as a whole; empty: they do not.
struct DeviceReadingEvent : Event {
  DeviceId device;
  v1::ReadingCause cause = v1::READING_CAUSE_UNKNOWN;
  std::optional<std::uint64_t> free_bytes;
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> process_bytes;  // of this process
  std::optional<std::uint64_t> other_processes_bytes;
  std::optional<std::uint64_t> pool_bytes;  // reserved by the device's memory pools (cudaMallocAsync)
  bool before = false;                      // from events that are gone: what was live then is not known
};
std::string_view ToString(v1::ReadingCause cause);  // "start", "peak", ...

}  // namespace memoir

#endif  // TOOLS_MODEL_DRIVER_EVENT_H_
