// Every node of a tree by itself, in the order of their begins: each range, each call of a module, and each thing that
// happened to memory, inside what stands around it.
//
// Goes through the recording twice, since a node is shown when it begins with what is known at its end. Takes 40 bytes
// for each range and call in the window; names and events stay in the files.
#ifndef TOOLS_ANALYZE_TREE_TREE_STREAM_H_
#define TOOLS_ANALYZE_TREE_TREE_STREAM_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/analyze/tree/open_nodes.h"
#include "tools/analyze/tree/tree_memory.h"
#include "tools/model/capture.h"

namespace memoir {

struct StreamedNode {
  enum class Kind : std::uint8_t { kRange, kModule, kMemory, kCall };  // kCall: of CUDA
  Kind kind = Kind::kRange;
  std::uint32_t number = kNoTreeNode;  // from 0; memory and calls of CUDA have none
  std::uint32_t parent = kNoTreeNode;  // kNoTreeNode: nothing is around it
  ProcessId process;
  ThreadId thread;  // invalid: no thread did it
  Tick begin = 0;
  std::optional<Tick> end;  // none: not recorded; memory has none
  ModuleId module;          // that a range belongs to, that is called, or that memory is of
  Phase phase = Phase::kOther;

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

// Behind each event of the window that changes what a device holds. `live_bytes`: of its blocks, also where no caching
// allocator counts them.
using SeeDeviceChange = std::function<void(const Event&, DeviceId, std::uint64_t live_bytes, const ReplayState&)>;

struct TreeStreamOptions : Selection {
  static constexpr std::size_t kMostNodes = std::size_t{1} << 25;
  bool memory = true;           // show it
  std::string thread;           // number or name of the only one that counts; "": all
  SeeDeviceChange see_change;   // may be empty; of all threads, whatever `thread` is
  std::function<bool()> go_on;  // as ReplayOptions::go_on; may be empty
};

using SeeNode = std::function<void(const StreamedNode&, const ReplayState&)>;

// Ranges and calls that are open where the window begins come first, with the begin that they had. NotFound: the
// selection or the thread does not occur. ResourceExhausted: more than kMostNodes ranges and calls.
absl::StatusOr<ReplayReport> StreamTree(const Capture& capture, const TreeStreamOptions& options, const SeeNode& see);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_TREE_STREAM_H_
