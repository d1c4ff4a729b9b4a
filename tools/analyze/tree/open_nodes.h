// The position of each thread in a tree: its open ranges, module calls and Python calls, nested as they began.
//
//     forward (range 0) ──► Net (call 0) ──► layers.0 (call 1) ──► aten::linear (range 1) ──► aten::addmm (range 2)
//
// The end of a node also closes nodes inside of it whose own ends were lost. The end of a range closes inner ranges and
// module calls. The end of a module call or of a Python call closes inner calls of the same kind. Inner nodes of other
// kinds stay open: a Python call inside of a range has an end of its own, and a range inside of a Python call may
// outlive it. The caller of these functions assigns node numbers.
#ifndef TOOLS_ANALYZE_TREE_OPEN_NODES_H_
#define TOOLS_ANALYZE_TREE_OPEN_NODES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/model/event/event.h"

namespace memoir {

inline constexpr std::uint32_t kNoTreeNode = 0xffffffffu;
inline constexpr Tick kForeverOpen = ~Tick{0};  // value of `begin` for a node without a recorded begin

struct OpenNode {
  enum class Kind : std::uint8_t { kRange, kModule, kCall };
  std::uint32_t node = kNoTreeNode;
  std::uint32_t level = 0;  // number of open nodes of its kind around it on its thread
  Kind kind = Kind::kRange;
  ModuleId module;  // the called module
  Tick begin = 0;
  CodeId code{};  // the called Python function
  // True if the function is __enter__: a range that begins in it stays open after the function has returned.
  bool enters = false;
};

class OpenNodes {
 public:
  // Returns the innermost open node of a thread. If the thread has no open node, returns the innermost open range of
  // `base`, the ranges of another thread for which this thread works. kNoTreeNode if there is no such range.
  std::uint32_t Around(ThreadId thread, const RangeBase& base) const;
  // Returns the node around a range that begins. For a user range that begins in the __enter__ of a `with` statement,
  // this is the node around the statement. For any other range, it is the node that Around returns.
  std::uint32_t AroundRange(ThreadId thread, const OpenRange& range) const;
  // Begins a node. Closes open nodes at its level or deeper, whose ends were not recorded.
  void Begin(ThreadId thread, const OpenNode& node);
  // Ends a range. Calls `see` with each node that ends, innermost first. The range itself comes last, if it is open.
  template <class Function>
  void EndRange(ThreadId thread, std::uint32_t level, Function see) {
    End(thread, level, OpenNode::Kind::kRange, see);
  }
  // End a call of a module or of a Python function in the same way. Nodes of other kinds that began in the call stay
  // open.
  template <class Function>
  void EndModule(ThreadId thread, std::uint32_t level, Function see) {
    End(thread, level, OpenNode::Kind::kModule, see);
  }
  template <class Function>
  void EndCall(ThreadId thread, std::uint32_t level, Function see) {
    End(thread, level, OpenNode::Kind::kCall, see);
  }
  // Forgets the open module calls of a thread, because events were lost.
  void ForgetModules(ThreadId thread);
  template <class Function>
  void ForEach(Function see) const {
    for (const std::vector<OpenNode>& open : threads_) {
      for (const OpenNode& node : open) see(node);
    }
  }
  // Calls `change` with the thread and each node, outermost first.
  template <class Function>
  void Change(Function change) {
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      for (OpenNode& node : threads_[i]) change(ThreadId{i}, node);
    }
  }
  void Clear() { threads_.clear(); }
  OpenNode* Innermost(ThreadId thread);  // nullptr: no open node

 private:
  std::optional<std::size_t> Find(ThreadId thread, std::uint32_t level, OpenNode::Kind kind) const;
  template <class Function>
  void End(ThreadId thread, std::uint32_t level, OpenNode::Kind kind, Function see);

  std::vector<std::vector<OpenNode>> threads_;  // by ThreadId, outermost first
};

template <class Function>
void OpenNodes::End(ThreadId thread, std::uint32_t level, OpenNode::Kind kind, Function see) {
  const std::optional<std::size_t> at = Find(thread, level, kind);
  if (!at) return;
  std::vector<OpenNode>& open = threads_[thread.value];
  for (std::size_t i = open.size(); i-- > *at;) {
    // The end of a range also ends module calls inside.
    const bool over = kind == OpenNode::Kind::kRange ? open[i].kind != OpenNode::Kind::kCall : open[i].kind == kind;
    if (!over) continue;
    see(open[i]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_OPEN_NODES_H_
