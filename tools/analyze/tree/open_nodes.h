// Where each thread is in a tree: the ranges that are open on it and the calls of modules, in each other as they began.
//
//     forward (range 0) ──► Net (call 0) ──► layers.0 (call 1) ──► aten::linear (range 1) ──► aten::addmm (range 2)
//
// An end closes what stands inside it, whose own end was lost. Nodes are numbers of the caller's.
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
  std::uint32_t node = kNoTreeNode;
  std::uint32_t level = 0;  // of a range: ranges around it on its thread; of a call: calls around it
  bool is_module = false;
  ModuleId module;  // of a call
  Tick begin = 0;
};

class OpenNodes {
 public:
  // The innermost node that is open on a thread; where there is none, the innermost of `base`. kNoTreeNode: none.
  std::uint32_t Around(ThreadId thread, const RangeBase& base) const;
  // What stood at its level or deeper is over, though nobody said so.
  void Begin(ThreadId thread, const OpenNode& node);
  // `see` is shown each node that is over, the innermost first: the range at this level last, where it is open.
  template <class Function>
  void EndRange(ThreadId thread, std::uint32_t level, Function see) {
    if (const std::optional<std::size_t> at = Find(thread, level, false)) CloseFrom(thread, *at, see);
  }
  // Likewise of a call of a module. Ranges that began in it and are open still stay.
  template <class Function>
  void EndModule(ThreadId thread, std::uint32_t level, Function see);
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
  std::optional<std::size_t> Find(ThreadId thread, std::uint32_t level, bool is_module) const;
  template <class Function>
  void CloseFrom(ThreadId thread, std::size_t at, Function see) {
    std::vector<OpenNode>& open = threads_[thread.value];
    for (; open.size() > at; open.pop_back()) see(open.back());
  }

  std::vector<std::vector<OpenNode>> threads_;  // by ThreadId, outermost first
};

template <class Function>
void OpenNodes::EndModule(ThreadId thread, std::uint32_t level, Function see) {
  const std::optional<std::size_t> at = Find(thread, level, true);
  if (!at) return;
  std::vector<OpenNode>& open = threads_[thread.value];
  for (std::size_t i = open.size(); i-- > *at;) {
    if (!open[i].is_module) continue;
    see(open[i]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_OPEN_NODES_H_
