// A program's work as a tree: nested user ranges, module calls, operators and autograd nodes, merged over all calls and
// threads by their place, with their allocations and memory events.
#ifndef TOOLS_ANALYZE_TREE_RANGE_TREE_H_
#define TOOLS_ANALYZE_TREE_RANGE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/tree/memory_action.h"
#include "tools/model/capture.h"
#include "tools/model/event/dictionary.h"

namespace memoir {

// The memory events of one kind in a node, on one device, stream and library; or the CUDA calls of one kind in a node.
struct TreeMemory {
  MemoryAction action = MemoryAction::kAllocate;
  std::string device;
  std::uint64_t stream = 0;
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;  // of a driver allocation
  std::string library;
  v1::DeviceCall device_call = v1::DEVICE_CALL_UNKNOWN;  // of a CUDA call
  v1::CopyKind copy_kind = v1::COPY_KIND_UNKNOWN;        // of a copy
  std::string kernel;                                    // of a launch, mangled; empty: unknown
  std::uint64_t ns = 0;                                  // time that the program spent in the calls; 0 for launches
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_at_peak = 0;  // allocations: bytes live at the peak of their device
  std::uint64_t net_bytes = 0;      // allocations: bytes live at the end of the window
};

struct RangeNode {
  // kOther: nodes that RangeTreeOptions::width, `share` or `grep` cut off. kDeeper: nodes that `depth` cut off.
  // kModule: calls of a module. kCall: calls of a Python function.
  enum class Kind : std::uint8_t { kRoot, kNamed, kOther, kDeeper, kModule, kCall };
  std::string name;  // kNamed: of the range; kCall: of the function; kModule: path, for a root module its name
  std::string file;  // kCall only; empty: a function in C
  Kind kind = Kind::kNamed;
  // kOther: number of siblings that this node stands for. kDeeper: number of nodes that this node stands for.
  std::uint64_t others = 0;
  RangeSource source = RangeSource::kFunction;
  std::optional<Module> module;  // kModule; for an autograd node the module of its forward operator
  std::string forward;           // for an autograd node: its forward operator; empty: unknown
  std::uint32_t depth = 0;       // 0: the root
  std::uint32_t parent = 0;      // index; the root is its own parent
  std::uint64_t calls = 0;
  std::uint64_t unfinished = 0;  // calls whose end was not recorded
  // Allocations while this node was innermost; for kOther and kDeeper, all allocations in the nodes that it stands for.
  std::uint64_t self_allocations = 0;
  std::uint64_t self_bytes = 0;
  std::uint64_t self_net_bytes = 0;   // self_bytes that are live at the end of the window
  std::uint64_t allocated_bytes = 0;  // allocated in the node or below
  std::uint64_t net_bytes = 0;
  // Bytes allocated in the node or below that were live at the peak of their device; for the root the whole peak.
  std::uint64_t bytes_at_peak = 0;
  std::uint64_t freed_bytes = 0;        // bytes freed in the node or below, wherever they were allocated
  std::uint64_t total_ns = 0;           // time in the node, summed over calls
  std::vector<TreeMemory> memory;       // events of this node itself; empty for kOther and kDeeper
  std::vector<std::uint32_t> children;  // nodes with a call without an end first; then by allocated bytes, most first
};

struct RangeTree {
  std::vector<RangeNode> nodes;  // [0] is the root; its allocated_bytes is the total of the window
  std::uint64_t all_nodes = 0;   // number of nodes, without the root
  std::uint64_t shown_nodes = 0;
  std::uint64_t too_many = 0;  // calls that are counted in their parents, because there are too many nodes
  std::uint64_t too_deep = 0;  // calls that are counted in their parents, because they are deeper than kMostDepth
  ReplayReport report;
};

// The calls of Python functions that are nodes. Other calls belong to the node around them.
enum class TreeCalls : std::uint8_t {
  kOwn,  // the user's own code (own_code.h), except for a module's forward, which has the module's row
  kAll,  // all code except for Memoir's package
  kNone
};

struct RangeTreeOptions : Selection {
  static constexpr std::uint32_t kMostDepth = 1000;
  // Number of shown levels; deeper nodes are merged into one row. 0: all. With --range, the selected user range
  // is the first level; ranges around it do not count.
  std::uint32_t depth = 6;
  std::size_t width = 10;  // number of children shown for each node; all other children are merged into one row
  // A node is merged into a kOther row if its allocated bytes, its bytes at the peak and its freed bytes are each less
  // than `share` of a total. The total is the allocated bytes of the whole tree or its peak, whichever is larger.
  // `share` does not merge a node if one of these events happened in the node or below it: memory was taken from a
  // device or returned to a device, a request was refused, an end is missing, or torch.compile compiled. 0: all nodes
  // are shown.
  double share = 0;
  std::string thread;  // number or name of the only selected thread; empty: all
  // Shows the nodes whose name or module contains this text, the nodes around them, and `depth` levels inside of them.
  // The case of letters does not matter. Empty: all nodes.
  std::string grep;
  TreeCalls calls = TreeCalls::kOwn;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_RANGE_TREE_H_
