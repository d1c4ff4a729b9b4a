// Events of CUDA calls that start work on a device, wait for work, or build graphs; and events of the work that ran
// (docs/event_schema.md).
#ifndef TOOLS_MODEL_EVENT_DEVICE_CALL_EVENT_H_
#define TOOLS_MODEL_EVENT_DEVICE_CALL_EVENT_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "memoir/v1/capture.pb.h"
#include "tools/model/event/event_base.h"
#include "tools/model/event/ids.h"

namespace memoir {

// A CUDA call. The replay visits it at the tick at which the call ends. `operator_name`, `leaf_name` and `user_name`
// are names of ranges around the call.
struct DeviceCallEvent : Event {
  v1::DeviceCall call = v1::DEVICE_CALL_UNKNOWN;
  bool is_launch = false;  // true: the call launches a kernel, by any function
  DeviceId device;
  std::uint64_t stream = 0;
  std::uint32_t result = 0;       // return value; 0: success
  std::uint32_t correlation = 0;  // KernelRunEvent::correlation of the work that the call started; 0: unknown
  // The next three members are set for launches.
  NameId kernel;                         // mangled name; invalid: unknown
  std::array<std::uint32_t, 3> grid{};   // blocks in x, y, z; all 0: unknown
  std::array<std::uint32_t, 3> block{};  // threads of a block
  // The next five members are set for all other calls. 0 if the call has no such value.
  std::uint64_t bytes = 0;  // bytes that were copied or set
  v1::CopyKind copy_kind = v1::COPY_KIND_UNKNOWN;
  std::uint64_t graph = 0;
  std::uint64_t graph_exec = 0;
  std::uint64_t ticks = 0;  // duration of the call

  NameId operator_name;  // outermost operator; this and the next two names may be invalid
  NameId leaf_name;      // innermost range
  NameId user_name;      // innermost user range
  ModuleId module;       // `module` and `phase` are set with ReplayOptions::modules only
  Phase phase = Phase::kOther;
};

// Work that ran on a device. The replay visits it at the tick at which CUPTI reported it. DeviceCallEvent::correlation
// of the call that started the work is equal to `correlation`.
struct KernelRunEvent : Event {
  v1::RunKind kind = v1::RUN_KIND_UNKNOWN;
  DeviceId device;
  std::uint32_t stream = 0;  // CUPTI's stream number, not the handle in DeviceCallEvent::stream
  std::uint32_t correlation = 0;
  NameId kernel;            // mangled name; invalid: unknown, or not a kernel
  std::uint64_t bytes = 0;  // bytes that were copied or set
  v1::CopyKind copy_kind = v1::COPY_KIND_UNKNOWN;
  Tick begin = 0;
  std::uint64_t ns = 0;  // duration
};

// Returns CUDA's name of the function: "cudaLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync". "unknown" for others.
std::string_view ToString(v1::DeviceCall call);
std::string_view ToString(v1::RunKind kind);   // "kernel", "copy", "fill"; "": unknown
std::string_view ToString(v1::CopyKind kind);  // "host_to_device", ...; "": unknown

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_DEVICE_CALL_EVENT_H_
