// What the blocks that ended were, by the order of their allocation: of a whole recording, or of the newest part of one
// that is still being written, so that memory does not grow with it.
#ifndef TOOLS_ANALYZE_CATEGORIES_JUDGED_BLOCKS_H_
#define TOOLS_ANALYZE_CATEGORIES_JUDGED_BLOCKS_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/by_ordinal.h"
#include "tools/analyze/categories/watched_block.h"

namespace memoir {

using RulesOfBlocks = ByOrdinal<RuleNumber, kNotJudged>;

class JudgedBlocks {
 public:
  // By Block::ordinal; kNotJudged: it lives, or it is forgotten.
  RuleNumber Of(std::uint64_t ordinal) const {
    if (ordinal >= first_) return rules_.Of(ordinal - first_);
    const auto old = old_.find(ordinal);
    return old == old_.end() ? kNotJudged : old->second;
  }
  void Set(std::uint64_t ordinal, RuleNumber rule) {
    if (ordinal < first_) {
      old_[ordinal] = rule;
      return;
    }
    rules_.Set(ordinal - first_, rule);
  }
  // All that ended by now; blocks are numbered from `next` on.
  void Forget(std::uint64_t next) {
    first_ = next;
    rules_.clear();
    old_.clear();
  }
  RulesOfBlocks Take() { return std::move(rules_); }

 private:
  std::uint64_t first_ = 0;
  RulesOfBlocks rules_;                                 // from `first_` on
  absl::flat_hash_map<std::uint64_t, RuleNumber> old_;  // older blocks, which ended since
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_JUDGED_BLOCKS_H_
