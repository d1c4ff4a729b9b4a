// The open ranges of one thread, after the last event that was added to a chunk. They determine the operator and the
// innermost range of a block that the thread allocates. One thread.
#ifndef TRACKER_WRITER_STATE_RANGE_STACK_H_
#define TRACKER_WRITER_STATE_RANGE_STACK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracker/writer/events/event_kinds.h"

namespace memoir {

// Ranges at a greater depth are counted, but not kept. The innermost kept range then counts as the innermost range.
inline constexpr std::size_t kMaxKeptRanges = 1024;

struct RangeRole {
  bool backward = false;     // an autograd node, or the engine's range around one
  bool optimizer = false;    // an optimizer's own range
  bool compiled = false;     // code that torch.compile has made
  bool compiling = false;    // torch.compile's own work, or a range inside of it
  bool accumulates = false;  // accumulates a parameter's gradient
};

struct OpenRange {
  EventKind kind = EventKind::kUnknown;  // kUnknown: its begin was lost
  std::uint32_t name = 0;                // name id in the capture
  std::uint32_t operator_id = 0;         // id in the ring's table if the range has a schema; else 0
  std::uint64_t begin_tick = 0;
  RangeRole role;
  std::uint32_t module = 0;  // module to which the range's work belongs, id in the ring's table (module_places.h)
  std::uint32_t stack = 0;   // Python stack at the range's begin
  std::uint32_t forward_stack = 0;  // in an autograd node: Python stack of the forward operator
  // Depth of the innermost range that has `role.backward` or `role.optimizer`, respectively, among this range and the
  // ranges around it; -1: no such range. RangeStack sets both depths.
  std::int32_t backward = -1;
  std::int32_t optimizer = -1;
};

class RangeStack {
 public:
  std::uint64_t depth() const { return depth_; }
  const std::vector<OpenRange>& kept() const { return kept_; }
  OpenRange* innermost() { return kept_.empty() ? nullptr : &kept_.back(); }
  const OpenRange* innermost() const { return kept_.empty() ? nullptr : &kept_.back(); }
  OpenRange* around_innermost() { return kept_.size() < 2 ? nullptr : &kept_[kept_.size() - 2]; }

  void Push(const OpenRange& range);
  void Pop();
  // Sets the depth after a loss: removes ranges, or adds unknown ranges.
  void SetDepth(std::uint64_t depth);

  // Returns the id, in the ring's table, of the outermost range with a schema; 0 if no open range has a schema.
  std::uint32_t outermost_operator() const { return operator_depth_ == 0 ? 0 : kept_[operator_depth_ - 1].operator_id; }
  // Returns the name id of the innermost kept range; 0 if no range is open.
  std::uint32_t leaf() const { return kept_.empty() ? 0 : kept_.back().name; }

 private:
  void Keep(OpenRange range);

  std::vector<OpenRange> kept_;
  std::uint64_t depth_ = 0;
  std::size_t operator_depth_ = 0;  // index of the outermost operator in kept_, plus 1; 0: none
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STATE_RANGE_STACK_H_
