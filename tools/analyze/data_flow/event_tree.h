// What a process did, as torch.profiler's event tree has it: ranges with the tensors that they were given, allocations
// and frees inside the range that made them, and what modules and optimizers hold at their first call. Where it is
// asked for, calls of Python functions stand in it, too.
//
// Flat: nodes stand in the order of their begin, so a parent comes before its children, and numbers are indices.
#ifndef TOOLS_ANALYZE_DATA_FLOW_EVENT_TREE_H_
#define TOOLS_ANALYZE_DATA_FLOW_EVENT_TREE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tools/analyze/data_flow/schema_match.h"
#include "tools/analyze/data_flow/tensor_identities.h"
#include "tools/model/capture.h"
#include "tools/model/device_memory.h"

namespace memoir {

struct TreeNode {
  enum class Kind : std::uint8_t { kRange, kCall, kAllocate, kFree };
  static constexpr std::uint32_t kNone = 0xffffffffu;

  std::uint64_t ns = 0;  // of its begin, since the start of the capture
  std::uint32_t parent = kNone;
  std::uint32_t name = kNone;  // range, call of a Python function: in EventTree::names
  std::uint32_t inputs = 0;    // range: its first in EventTree::inputs; they end where the next range's begin
  std::uint32_t call = kNone;  // range: in EventTree::calls; allocation: in EventTree::allocations
  Kind kind = Kind::kRange;
  bool is_backward = false;  // a node of autograd's
  bool in_backward = false;  // is one, or is inside one
  bool fits_schema = false;  // its arguments fit that of its operator
};

struct TreeInput {
  AllocationId allocation = kNoAllocation;  // kNoAllocation: a tensor without storage
  std::uint32_t argument = 0;
};

struct TreeAllocation {
  AllocationId allocation = kNoAllocation;
  DeviceId device;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct EventTree {
  std::vector<TreeNode> nodes;
  std::vector<TreeInput> inputs;
  std::vector<std::string> names;  // without overload, as torch.profiler has them: "aten::add_"
  std::vector<SchemaMatch> calls;  // ranges with equal arguments, by their kinds, share one
  std::vector<TreeAllocation> allocations;

  // By AllocationId.
  std::vector<TensorId> tensors;
  std::vector<std::uint64_t> bytes;  // of its allocation, else the largest extent of a tensor in it
  std::vector<DeviceId> devices;
  std::vector<std::uint64_t> addresses;
  std::vector<bool> chosen;  // whether the selection takes them by module and size; empty: it takes all

  // What AccumulateGrad was seen to write.
  std::vector<AllocationId> gradients;
  // What modules and optimizers held when first called; kNoAllocation: it had none.
  struct Held {
    AllocationId parameter = kNoAllocation;
    AllocationId gradient = kNoAllocation;
  };
  std::vector<Held> held;
  std::vector<AllocationId> optimizer_state;

  std::vector<std::string> device_names;  // by DeviceId
  // Of the whole process, inside and outside of any window, by DeviceId: 0 of those without a caching allocator.
  struct Peak {
    std::uint64_t allocated = 0, reserved = 0;
  };
  std::vector<Peak> peaks;
  ProcessId process;
  std::size_t other_processes = 0;  // that the selection leaves open as well
  ReplayReport report;

  absl::Span<const TreeInput> InputsOf(std::uint32_t node) const;
  bool IsChosen(AllocationId allocation) const { return chosen.empty() || chosen[allocation]; }
};

// Every node behind its parent and what stands before it there: children stand behind their parent in `nodes`, too, but
// with those of other threads in between.
void WalkDepthFirst(const EventTree& tree, const std::function<void(std::size_t depth, const TreeNode& node)>& see);

// Where a caching allocator has the device: more than its peaks so far are the new ones.
void NotePeak(const DeviceMemory& memory, DeviceId device, EventTree& tree);

// Storages that are tensors', in the order in which torch sorts its keys: by tensor, then by number.
std::vector<AllocationId> TensorStorages(const EventTree& tree);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_EVENT_TREE_H_
