// Which module, which phase of training and which lines a thread is in, as far as the writer has read: what keyframes
// say of live blocks. By the rules of docs/event_schema.md, "Modules", which the reader follows too; a test compares
// the two.
//
// Bounded: a table of sequence numbers has 65,536 of them at most, and all together kMostNumbers; a backward node whose
// forward operator lies further back belongs to no module. One thread.
#ifndef TRACKER_WRITER_MODULE_PLACES_H_
#define TRACKER_WRITER_MODULE_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "interpose/ring_layout.h"
#include "tracker/writer/range_stack.h"

namespace memoir {

// As LiveBlocks has them (proto/memoir/v1/capture.proto).
enum PlaceBits : std::uint8_t {
  kPlaceUnknown = 0,
  kPlaceForward = 1,
  kPlaceBackward = 2,
  kPlaceRecompute = 3,
  kPlaceOptimizer = 4,
  kPlaceOther = 5,
  kPlaceCompile = 6,
  kPlaceCompiled = 8,
};

struct Place {
  std::uint32_t module = 0;  // in the ring's table; 0: none
  std::uint8_t place = kPlaceUnknown;
};

// Python stacks (stack_table.h); 0: none.
struct Callstacks {
  std::uint32_t own = 0;      // of the thread
  std::uint32_t forward = 0;  // where an autograd node runs, and no Python code inside it: of its forward operator
};

inline constexpr std::size_t kMostNumbers = std::size_t{1} << 17;  // 1.5 MiB

// What a range is by its kind, and by its text where it has no schema.
RangeRole RoleOf(EventKind kind, std::string_view text);

struct CalledModule {
  std::uint32_t module = 0;
  std::uint64_t depth = 0;  // ranges around it
  bool recompute = false;
};

// Of one thread.
class ThreadModules {
 public:
  ThreadModules() = default;
  ~ThreadModules();
  ThreadModules(const ThreadModules&) = delete;
  ThreadModules& operator=(const ThreadModules&) = delete;

  // Numbers that the tables of all threads may still have.
  void Share(std::size_t* numbers_left) { numbers_left_ = numbers_left; }

  // The innermost range has just begun, with this Python stack. `forward`: the thread of a backward node's forward
  // operator, or nullptr.
  void RangeBegan(RangeStack& ranges, std::uint32_t stack, std::int64_t sequence, const ThreadModules* forward);
  void RangesEnded(const RangeStack& ranges);
  // A call of the module begins, or ends.
  void Called(RangeStack& ranges, std::uint32_t module, bool begins);
  void Clear() { open_.clear(); }

  Place Here(const RangeStack& ranges) const;
  // Of a thread whose Python stack is `own`.
  static Callstacks CallstacksHere(const RangeStack& ranges, std::uint32_t own);
  const std::vector<CalledModule>& open() const { return open_; }  // outermost first

 private:
  struct Number {
    std::uint32_t low = 0;  // of the sequence number plus 1; 0: none
    std::uint32_t stack = 0;
    std::uint16_t module = 0;
  };
  static_assert(kMaxNames <= UINT16_MAX);
  void Note(std::int64_t sequence, std::uint32_t module, std::uint32_t stack);
  Number Find(std::int64_t sequence) const;
  bool Grow();
  Place FindPlace(const RangeStack& ranges) const;
  bool TakeGradientOf(RangeStack& ranges, std::uint32_t module);

  std::vector<CalledModule> open_;
  std::vector<Number> numbers_;  // by the low bits of the sequence number
  std::size_t* numbers_left_ = nullptr;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_MODULE_PLACES_H_
