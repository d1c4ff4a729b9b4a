// Events of driver allocations and device samples (docs/event_schema.md). Pointers in an event are valid while the
// visitor's function runs.
#ifndef TOOLS_MODEL_EVENT_DRIVER_EVENT_H_
#define TOOLS_MODEL_EVENT_DRIVER_EVENT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "memoir/v1/capture.pb.h"
#include "tools/model/event/event_base.h"
#include "tools/model/event/ids.h"

namespace memoir {

// A block that a driver call allocated, or the request of a refused call. It has the names of the surrounding ranges if
// they are known.
struct DriverBlock {
  std::uint64_t address = 0;  // an address, or the handle of memory, of a context or of a CUDA module
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;
  Tick tick = 0;
  DeviceId device;  // the GPU, or the CPU for pinned memory
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;
  NameId library;  // file name of the calling library
  ThreadId thread;
  NameId operator_name;  // outermost operator; this and the next name may be invalid
  NameId user_name;      // innermost user range
  ModuleId module;       // `module` and `phase` are set with ReplayOptions::modules only
  Phase phase = Phase::kOther;
  BlockOrigin origin = BlockOrigin::kRecorded;  // kRecorded or kKeyframe
};
std::string_view ToString(v1::DriverCall call);  // "malloc", "host_allocate", "communicator", ...

// When the replay visits this event, ReplayState::driver contains the block, unless the free of the block was visited
// earlier.
struct DriverAllocateEvent : Event {
  const DriverBlock* block = nullptr;
};

struct DriverFreeEvent : Event {
  DeviceId device;
  std::uint64_t address = 0;
  std::uint64_t serial = 0;
  // The freed block. nullptr if its allocation is lost, was not visited yet, or is older than the recording.
  const DriverBlock* block = nullptr;
};

// The driver or a library refused an allocation.
struct DriverRefusedEvent : Event {
  const DriverBlock* asked = nullptr;        // the refused request; bytes 0: its size is unknown
  std::optional<std::uint64_t> device_free;  // free bytes of the device, as the driver reported them
  std::uint32_t error = 0;                   // the call's return value
};

// A device sample: figures of CUDA and NVML for a whole device. A figure is empty if it was not reported.
struct DeviceSampleEvent : Event {
  DeviceId device;
  v1::ReadingCause cause = v1::READING_CAUSE_UNKNOWN;
  std::optional<std::uint64_t> free_bytes;
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> process_bytes;  // used by this process
  std::optional<std::uint64_t> other_processes_bytes;
  std::optional<std::uint64_t> pool_bytes;  // reserved by the device's memory pools (cudaMallocAsync)
  bool before = false;  // true: older than the events of the replay, so the live blocks at its time are unknown
};
std::string_view ToString(v1::ReadingCause cause);  // "start", "peak", ...

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_DRIVER_EVENT_H_
