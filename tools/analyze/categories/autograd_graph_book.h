// Follows the autograd nodes that have not run yet, and the blocks that each of them may have saved.
//
// A recording contains a node only when the node runs. Each operator is recorded with the sequence number of the next
// new node. So an operator has made a node if the operator after it has another number:
//
//     aten::eq  #7 ─┐ makes no node        the number stays for the next operator
//     aten::mul #7 ─┴─► MulBackward0 #7    may keep the arguments and results of aten::mul until the node has run
//
// operator_saves.h lists which arguments and results the nodes of torch's own operators save. For other operators, only
// a read in backward shows that a block was saved. Until then, a live block that the node of such an operator may keep
// is assumed to be held by autograd.
#ifndef TOOLS_ANALYZE_CATEGORIES_AUTOGRAD_GRAPH_BOOK_H_
#define TOOLS_ANALYZE_CATEGORIES_AUTOGRAD_GRAPH_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/evidence.h"

namespace memoir {

class AutogradGraphBook {
 public:
  // torch's number of a thread, and an autograd sequence number of this thread.
  using Step = std::pair<std::uint64_t, std::int64_t>;
  static constexpr Step kNoStep{0, -1};

  enum class Saving : std::uint8_t { kNo, kMaybe, kYes };
  struct BlockRef {
    std::uint32_t slot = 0;
    std::uint64_t ordinal = 0;
    Saving saved = Saving::kMaybe;
  };
  // A block that was freed before the node of its operator ran. If the node runs later, the operator is differentiable,
  // and another rule may apply to the block.
  struct EndedBlock {
    std::uint64_t ordinal = 0;
    std::uint64_t place = 0;
    Evidence evidence;
  };
  struct Node {
    std::uint64_t call = 0;   // OpenRange::call of the newest operator with the node's number, which makes the node
    std::uint64_t place = 0;  // place (AllocationPlaces) in which that operator ran
    std::vector<BlockRef> computed;  // blocks that the operator allocated
    std::vector<BlockRef> given;     // blocks that the operator received
    std::vector<EndedBlock> ended;
  };

  // AddGiven notes a block that an operator received. AddComputed notes a block that an operator allocated. If several
  // operators are open, the innermost operator with a sequence number counts as the allocating operator. Both return
  // false if a later operator has the same number.
  bool AddGiven(const Step& step, std::uint64_t call, std::uint64_t place, BlockRef block);
  bool AddComputed(const Step& step, std::uint64_t call, std::uint64_t place, BlockRef block);
  // Returns the number of live blocks that the operator has computed so far.
  std::size_t CountComputed(const Step& step, std::uint64_t call) const;
  // Notes that the operator has ended, so that its results are known. The node saves only the results in `saved`.
  void SettleSaved(const Step& step, std::uint64_t call, const std::vector<BlockRef>& saved);
  // Removes and returns the node of `step`, because it runs now and no longer counts as keeping blocks. nullopt if the
  // node is unknown.
  std::optional<Node> RunNode(const Step& step);
  // Notes the free of a block that the operator call `call` computed. `otherwise`: the evidence about the block, if
  // another rule will apply to it once the operator's node has run.
  void EndBlock(const Step& step, std::uint64_t call, BlockRef block, const std::optional<EndedBlock>& otherwise);

  // CountHolders counts the nodes that may keep the block. CountUsers counts the nodes whose operators received or
  // computed the block. Both count only nodes that have not run.
  std::uint32_t CountHolders(BlockRef block) const { return HoldCountOf(block).holders; }
  std::uint32_t CountUsers(BlockRef block) const { return HoldCountOf(block).nodes; }
  // Sets whether the arguments of the node's operator count as kept. `counts` is false while it is unknown whether the
  // operator made a node.
  void SetCounts(const Step& step, bool counts);
  void Clear();

 private:
  // Bounds for programs that never call backward.
  static constexpr std::size_t kMostEnded = std::size_t{1} << 20;  // bounds the entries of all Node::ended
  static constexpr std::size_t kMostNodes = std::size_t{1} << 18;  // bounds the nodes whose `given` is not empty
  struct HoldCount {
    std::uint64_t ordinal = 0;
    std::uint32_t nodes = 0, holders = 0;  // the results of CountUsers and CountHolders
  };

  Node* NodeOf(const Step& step, std::uint64_t call, std::uint64_t place);
  HoldCount HoldCountOf(BlockRef block) const {
    const bool known = block.slot < kept_.size() && kept_[block.slot].ordinal == block.ordinal;
    return known ? kept_[block.slot] : HoldCount();
  }
  void AddHolds(BlockRef block);
  void ReleaseHolds(BlockRef block);
  void ForgetEnded();
  void ForgetGiven();
  void EraseIfEmpty(const Step& step);

  absl::flat_hash_map<Step, Node> nodes_;
  std::vector<HoldCount> kept_;                             // by Block::slot
  std::size_t ended_ = 0;                                   // number of blocks in all Node::ended
  std::deque<std::pair<Step, std::uint64_t>> ended_first_;  // nodes with ended blocks (step and call), oldest first
  std::deque<std::pair<Step, std::uint64_t>> given_first_;  // nodes with arguments (step and call), oldest first
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_AUTOGRAD_GRAPH_BOOK_H_
