// The open ranges of one thread, as far as the writer has read. Gives an allocation its operator and its leaf range.
// One thread.
#ifndef TRACKER_WRITER_RANGE_STACK_H_
#define TRACKER_WRITER_RANGE_STACK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracker/writer/capture_fields.h"

namespace memoir {

// Recursion deeper than this is counted, not kept: the leaf is then the deepest range kept.
inline constexpr std::size_t kMaxKeptRanges = 1024;

struct RangeRole {
  bool backward = false;     // a node of autograd's, or the engine around one
  bool optimizer = false;    // the optimizer's own
  bool compiled = false;     // made by torch.compile
  bool compiling = false;    // torch.compile's own work, or inside it
  bool accumulates = false;  // a parameter's gradient
};

struct OpenRange {
  EventKind kind = EventKind::kUnknown;  // kUnknown: its begin was lost
  std::uint32_t name = 0;                // id in the capture
  std::uint32_t operator_id = 0;         // id in the ring's table when the range has a schema, else 0
  std::uint64_t begin_tick = 0;
  RangeRole role;
  std::uint32_t module = 0;  // that it works for, in the ring's table (module_places.h)
  std::uint32_t stack = 0;   // of Python, when it began
  std::uint32_t forward_stack = 0;  // backward: of the forward operator
  // Of the innermost range, at it or around, that has the role; -1: none. The stack fills them in.
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
  // After a loss: cut down, or filled up with unknown ranges.
  void SetDepth(std::uint64_t depth);

  // Ring id of the outermost range with a schema; 0: none.
  std::uint32_t outermost_operator() const { return operator_depth_ == 0 ? 0 : kept_[operator_depth_ - 1].operator_id; }
  // Name id of the innermost range; 0: none.
  std::uint32_t leaf() const { return kept_.empty() ? 0 : kept_.back().name; }

 private:
  void Keep(OpenRange range);

  std::vector<OpenRange> kept_;
  std::uint64_t depth_ = 0;
  std::size_t operator_depth_ = 0;  // position + 1 of the outermost operator in kept_
};

}  // namespace memoir

#endif  // TRACKER_WRITER_RANGE_STACK_H_
