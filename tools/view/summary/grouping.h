// What a grouping is called in text and in JSON.
#ifndef TOOLS_VIEW_SUMMARY_GROUPING_H_
#define TOOLS_VIEW_SUMMARY_GROUPING_H_

#include <string_view>

#include "tools/analyze/pass/options.h"

namespace memoir {

struct GroupingNames {
  std::string_view one;       // "operator"
  std::string_view many;      // "operators"
  std::string_view json_key;  // "operators"
  bool has_calls;             // rows are calls of something, so that counting them makes sense
};

constexpr GroupingNames NamesOf(GroupBy by) {
  switch (by) {
    case GroupBy::kOperator:
      return {"operator", "operators", "operators", true};
    case GroupBy::kLeaf:
      return {"innermost range", "innermost ranges", "leaves", true};
    case GroupBy::kRange:
      return {"user range", "user ranges", "ranges", true};
    case GroupBy::kThread:
      return {"thread", "threads", "threads", false};
    case GroupBy::kModule:
      return {"module", "modules", "modules", true};
    case GroupBy::kShape:
      return {"shape", "shapes", "shapes", false};
    case GroupBy::kRank:
      return {"rank", "ranks", "ranks", false};
    case GroupBy::kCategory:
      return {"category", "categories", "categories", false};
    case GroupBy::kCategoryModule:
      return {"module and category", "modules and categories", "module_categories", false};
    case GroupBy::kParameter:
      return {"parameter", "parameters", "parameters", false};
  }
  return {"group", "groups", "groups", false};
}

}  // namespace memoir

#endif  // TOOLS_VIEW_SUMMARY_GROUPING_H_
