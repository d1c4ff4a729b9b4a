// Calls of CUDA that put work on a device, wait for it, or make graphs of it (docs/event_schema.md). Pointers are valid
// during the call.
#ifndef TOOLS_MODEL_DEVICE_CALL_H_
#define TOOLS_MODEL_DEVICE_CALL_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "memoir/v1/capture.pb.h"
#include "tools/model/event_base.h"
#include "tools/model/ids.h"

namespace memoir {

// A call, at its end, and what ran around it.
struct DeviceCallEvent : Event {
  v1::DeviceCall call = v1::DEVICE_CALL_UNKNOWN;
  bool is_launch = false;  // of a kernel, by whichever call
  DeviceId device;
  std::uint64_t stream = 0;
  std::uint32_t result = 0;       // what it returned; 0: success
  std::uint32_t correlation = 0;  // that runs of what it launched have; 0: not known
  // Of a launch.
  NameId kernel;                         // mangled; invalid: not known
  std::array<std::uint32_t, 3> grid{};   // blocks in x, y, z; all 0: not known
  std::array<std::uint32_t, 3> block{};  // threads of a block
  // Of all others; 0 where the call has none.
  std::uint64_t bytes = 0;  // that it copies or sets
  v1::CopyKind copy_kind = v1::COPY_KIND_UNKNOWN;
  std::uint64_t graph = 0;
  std::uint64_t graph_exec = 0;
  std::uint64_t ticks = 0;  // that the program was in it

  NameId operator_name;  // outermost; may be invalid, as the next two
  NameId leaf_name;      // innermost range
  NameId user_name;      // innermost user range
  ModuleId module;       // ReplayOptions::modules only, as the next
  Phase phase = Phase::kOther;
};

// What ran on a device, at the moment at which CUPTI told it: with the correlation of the call that launched it.
struct KernelRunEvent : Event {
  v1::RunKind kind = v1::RUN_KIND_UNKNOWN;
  DeviceId device;
  std::uint32_t stream = 0;  // by CUPTI's number, which is not the handle that calls have
  std::uint32_t correlation = 0;
  NameId kernel;            // mangled; invalid: not known, or no kernel
  std::uint64_t bytes = 0;  // copied or set
  v1::CopyKind copy_kind = v1::COPY_KIND_UNKNOWN;
  Tick begin = 0;
  std::uint64_t ns = 0;  // that it ran
};

// As CUDA calls it: "cudaLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync"; "unknown".
std::string_view ToString(v1::DeviceCall call);
std::string_view ToString(v1::RunKind kind);   // "kernel", "copy", "fill"; "": not known
std::string_view ToString(v1::CopyKind kind);  // "host_to_device", ...; "": not known

}  // namespace memoir

#endif  // TOOLS_MODEL_DEVICE_CALL_H_
