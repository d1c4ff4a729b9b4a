// Where in a program blocks are made, so that what became of one tells of the next: the same place in the next call of
// the same module, in the next run of the same node of autograd, in the optimizer's next step.
//
// A place is a hash of what runs (the innermost module, node or step) and of all that was allocated in it so far, by
// operators.
#ifndef TOOLS_ANALYZE_CATEGORIES_PLACE_BOOK_H_
#define TOOLS_ANALYZE_CATEGORIES_PLACE_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/event_base.h"
#include "tools/model/ids.h"

namespace memoir {

class PlaceBook {
 public:
  static constexpr std::uint64_t kNowhere = 0;

  // What became of a block.
  struct Became {
    RuleNumber rule = 0;
    std::uint32_t slot = 0;
    std::uint64_t ordinal = 0;
    std::uint32_t leaf_slot = 0;  // a gradient: of what
    std::uint64_t leaf = ~std::uint64_t{0};
  };

  void EnterModule(ThreadId thread, std::uint32_t depth, ModuleId module);
  void ExitModule(ThreadId thread, std::uint32_t depth) { Exit(thread, depth, true); }
  // Nodes of autograd and steps of optimizers. `maker`: where the operator ran that made the node.
  void EnterRange(ThreadId thread, std::uint32_t depth, NameId name, std::uint64_t maker = kNowhere);
  void ExitRange(ThreadId thread, std::uint32_t depth) { Exit(thread, depth, false); }

  std::uint64_t Here(ThreadId thread);
  // Of the next block that is made there.
  std::uint64_t Next(ThreadId thread, NameId operator_name, NameId leaf_name, Phase phase);

  // What became of the last block of this place of which that is known; nullptr: of none.
  void Note(std::uint64_t place, const Became& became);
  const Became* Find(std::uint64_t place) const;
  void EndProcess() { threads_.clear(); }

 private:
  static constexpr std::size_t kMostPlaces = std::size_t{1} << 20;
  struct Open {
    std::uint64_t here = 0;
    std::uint64_t began = 0;  // as `here`, before anything was allocated
    std::uint32_t depth = 0;
    bool module = false;
  };
  struct Thread {
    std::vector<Open> open;
    std::uint64_t outside = 1;  // as `here`, where nothing is open
  };

  Thread& Of(ThreadId thread);
  void Exit(ThreadId thread, std::uint32_t depth, bool module);

  std::vector<Thread> threads_;
  absl::flat_hash_map<std::uint64_t, Became> became_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_PLACE_BOOK_H_
