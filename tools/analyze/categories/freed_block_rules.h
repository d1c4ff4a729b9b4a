// Stores the rules of freed blocks by Block::ordinal. For a complete recording, stores the rules of all blocks. For a
// recording that is still being written, stores only the rules of blocks that were freed since the last Forget(), so
// that memory stays bounded.
#ifndef TOOLS_ANALYZE_CATEGORIES_FREED_BLOCK_RULES_H_
#define TOOLS_ANALYZE_CATEGORIES_FREED_BLOCK_RULES_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/ordinal_table.h"
#include "tools/analyze/categories/rules.h"

namespace memoir {

inline constexpr RuleNumber kNotJudged = 0xff;
using BlockRules = OrdinalTable<RuleNumber, kNotJudged>;

class FreedBlockRules {
 public:
  // Returns the rule of a freed block. kNotJudged if the block is live or forgotten.
  RuleNumber RuleOf(std::uint64_t ordinal) const {
    if (ordinal >= first_) return rules_.At(ordinal - first_);
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
  // Forgets all blocks that were freed so far. New blocks are numbered from `next` on.
  void Forget(std::uint64_t next) {
    first_ = next;
    rules_.clear();
    old_.clear();
  }
  BlockRules Take() { return std::move(rules_); }

 private:
  std::uint64_t first_ = 0;
  BlockRules rules_;  // rules of blocks whose ordinal is at least `first_`, by ordinal minus `first_`
  // Blocks with smaller ordinals that were freed since the last Forget.
  absl::flat_hash_map<std::uint64_t, RuleNumber> old_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_FREED_BLOCK_RULES_H_
