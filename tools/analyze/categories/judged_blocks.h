// What the blocks that ended were, by the order of their allocation: of a whole recording, or of the newest part of one
// that is still being written, so that memory does not grow with it.
#ifndef TOOLS_ANALYZE_CATEGORIES_JUDGED_BLOCKS_H_
#define TOOLS_ANALYZE_CATEGORIES_JUDGED_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/watched_block.h"

namespace memoir {

class JudgedBlocks {
 public:
  // By Block::ordinal; kNotJudged: it lives, or it is forgotten.
  RuleNumber Of(std::uint64_t ordinal) const {
    if (ordinal >= first_) return ordinal - first_ < rules_.size() ? rules_[ordinal - first_] : kNotJudged;
    const auto old = old_.find(ordinal);
    return old == old_.end() ? kNotJudged : old->second;
  }
  void Set(std::uint64_t ordinal, RuleNumber rule) {
    if (ordinal < first_) {
      old_[ordinal] = rule;
      return;
    }
    const auto at = static_cast<std::size_t>(ordinal - first_);
    if (at >= rules_.size()) rules_.resize(at + 1, kNotJudged);
    rules_[at] = rule;
  }
  // All that ended by now; blocks are numbered from `next` on.
  void Forget(std::uint64_t next) {
    first_ = next;
    rules_.clear();
    old_.clear();
  }
  std::vector<RuleNumber> Take() { return std::move(rules_); }

 private:
  std::uint64_t first_ = 0;
  std::vector<RuleNumber> rules_;                       // from `first_` on
  absl::flat_hash_map<std::uint64_t, RuleNumber> old_;  // older blocks, which ended since
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_JUDGED_BLOCKS_H_
