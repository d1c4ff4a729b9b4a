// A node of a tree by itself, with all that is known of it: what StreamTree (tree_stream.h) shows.
#ifndef TOOLS_ANALYZE_TREE_STREAMED_NODE_H_
#define TOOLS_ANALYZE_TREE_STREAMED_NODE_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "tools/analyze/tree/open_nodes.h"
#include "tools/analyze/tree/tree_memory.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

struct StreamedNode {
  // kCall: of a Python function; kDeviceCall: of CUDA
  enum class Kind : std::uint8_t { kRange, kModule, kCall, kMemory, kDeviceCall };
  Kind kind = Kind::kRange;
  std::uint32_t number = kNoTreeNode;  // from 0; memory and calls of CUDA have none
  std::uint32_t parent = kNoTreeNode;  // kNoTreeNode: nothing is around it
  ProcessId process;
  ThreadId thread;  // invalid: no thread did it
  Tick begin = 0;
  std::optional<Tick> end;  // none: not recorded; memory has none
  ModuleId module;          // that a range belongs to, that is called, or that memory is of
  Phase phase = Phase::kOther;
  CodeId code;  // of a function that is called; invalid: not known

  NameId name;  // range, as the next three
  RangeSource source = RangeSource::kFunction;
  std::uint32_t forward = kNoTreeNode;  // of a node of autograd's: its forward operator
  std::int64_t sequence = -1;
  std::uint64_t allocated = 0;  // range, call: at or under it, as the next
  std::uint64_t freed = 0;

  MemoryAction action = MemoryAction::kAllocate;  // memory, as all below
  DeviceId device;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;  // of the block: what is freed was allocated under the same
  std::uint64_t stream = 0;
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;
  NameId library;

  const DeviceCallEvent* device_call = nullptr;  // call of CUDA: all else that there is of it; `begin` is its begin
};

// Bytes of blocks, also where no caching allocator counts them.
struct LiveBytes {
  std::uint64_t all = 0;
  std::uint64_t chosen = 0;  // of those that the selection takes by their module and size
};
// Behind each event of the window that changes what a device holds.
using SeeDeviceChange = std::function<void(const Event&, DeviceId, LiveBytes, const ReplayState&)>;

using SeeMarkInWindow = std::function<void(const MarkEvent&, const ReplayState&)>;
using SeeKernelRun = std::function<void(const KernelRunEvent&, const ReplayState&)>;
using SeeNode = std::function<void(const StreamedNode&, const ReplayState&)>;

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_STREAMED_NODE_H_
