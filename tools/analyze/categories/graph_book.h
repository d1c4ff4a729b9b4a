// The nodes of autograd's graph that have not run, and the blocks that each of them may have saved.
//
// A recording shows no node before it runs. It shows operators with the sequence number that the next node takes, so
// that an operator whose number was used up has made one:
//
//     aten::eq  #7 ─┐ makes none           the number goes to the next
//     aten::mul #7 ─┴─► MulBackward0 #7    may keep what aten::mul was given and what it computed, until it has run
//
// What a node saves of that is known for torch's own operators (saved_tensors.h). Of others it is not before backward
// reads it: of a block that lives and that some such node may keep, autograd is taken to be the keeper.
#ifndef TOOLS_ANALYZE_CATEGORIES_GRAPH_BOOK_H_
#define TOOLS_ANALYZE_CATEGORIES_GRAPH_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/evidence.h"

namespace memoir {

class GraphBook {
 public:
  // Torch's number of a thread, and autograd's sequence number there.
  using Step = std::pair<std::uint64_t, std::int64_t>;
  static constexpr Step kNoStep{0, -1};

  enum class Saves : std::uint8_t { kNo, kMaybe, kYes };
  struct BlockRef {
    std::uint32_t slot = 0;
    std::uint64_t ordinal = 0;
    Saves saved = Saves::kMaybe;
  };
  // A block that ended before, of which a rule would say otherwise if its operator turned out to be differentiable.
  struct Ended {
    std::uint64_t ordinal = 0;
    std::uint64_t place = 0;
    Evidence evidence;
  };
  struct Node {
    std::uint64_t call = 0;   // OpenRange::call of the operator that makes it, or its number's last one so far
    std::uint64_t place = 0;  // where that operator ran: PlaceBook
    std::vector<BlockRef> computed;
    std::vector<BlockRef> given;
    std::vector<Ended> ended;
  };

  // An operator is given a block, or allocates one that lies in no range of a number inside of it. False: not the last
  // operator that has the number.
  bool Give(const Step& step, std::uint64_t call, std::uint64_t place, BlockRef block);
  bool Compute(const Step& step, std::uint64_t call, std::uint64_t place, BlockRef block);
  // How many blocks that live the operator has computed so far.
  std::size_t Computed(const Step& step, std::uint64_t call) const;
  // The operator has ended, and what it computed is known: of that the node saves `saved` alone.
  void Settle(const Step& step, std::uint64_t call, const std::vector<BlockRef>& saved);
  // The node runs, and keeps nothing any more.
  std::optional<Node> Run(const Step& step);
  // A block ends that `call` has computed. `otherwise`: what it would be if that was differentiable.
  void BlockEnds(const Step& step, std::uint64_t call, BlockRef block, const std::optional<Ended>& otherwise);

  // How many nodes that have not run may keep it, and how many have to do with it at all.
  std::uint32_t Keepers(BlockRef block) const { return KeptOf(block).keepers; }
  std::uint32_t Users(BlockRef block) const { return KeptOf(block).nodes; }
  // Whether what the node was given, whose operator may have made none, counts there.
  void Count(const Step& step, bool counts);
  void Clear();

 private:
  // Programs that never call backward would fill memory.
  static constexpr std::size_t kMostEnded = std::size_t{1} << 20;
  static constexpr std::size_t kMostNodes = std::size_t{1} << 18;  // with blocks that they were given
  struct Kept {
    std::uint64_t ordinal = 0;
    std::uint32_t nodes = 0, keepers = 0;
  };

  Node* NodeOf(const Step& step, std::uint64_t call, std::uint64_t place);
  Kept KeptOf(BlockRef block) const {
    const bool known = block.slot < kept_.size() && kept_[block.slot].ordinal == block.ordinal;
    return known ? kept_[block.slot] : Kept();
  }
  void Keep(BlockRef block);
  void Release(BlockRef block);
  void ForgetEnded();
  void ForgetGiven();
  void EraseIfEmpty(const Step& step);

  absl::flat_hash_map<Step, Node> nodes_;
  std::vector<Kept> kept_;                                  // by Block::slot
  std::size_t ended_ = 0;                                   // in nodes_
  std::deque<std::pair<Step, std::uint64_t>> ended_first_;  // which have ended ones, with their calls
  std::deque<std::pair<Step, std::uint64_t>> given_first_;  // likewise, which were given something
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_GRAPH_BOOK_H_
