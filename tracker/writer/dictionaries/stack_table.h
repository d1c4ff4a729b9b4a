// Assigns ids to Python stacks, which form a tree: a stack consists of its parent, which is also a stack, and one more
// inner frame. So stacks share their common outer frames.
//
//     train.py:87 main ─┬─► model.py:12 forward ──► linear.py:125 forward   each frame ends a stack
//                       └─► train.py:91 step
//
// Bounded: when there are kMaxStacks, stacks that are not used are forgotten. If such a stack is recorded again, it
// gets a new id; an id is never used for two stacks. If the stacks of threads, step patterns and live blocks need more
// than half of the table, only the stacks of threads are kept. Earlier chunks contain the other stacks, but later
// keyframes do not. One thread.
#ifndef TRACKER_WRITER_DICTIONARIES_STACK_TABLE_H_
#define TRACKER_WRITER_DICTIONARIES_STACK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "interpose/records/ring_record.h"
#include "tracker/writer/dictionaries/names.h"

namespace memoir {

inline constexpr std::size_t kMaxStacks = 32 * 1024;
inline constexpr std::size_t kMaxStackDepth = 4096;  // number of frames; the innermost frames beyond it are left out

class StackTable {
 public:
  enum class Users : std::uint8_t { kThreads, kThreadsAndBlocks };
  using MarkUsed = std::function<void(Users users, const std::function<void(std::uint32_t)>& use)>;

  // `mark_used` calls `use` with the id of each stack that `users` use: threads, or threads, live blocks and step
  // patterns.
  explicit StackTable(MarkUsed mark_used, std::size_t max_stacks = kMaxStacks);

  // Returns the id of the stack that consists of the `kept` outermost frames of `stack`, followed by `frames`,
  // outermost first. 0 if this stack has no frames, or if `stack` is unknown or has fewer than `kept` frames.
  std::uint32_t Replace(std::uint32_t stack, std::size_t kept, std::span<const StackFrame> frames);

  // Appends to a Payload the definitions that this part lacks: of the stack, of its parents, and of the names of the
  // code in their frames. Returns false if the stack was forgotten.
  bool Define(std::uint32_t stack, std::uint32_t part, Names& names, std::string* payload);

  bool Contains(std::uint32_t stack) const { return RowOf(stack) != kNoRow; }
  std::size_t size() const { return rows_.size(); }

 private:
  static constexpr std::uint32_t kNoRow = 0xffffffffu;
  struct Row {
    std::uint32_t id;
    std::uint32_t parent;  // row of the parent; kNoRow: no parent
    StackFrame frame;
    std::uint32_t part;   // part in which the stack was last defined
    std::uint32_t depth;  // number of frames
  };

  std::uint32_t RowOf(std::uint32_t stack) const;
  std::uint32_t AddChild(std::uint32_t parent, const StackFrame& frame);
  std::size_t Slot(std::uint32_t parent, const StackFrame& frame) const;
  void MakeRoom(std::size_t rows);
  std::vector<bool> UsedBy(Users users) const;  // empty if more than half of the table is used
  void Keep(const std::vector<bool>& used);
  void FillSlots(std::size_t slots);

  MarkUsed mark_used_;
  std::size_t max_stacks_;
  std::vector<Row> rows_;             // sorted by id, so that a parent precedes its children
  std::vector<std::uint32_t> slots_;  // rows, by the hash of parent and frame; kNoRow: free
  std::uint32_t last_id_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_DICTIONARIES_STACK_TABLE_H_
