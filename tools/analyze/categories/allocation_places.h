// The places in a program where blocks are made. Blocks of one place usually have the same category. So once the rules
// have judged a block, its category predicts the category of the next block of its place. A place recurs when the same
// module is called again, when the same autograd node runs again, or in the next optimizer step.
//
// A place is a hash of the innermost running module, autograd node or optimizer step, and of the operators of all
// blocks that this module, node or step has allocated so far.
#ifndef TOOLS_ANALYZE_CATEGORIES_ALLOCATION_PLACES_H_
#define TOOLS_ANALYZE_CATEGORIES_ALLOCATION_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/event/event_base.h"
#include "tools/model/event/ids.h"

namespace memoir {

class AllocationPlaces {
 public:
  static constexpr std::uint64_t kNowhere = 0;  // the place of a block whose thread is unknown

  // The rule of a judged block, and the block's slot and ordinal.
  struct Outcome {
    RuleNumber rule = 0;
    std::uint32_t slot = 0;
    std::uint64_t ordinal = 0;
    std::uint32_t leaf_slot = 0;  // for a gradient: slot and ordinal of the block of its leaf tensor
    std::uint64_t leaf = ~std::uint64_t{0};
  };

  void EnterModule(ThreadId thread, std::uint32_t depth, ModuleId module);
  void ExitModule(ThreadId thread, std::uint32_t depth) { Exit(thread, depth, true); }
  // Enters an autograd node or an optimizer step. `maker`: for a node, the place of the operator that made the node.
  void EnterRange(ThreadId thread, std::uint32_t depth, NameId name, std::uint64_t maker = kNowhere);
  void ExitRange(ThreadId thread, std::uint32_t depth) { Exit(thread, depth, false); }

  std::uint64_t CurrentPlace(ThreadId thread);
  // Returns the place of the next block that the thread allocates, and advances to it.
  std::uint64_t NextPlace(ThreadId thread, NameId operator_name, NameId leaf_name, Phase phase);

  // Note stores the outcome of the newest judged block of a place; Find returns it. nullptr if no block of the place
  // was judged.
  void Note(std::uint64_t place, const Outcome& became);
  const Outcome* Find(std::uint64_t place) const;
  void EndProcess() { threads_.clear(); }

 private:
  static constexpr std::size_t kMostPlaces = std::size_t{1} << 20;
  struct OpenPlace {
    std::uint64_t here = 0;   // place of the newest block in the module or range
    std::uint64_t began = 0;  // value of `here` when the module or range began
    std::uint32_t depth = 0;
    bool module = false;
  };
  struct Thread {
    std::vector<OpenPlace> open;
    std::uint64_t outside = 1;  // value of `here` when nothing is open
  };

  Thread& ThreadOf(ThreadId thread);
  void Exit(ThreadId thread, std::uint32_t depth, bool module);

  std::vector<Thread> threads_;
  absl::flat_hash_map<std::uint64_t, Outcome> became_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_ALLOCATION_PLACES_H_
