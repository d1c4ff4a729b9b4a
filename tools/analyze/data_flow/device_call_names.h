// Names in torch.profiler's event tree: of ranges, of calls of CUDA, and of what runs on the device for them.
#ifndef TOOLS_ANALYZE_DATA_FLOW_DEVICE_CALL_NAMES_H_
#define TOOLS_ANALYZE_DATA_FLOW_DEVICE_CALL_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/dictionary.h"
#include "tools/model/event.h"

namespace memoir {

// The place of a name in EventTree::names, which gets it where it is new.
class TreeNames {
 public:
  // Of a range, without an operator's overload.
  std::uint32_t Index(NameId name, const Dictionary& dictionary, std::vector<std::string>& names);
  std::uint32_t Index(std::string_view name, std::vector<std::string>& names);

 private:
  std::vector<std::uint32_t> ranges_;  // by NameId
  absl::flat_hash_map<std::string, std::uint32_t> others_;
};

// One without a name, Memoir's own of torch.compile's work (docs/event_schema.md), or one of NVTX: torch.profiler sees
// none of them.
bool TorchHides(const OpenRange& range, const Dictionary& dictionary);

// "cudaMalloc"; "" of what is no call of the program's.
std::string_view NameOfDriverCall(v1::DriverCall call);

// Of the calls of a process, in their order.
class DeviceCallNames {
 public:
  // The kernel of a launch, unless a graph took it, and what a fill is on the device; "": nothing that is known. What a
  // copy is there depends on whether its host memory is pinned, which nobody has said.
  std::string WhatRuns(const DeviceCallEvent& event, const Dictionary& dictionary);

 private:
  std::uint32_t captures_ = 0;  // of streams, that are under way
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_DEVICE_CALL_NAMES_H_
