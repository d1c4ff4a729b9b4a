// The category of every block of a capture by Memoir's rules, and the parameter that it belongs to.
#ifndef TOOLS_ANALYZE_CATEGORIES_BLOCK_CATEGORIES_H_
#define TOOLS_ANALYZE_CATEGORIES_BLOCK_CATEGORIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/by_ordinal.h"
#include "tools/analyze/categories/judged_blocks.h"
#include "tools/analyze/categories/parameter_book.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/capture.h"

namespace memoir {

// Categories as rows show them: rules that say the same have one number. "activation", "activation (recomputed)".
using CategoryNumber = std::uint8_t;
CategoryNumber CategoryOf(RuleNumber rule);  // the first rule that says so
std::string LabelOfCategory(CategoryNumber category);

using OwnersOfBlocks = ByOrdinal<ParameterNumber, kNoParameter>;

// By ordinal; a block that is inferred is what its counterpart is.
struct BlockCategories {
  RulesOfBlocks rules;
  ByOrdinal<bool, false> expected;  // see IsExpected
  OwnersOfBlocks owners;
  std::vector<Parameter> parameters;  // by ParameterNumber; buffers are among them
  std::string missing;                // what the capture lacks to tell categories, in one line; "": nothing

  static std::uint64_t OrdinalFor(const Block& block) { return block.inferred() ? block.counterpart : block.ordinal; }
  RuleNumber RuleOf(const Block& block) const {
    const RuleNumber rule = rules.Of(OrdinalFor(block));
    return rule == kNotJudged ? static_cast<RuleNumber>(Rules().size() - 1) : rule;
  }
  CategoryNumber CategoryOf(const Block& block) const;
  // Whether the recording ended before what the rule says had shown: blocks of the same place became that before.
  bool IsExpected(const Block& block) const { return expected.Of(OrdinalFor(block)); }
  ParameterNumber OwnerOf(const Block& block) const { return owners.Of(OrdinalFor(block)); }
};

// Of the whole recording, whatever the window: what a block is shows long before and after. Ordinals are those of a
// replay with the same rank.
absl::StatusOr<BlockCategories> CategorizeBlocks(const Capture& capture, ReplayOptions options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_BLOCK_CATEGORIES_H_
