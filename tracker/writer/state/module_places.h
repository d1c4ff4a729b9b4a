// Determines the current module, place (forward, backward, optimizer, ...) and Python stacks of a thread, after the
// last event that was added to a chunk. Keyframes contain them for live blocks. The rules are in docs/event_schema.md,
// "Modules". The readers of captures follow the same rules; a test compares the results.
//
// Each thread has a table that maps autograd's sequence numbers to its forward operators. A table has at most 65,536
// numbers, and the tables of all threads together have at most kMostForwardOperators. If the forward operator of a
// backward node is no longer in a table, the node belongs to no module. One thread.
#ifndef TRACKER_WRITER_STATE_MODULE_PLACES_H_
#define TRACKER_WRITER_STATE_MODULE_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "interpose/ring/ring_layout.h"
#include "tracker/writer/state/range_stack.h"

namespace memoir {

// Values of LiveBlocks.place (proto/memoir/v1/capture.proto). kPlaceCompiled is a bit that is added to another value.
enum ModulePlaceBits : std::uint8_t {
  kPlaceUnknown = 0,
  kPlaceForward = 1,
  kPlaceBackward = 2,
  kPlaceRecompute = 3,
  kPlaceOptimizer = 4,
  kPlaceOther = 5,
  kPlaceCompile = 6,
  kPlaceCompiled = 8,
};

struct ModulePlace {
  std::uint32_t module = 0;  // id in the ring's table; 0: no module
  std::uint8_t place = kPlaceUnknown;
};

// Ids of Python stacks (stack_table.h); 0: no stack.
struct Callstacks {
  std::uint32_t own = 0;  // stack of the thread
  // Stack of the forward operator, if the thread is in an autograd node that runs no Python code.
  std::uint32_t forward = 0;
};

inline constexpr std::size_t kMostForwardOperators = std::size_t{1} << 17;  // all tables together then take 1.5 MiB

// Returns the role of a range, from its kind and, if it has no schema, from its text.
RangeRole RoleOf(EventKind kind, std::string_view text);

// A module call that has not ended.
struct CalledModule {
  std::uint32_t module = 0;
  std::uint64_t depth = 0;  // number of ranges that were open when the call began
  bool recompute = false;   // the call is inside of an autograd node, which repeats a forward pass (checkpointing)
};

// The open module calls of one thread, and the modules and stacks of its forward operators.
class ThreadModules {
 public:
  ThreadModules() = default;
  ~ThreadModules();
  ThreadModules(const ThreadModules&) = delete;
  ThreadModules& operator=(const ThreadModules&) = delete;

  // `numbers_left`: the number of entries by which the tables of all threads together may still grow.
  void SetNumbersLeft(std::size_t* numbers_left) { numbers_left_ = numbers_left; }

  // Call it when a range has begun and is the innermost range. `stack`: the thread's Python stack. `forward`: for a
  // backward node, the thread of its forward operator; otherwise nullptr.
  void BeginRange(RangeStack& ranges, std::uint32_t stack, std::int64_t sequence, const ThreadModules* forward);
  // Call it when ranges have ended. Ends module calls that were inside of them.
  void EndRanges(const RangeStack& ranges);
  // Adds the begin or the end of a call of the module.
  void AddCall(RangeStack& ranges, std::uint32_t module, bool begins);
  void Clear() { open_.clear(); }

  ModulePlace CurrentPlace(const RangeStack& ranges) const;
  // Returns the stacks for a block that a thread allocates while its Python stack is `own`.
  static Callstacks CurrentCallstacks(const RangeStack& ranges, std::uint32_t own);
  const std::vector<CalledModule>& open() const { return open_; }  // outermost first

 private:
  struct ForwardOperator {
    std::uint32_t low = 0;  // low bits of the sequence number plus 1; 0: free
    std::uint32_t stack = 0;
    std::uint16_t module = 0;
  };
  static_assert(kMaxNames <= UINT16_MAX);
  void Note(std::int64_t sequence, std::uint32_t module, std::uint32_t stack);
  ForwardOperator Find(std::int64_t sequence) const;
  bool Grow();
  ModulePlace FindPlace(const RangeStack& ranges) const;
  bool TakeGradientOf(RangeStack& ranges, std::uint32_t module);

  std::vector<CalledModule> open_;
  bool optimizer_calls_model_ = false;
  std::vector<ForwardOperator> numbers_;  // indexed by the low bits of the sequence number
  std::size_t* numbers_left_ = nullptr;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STATE_MODULE_PLACES_H_
