// Finds, for an autograd node, the tree node of the forward operator that made it. The forward operator is the last
// operator with the autograd node's sequence number on its forward thread. The modules of autograd nodes are found in
// the same way (docs/event_schema.md, "Modules").
#ifndef TOOLS_ANALYZE_TREE_FORWARD_LINKS_H_
#define TOOLS_ANALYZE_TREE_FORWARD_LINKS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/tree/open_nodes.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"
#include "tools/model/sequence_map.h"

namespace memoir {

class ForwardLinks {
 public:
  // `node`: the tree node of the range that begins.
  void Note(const RangeBeginEvent& event, const Dictionary& dictionary, std::uint32_t node) {
    const OpenRange& range = *event.range;
    if (range.depth == 0) threads_[dictionary.thread(event.thread).torch_id] = event.thread;
    const bool forward = range.source == RangeSource::kFunction || range.source == RangeSource::kDispatch;
    if (!forward || range.role.backward || range.sequence < 0) return;
    if (event.thread.value >= made_.size()) made_.resize(event.thread.value + 1);
    made_[event.thread.value].Note(range.sequence, Link{node});
  }
  // Returns the tree node of the operator that made `range`. kNoTreeNode if it is unknown, or if `range` is not an
  // autograd node.
  std::uint32_t Find(const OpenRange& range) const {
    if (range.source != RangeSource::kBackward || range.forward_thread == 0) return kNoTreeNode;
    const auto thread = threads_.find(range.forward_thread);
    if (thread == threads_.end() || thread->second.value >= made_.size()) return kNoTreeNode;
    return made_[thread->second.value].Find(range.sequence).node;
  }
  // Call it at the end of a process, because thread numbers of another process differ.
  void Clear() {
    threads_.clear();
    made_.clear();
  }

 private:
  struct Link {
    std::uint32_t node = kNoTreeNode;
  };
  absl::flat_hash_map<std::uint64_t, ThreadId> threads_;  // by torch's thread number
  std::vector<SequenceMap<Link>> made_;                   // by ThreadId
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_FORWARD_LINKS_H_
