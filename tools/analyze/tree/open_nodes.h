// Where each thread is in a tree: the ranges that are open on it, and the calls of modules and of Python functions, in
// each other as they began.
//
//     forward (range 0) ──► Net (call 0) ──► layers.0 (call 1) ──► aten::linear (range 1) ──► aten::addmm (range 2)
//
// An end closes what stands inside it, whose own end was lost, but for what outlives it: calls of functions know their
// ends, and a range may be left open by the function that began it. Nodes are numbers of the caller's.
#ifndef TOOLS_ANALYZE_TREE_OPEN_NODES_H_
#define TOOLS_ANALYZE_TREE_OPEN_NODES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/model/event.h"

namespace memoir {

inline constexpr std::uint32_t kNoTreeNode = 0xffffffffu;
inline constexpr Tick kForeverOpen = ~Tick{0};  // begin of what takes no time of its own

struct OpenNode {
  enum class Kind : std::uint8_t { kRange, kModule, kCall };
  std::uint32_t node = kNoTreeNode;
  std::uint32_t level = 0;  // how many of its kind are around it on its thread
  Kind kind = Kind::kRange;
  ModuleId module;  // that is called
  Tick begin = 0;
  CodeId code{};        // of a Python function that is called
  bool enters = false;  // likewise, __enter__: what it begins goes on behind it
};

class OpenNodes {
 public:
  // The innermost node that is open on a thread; where there is none, the innermost of `base`. kNoTreeNode: none.
  std::uint32_t Around(ThreadId thread, const RangeBase& base) const;
  // The same for a range that begins: of a user's, what is around the `with` whose __enter__ begins it.
  std::uint32_t AroundRange(ThreadId thread, const OpenRange& range) const;
  // What stood at its level or deeper is over, though nobody said so.
  void Begin(ThreadId thread, const OpenNode& node);
  // `see` is shown each node that is over, the innermost first: the range at this level last, where it is open.
  template <class Function>
  void EndRange(ThreadId thread, std::uint32_t level, Function see) {
    End(thread, level, OpenNode::Kind::kRange, see);
  }
  // Likewise of a call of a module, or of a function. What else began in it and is open still stays.
  template <class Function>
  void EndModule(ThreadId thread, std::uint32_t level, Function see) {
    End(thread, level, OpenNode::Kind::kModule, see);
  }
  template <class Function>
  void EndCall(ThreadId thread, std::uint32_t level, Function see) {
    End(thread, level, OpenNode::Kind::kCall, see);
  }
  // Which calls of modules are open is not known any more.
  void ForgetModules(ThreadId thread);
  template <class Function>
  void ForEach(Function see) const {
    for (const std::vector<OpenNode>& open : threads_) {
      for (const OpenNode& node : open) see(node);
    }
  }
  // `change` gets the thread and each node, those around it first.
  template <class Function>
  void Change(Function change) {
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      for (OpenNode& node : threads_[i]) change(ThreadId{i}, node);
    }
  }
  void Clear() { threads_.clear(); }
  OpenNode* Innermost(ThreadId thread);  // nullptr: nothing is open

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
    // A range takes calls of modules along.
    const bool over = kind == OpenNode::Kind::kRange ? open[i].kind != OpenNode::Kind::kCall : open[i].kind == kind;
    if (!over) continue;
    see(open[i]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_OPEN_NODES_H_
