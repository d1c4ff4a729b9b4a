// The category of every block of a capture by Memoir's rules, and the parameter that the block belongs to.
#ifndef TOOLS_ANALYZE_CATEGORIES_BLOCK_CATEGORIES_H_
#define TOOLS_ANALYZE_CATEGORIES_BLOCK_CATEGORIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tools/analyze/categories/freed_block_rules.h"
#include "tools/analyze/categories/ordinal_table.h"
#include "tools/analyze/categories/parameter_book.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/event/event.h"

namespace memoir {

// A category as a row of a table: "activation", "activation (recomputed)". Rules with the same label share a number.
using CategoryNumber = std::uint8_t;
CategoryNumber CategoryOf(RuleNumber rule);  // number of the first rule with the label of `rule`
std::string LabelOfCategory(CategoryNumber category);

using BlockOwners = OrdinalTable<ParameterNumber, kNoParameter>;

// Ordinals of blocks with the rule `workspace` on devices with a caching allocator, except blocks for which
// IsExpected() is true. On other devices torch provides no workspaces for libraries.
using LibraryWorkspaces = absl::flat_hash_set<std::uint64_t>;
// Returns true if the rule is `workspace`.
inline bool IsOfLibrary(RuleNumber rule) { return Rules()[rule].holder == HolderKind::kLibrary; }

// Categories by Block::ordinal. A block with a matching block has the category of the matching block.
struct BlockCategories {
  BlockRules rules;
  OrdinalTable<bool, false> expected;  // see IsExpected()
  BlockOwners owners;
  std::vector<Parameter> parameters;  // by ParameterNumber; includes buffers
  LibraryWorkspaces workspaces;
  std::string missing;  // one line: the information that the capture lacks; empty if complete

  RuleNumber RuleOf(const Block& block) const {
    const RuleNumber rule = rules.At(block.recorded_ordinal());
    return rule == kNotJudged ? static_cast<RuleNumber>(Rules().size() - 1) : rule;
  }
  CategoryNumber CategoryOf(const Block& block) const;
  // Returns true if the recording ended before it showed the block's category, so the category is taken from an earlier
  // block of the same place in the program (allocation_places.h).
  bool IsExpected(const Block& block) const { return expected.At(block.recorded_ordinal()); }
  ParameterNumber OwnerOf(const Block& block) const { return owners.At(block.recorded_ordinal()); }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_BLOCK_CATEGORIES_H_
