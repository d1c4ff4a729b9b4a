// Python stacks as a tree: a stack is another one and a frame further in, so that stacks share what they begin with.
//
//     train.py:87 main ─┬─► model.py:12 forward ──► linear.py:125 forward      three stacks that end at a frame each
//                       └─► train.py:91 step
//
// Bounded: where kMaxStacks are known, those that nothing needs any more are forgotten, and come back under a new id;
// an id never means two things. Where live blocks need more than half, theirs are forgotten too: events have said them,
// and a keyframe leaves them out. One thread.
#ifndef TRACKER_WRITER_STACK_TABLE_H_
#define TRACKER_WRITER_STACK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "interpose/ring_record.h"
#include "tracker/writer/names.h"

namespace memoir {

inline constexpr std::size_t kMaxStacks = 32 * 1024;
inline constexpr std::size_t kMaxStackDepth = 4096;  // frames further in are left out

class StackTable {
 public:
  enum class Users : std::uint8_t { kThreads, kThreadsAndBlocks };
  using MarkUsed = std::function<void(Users users, const std::function<void(std::uint32_t)>& use)>;

  // `mark_used` calls its argument with each id that threads, or threads and live blocks, have.
  explicit StackTable(MarkUsed mark_used, std::size_t max_stacks = kMaxStacks);

  // The stack that has the `kept` outermost frames of `stack` and then `frames`, outermost first. 0: no frames, or that
  // of `stack` so many are not known.
  std::uint32_t Replace(std::uint32_t stack, std::size_t kept, std::span<const StackFrame> frames);

  // Appends to a Payload the definitions that this part lacks. False: the stack is not known any more.
  bool Define(std::uint32_t stack, std::uint32_t part, Names& names, std::string* payload);

  bool Knows(std::uint32_t stack) const { return RowOf(stack) != kNoRow; }
  std::size_t size() const { return rows_.size(); }

 private:
  static constexpr std::uint32_t kNoRow = 0xffffffffu;
  struct Row {
    std::uint32_t id;
    std::uint32_t parent;  // row; kNoRow: none
    StackFrame frame;
    std::uint32_t part;   // last defined in
    std::uint32_t depth;  // frames
  };

  std::uint32_t RowOf(std::uint32_t stack) const;
  std::uint32_t Child(std::uint32_t parent, const StackFrame& frame);
  std::size_t Slot(std::uint32_t parent, const StackFrame& frame) const;
  void MakeRoom(std::size_t rows);
  std::vector<bool> UsedBy(Users users) const;  // none where that is more than half of what there is room for
  void Keep(const std::vector<bool>& used);
  void FillSlots(std::size_t slots);

  MarkUsed mark_used_;
  std::size_t max_stacks_;
  std::vector<Row> rows_;             // by id, so that a parent stands before its children
  std::vector<std::uint32_t> slots_;  // row by parent and frame; kNoRow: free
  std::uint32_t last_id_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STACK_TABLE_H_
