// The groupings of rows (`--by`). For each grouping: the value of the option, the names of its rows, and the passes and
// stacks that it needs.
#ifndef TOOLS_ANALYZE_PASS_WINDOW_GROUPINGS_H_
#define TOOLS_ANALYZE_PASS_WINDOW_GROUPINGS_H_

#include <algorithm>
#include <string_view>

#include "tools/analyze/pass/window/selection.h"

namespace memoir {

struct GroupingFacts {
  GroupBy by;
  std::string_view word;       // value of --by
  std::string_view one;        // "user range"
  std::string_view many;       // "user ranges"
  std::string_view json_key;   // "ranges"
  std::string_view none;       // name of the row for blocks without a group
  bool has_calls;              // rows have a number of calls
  bool needs_categories;       // a replay must determine the categories of blocks first
  bool needs_stacks = false;   // rows are lines, which need Python stacks
  std::string_view help = {};  // the meaning of a row, for --help; empty if the word is clear
};

// In the order in which the help lists them.
inline constexpr GroupingFacts kGroupings[] = {
    {GroupBy::kOperator, "operator", "operator", "operators", "operators", "(no operator)", true, false},
    {GroupBy::kModule, "module", "module", "modules", "modules", "(no module)", true, false},
    {GroupBy::kCategory, "category", "category", "categories", "categories", "(no category)", false, true},
    {GroupBy::kCategoryModule, "category,module", "module and category", "modules and categories", "module_categories",
     "(no category)", false, true},
    {GroupBy::kLine, "line", "line", "lines", "lines", "(no Python line)", false, false, true,
     "the innermost line of your own Python code"},
    {GroupBy::kCategoryLine, "category,line", "line and category", "lines and categories", "line_categories",
     "(no category)", false, true, true},
    {GroupBy::kParameter, "parameter", "parameter", "parameters", "parameters", "(of no parameter)", false, true},
    {GroupBy::kLeaf, "leaf", "innermost range", "innermost ranges", "leaves", "(no range)", true, false},
    {GroupBy::kRange, "range", "user range", "user ranges", "ranges", "(no range)", true, false},
    {GroupBy::kRegion, "region", "compiled region", "compiled regions", "regions", "(no compiled region)", true, false,
     false, "code that torch.compile made"},
    {GroupBy::kThread, "thread", "thread", "threads", "threads", "(no thread)", false, false},
    {GroupBy::kShape, "shape", "shape", "shapes", "shapes", "(no tensor)", false, false},
    {GroupBy::kPool, "pool", "pool", "pools", "pools", "(no caching allocator)", false, false},
    {GroupBy::kRank, "rank", "rank", "ranks", "ranks", "(no rank)", false, false},
};

constexpr const GroupingFacts& GroupingFactsOf(GroupBy by) {
  return *std::ranges::find(kGroupings, by, &GroupingFacts::by);
}

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_WINDOW_GROUPINGS_H_
