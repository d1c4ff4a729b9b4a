// What a program did, as a tree: user ranges, calls of modules, operators and nodes of autograd's in each other, merged
// by their place over all calls and threads, with what was allocated under each and what they did to memory.
#ifndef TOOLS_ANALYZE_TREE_RANGE_TREE_H_
#define TOOLS_ANALYZE_TREE_RANGE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/analyze/tree/tree_memory.h"
#include "tools/model/capture.h"
#include "tools/model/dictionary.h"

namespace memoir {

// What a node did to the memory of one device, in one way; on one stream, of one library. Or its calls of CUDA of one
// kind.
struct TreeMemory {
  MemoryAction action = MemoryAction::kAllocate;
  std::string device;
  std::uint64_t stream = 0;
  v1::DriverCall call = v1::DRIVER_CALL_UNKNOWN;  // of driver calls, as the next
  std::string library;
  v1::DeviceCall device_call = v1::DEVICE_CALL_UNKNOWN;  // of calls of CUDA, as the next three
  v1::CopyKind copy_kind = v1::COPY_KIND_UNKNOWN;
  std::string kernel;    // of a launch, mangled; "": not known
  std::uint64_t ns = 0;  // that the program was in them; launches: 0
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_at_peak = 0;  // of allocations: of them, live at the peak of their device
  std::uint64_t net_bytes = 0;      // and at the end of the window
};

struct RangeNode {
  // kOther: what the width or a pattern cut off, kDeeper: depth; kModule: calls of a module; kCall: of a function.
  enum class Kind : std::uint8_t { kRoot, kNamed, kOther, kDeeper, kModule, kCall };
  std::string name;  // kNamed: of the range; kModule: its path, or its root; kCall: of the function
  std::string file;  // kCall; "": a function in C
  Kind kind = Kind::kNamed;
  std::uint64_t others = 0;  // kOther: how many siblings it stands for; kDeeper: how many nodes inside its parent
  RangeSource source = RangeSource::kFunction;
  std::optional<Module> module;  // kModule; of a node of autograd's: of its forward operator
  std::string forward;           // node of autograd's: its forward operator; "": not known
  std::uint32_t depth = 0;       // 0: the root
  std::uint32_t parent = 0;      // index; the root is its own
  std::uint64_t calls = 0;
  std::uint64_t unfinished = 0;        // of them, whose end was not recorded
  std::uint64_t self_allocations = 0;  // with this node innermost; kOther, kDeeper: at or under it
  std::uint64_t self_bytes = 0;
  std::uint64_t self_net_bytes = 0;   // of these, live at the end of the window
  std::uint64_t allocated_bytes = 0;  // at or under it
  std::uint64_t net_bytes = 0;
  std::uint64_t bytes_at_peak = 0;      // at or under it, live at the peak of their device; the root: all that was
  std::uint64_t freed_bytes = 0;        // what the program gave back at or under it, whoever allocated it
  std::uint64_t total_ns = 0;           // time in it, summed over calls
  std::vector<TreeMemory> memory;       // its own; none of kOther and kDeeper
  std::vector<std::uint32_t> children;  // what has no end, then most allocated bytes first
};

struct RangeTree {
  std::vector<RangeNode> nodes;  // [0] is the root: its allocated_bytes is the window's total
  std::uint64_t all_nodes = 0;   // that there are, the root left out
  std::uint64_t shown_nodes = 0;
  std::uint64_t too_many = 0;  // calls counted with their parents: more nodes than are kept
  std::uint64_t too_deep = 0;  // likewise: deeper than kMostDepth
  ReplayReport report;
};

// Which calls of Python functions are nodes; what is in others stands in what is around these.
enum class TreeCalls : std::uint8_t {
  kOwn,  // of the user's own code (own_code.h), but for the forward of a module, which its row is about
  kAll,  // but for those of Memoir's package
  kNone
};

struct RangeTreeOptions : Selection {
  static constexpr std::uint32_t kMostDepth = 1000;
  // Levels that are shown, and what is deeper in one row; 0: all. Of a window that a range opens the first is that
  // range: those around it do not count.
  std::uint32_t depth = 6;
  std::size_t width = 10;  // children per node; the rest become one
  // What has less than this part of all that was allocated, at the peak or freed is not shown by itself, unless it took
  // memory from a device, was refused some, or has no end; 0: all.
  double share = 0;
  std::string thread;  // number or name of the only one that counts; "": all
  // Nodes in whose name or module this stands, in any case, with what is around them and `depth` levels inside; "":
  // all.
  std::string grep;
  TreeCalls calls = TreeCalls::kOwn;
};

// NotFound: the selection or the thread does not occur.
absl::StatusOr<RangeTree> AnalyzeRangeTree(const Capture& capture, const RangeTreeOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_RANGE_TREE_H_
