// Names in a sentence: "layers.*.weight, layers.*.bias and 3 more".
#ifndef TOOLS_ANALYZE_COMPARE_SHORT_LIST_H_
#define TOOLS_ANALYZE_COMPARE_SHORT_LIST_H_

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memoir {

// Returns the first `most` names in full, and the number of the others.
inline std::string ShortList(std::vector<std::string> names, std::size_t most) {
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  return absl::StrCat(absl::StrJoin(names, ", "), more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

// Returns the first two names in full, and the number of the others.
inline std::string ShortList(const std::set<std::string>& names) {
  return ShortList(std::vector<std::string>(names.begin(), names.end()), 2);
}

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_SHORT_LIST_H_
