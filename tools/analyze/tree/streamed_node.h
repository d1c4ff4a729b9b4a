// A node of a tree with all of its facts, as StreamTree (tree_stream.h) shows it.
#ifndef TOOLS_ANALYZE_TREE_STREAMED_NODE_H_
#define TOOLS_ANALYZE_TREE_STREAMED_NODE_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "tools/analyze/tree/memory_action.h"
#include "tools/analyze/tree/open_nodes.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"

namespace memoir {

struct StreamedNode {
  // kCall: a call of a Python function. kDeviceCall: a CUDA call.
  enum class Kind : std::uint8_t { kRange, kModule, kCall, kMemory, kDeviceCall };
  Kind kind = Kind::kRange;
  std::uint32_t number = kNoTreeNode;  // from 0; memory events and CUDA calls have no number
  std::uint32_t parent = kNoTreeNode;  // kNoTreeNode: no parent
  ProcessId process;
  ThreadId thread;  // invalid: no thread
  Tick begin = 0;
  std::optional<Tick> end;  // nullopt: not recorded; memory events have no end
  ModuleId module;          // module of the range, the call, or the memory event
  Phase phase = Phase::kOther;
  CodeId code;  // the called Python function; invalid: unknown

  NameId name;                                  // kRange only
  RangeSource source = RangeSource::kFunction;  // kRange only
  std::uint32_t forward = kNoTreeNode;          // for an autograd node: its forward operator; kRange only
  std::int64_t sequence = -1;
  std::uint64_t allocated = 0;  // range or call: bytes allocated in the node or below
  std::uint64_t freed = 0;      // range or call: bytes freed in the node or below

  MemoryAction action = MemoryAction::kAllocate;  // `action` to `library`: kMemory only
  DeviceId device;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;  // of the block: its allocation and free have the same number
  std::uint64_t stream = 0;
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;
  NameId library;

  const DeviceCallEvent* device_call = nullptr;  // kDeviceCall only: the call's event; `begin` is the call's begin
};

// Live bytes of blocks, also on devices without a caching allocator.
struct LiveBytes {
  std::uint64_t all = 0;
  std::uint64_t chosen = 0;  // blocks that the selection contains by module and size
};
// Called after each event of the window that changes the allocated or reserved bytes of a device.
using DeviceChangeFunction = std::function<void(const Event&, DeviceId, LiveBytes, const ReplayState&)>;

using MarkFunction = std::function<void(const MarkEvent&, const ReplayState&)>;
using KernelRunFunction = std::function<void(const KernelRunEvent&, const ReplayState&)>;
using NodeFunction = std::function<void(const StreamedNode&, const ReplayState&)>;

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_STREAMED_NODE_H_
