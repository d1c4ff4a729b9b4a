// The work of a process as torch.profiler's event tree: ranges with their tensors, the allocations and frees inside of
// each range, and the tensors of each module and optimizer at its first call. Calls of Python functions are optional.
//
// The tree is a list: nodes are in the order in which they begin, so a parent comes before its children. Nodes refer to
// each other, to names and to inputs by index.
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

  std::uint64_t ns = 0;  // begin; ns since the start of the capture
  std::uint32_t parent = kNone;
  std::uint32_t name = kNone;  // range or Python call: index in EventTree::names
  std::uint32_t inputs = 0;    // range: index of its first input in EventTree::inputs (InputsOf)
  std::uint32_t call = kNone;  // range: index in EventTree::calls; allocation or free: in EventTree::allocations
  Kind kind = Kind::kRange;
  bool is_backward = false;  // an autograd node
  bool in_backward = false;  // an autograd node, or inside of an autograd node
  bool fits_schema = false;  // the arguments fit a schema of the operator
};

struct TreeInput {
  AllocationId allocation = kNoAllocation;  // kNoAllocation: a tensor without storage
  std::uint32_t argument = 0;               // index of the argument that contains the tensor
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
  std::vector<std::string> names;  // operators without overload, as in torch.profiler: "aten::add_"
  // For ranges of one operator whose arguments have the same kinds (tensor, list, integer and so on): the schemas that
  // fit these arguments (matched_calls.h).
  std::vector<SchemaMatch> calls;
  std::vector<TreeAllocation> allocations;

  // Arrays by AllocationId.
  std::vector<TensorId> tensors;
  // Bytes of the allocation. If the allocation was not recorded: the largest extent of a tensor in its memory.
  std::vector<std::uint64_t> bytes;
  std::vector<DeviceId> devices;
  std::vector<std::uint64_t> addresses;
  std::vector<bool> chosen;  // true: Selection::module and min_bytes select it. Empty: all allocations are selected

  // Gradients that AccumulateGrad wrote.
  std::vector<AllocationId> gradients;
  // Tensors of each module and optimizer at its first call. kNoAllocation: there is no such tensor, or it has no
  // memory.
  struct ParameterGradient {
    AllocationId parameter = kNoAllocation;
    AllocationId gradient = kNoAllocation;
  };
  std::vector<ParameterGradient> parameter_gradients;
  std::vector<AllocationId> optimizer_state;

  std::vector<std::string> device_names;  // by DeviceId
  // Peaks over the whole process, inside and outside of the selection, by DeviceId. 0 for devices without a caching
  // allocator.
  struct Peak {
    std::uint64_t allocated = 0, reserved = 0;
  };
  std::vector<Peak> peaks;
  ProcessId process;
  std::size_t other_processes = 0;  // number of further processes in the selection
  ReplayReport report;

  absl::Span<const TreeInput> InputsOf(std::uint32_t node) const;
  bool IsChosen(AllocationId allocation) const { return chosen.empty() || chosen[allocation]; }
};

// Visits each node directly after its parent, or after the subtree of its previous sibling. In EventTree::nodes, nodes
// of other threads may lie between a parent and its children.
void WalkDepthFirst(const EventTree& tree, const std::function<void(std::size_t depth, const TreeNode& node)>& see);

// Raises EventTree::peaks to the current bytes, if the device has a caching allocator.
void NotePeak(const DeviceMemory& memory, DeviceId device, EventTree& tree);

// Returns the storages that belong to tensors, in torch.profiler's order: by TensorId, then by AllocationId.
std::vector<AllocationId> TensorStorages(const EventTree& tree);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_EVENT_TREE_H_
