// Names in torch.profiler's event tree for ranges, for CUDA calls, and for the work that CUDA calls start on the
// device.
#ifndef TOOLS_ANALYZE_DATA_FLOW_DEVICE_CALL_NAMES_H_
#define TOOLS_ANALYZE_DATA_FLOW_DEVICE_CALL_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"

namespace memoir {

// Finds or adds names in EventTree::names, and returns their indices.
class TreeNames {
 public:
  // Omits the overload from the name of a range.
  std::uint32_t Index(NameId name, const Dictionary& dictionary, std::vector<std::string>& names);
  std::uint32_t Index(std::string_view name, std::vector<std::string>& names);

 private:
  std::vector<std::uint32_t> ranges_;  // by NameId
  absl::flat_hash_map<std::string, std::uint32_t> others_;
};

// Returns true if torch.profiler does not record the range: it has no name, or it is an NVTX range, or it is one of
// Memoir's own ranges for torch.compile's work (docs/event_schema.md).
bool TorchHides(const OpenRange& range, const Dictionary& dictionary);

// Returns the function of CUDA's runtime that `call` stands for, such as "cudaMalloc". Empty if `call` does not stand
// for such a function: CONTEXT, for example, stands for the making of a CUDA context.
std::string_view NameOfDriverCall(v1::DriverCall call);

// Serves one process. NameOf must be called for each device call of the process, in order.
class DeviceCallNames {
 public:
  // Returns the name of the work on the device: the kernel of a launch, or a fill. Empty if the name is unknown, if the
  // call failed, or if a graph captured the call. Empty for a copy: torch.profiler's name of a copy depends on whether
  // the host memory is pinned, and this is not recorded.
  std::string NameOf(const DeviceCallEvent& event, const Dictionary& dictionary);

 private:
  std::uint32_t captures_ = 0;  // stream captures in progress
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_DEVICE_CALL_NAMES_H_
