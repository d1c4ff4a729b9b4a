// Which ranks of a job should be alike: those that called the same modules. A stage of a pipeline is a role, an
// expert's place is one, and the ranks that are parallel in data or tensors within it are its members.
//
// Where the program has said where each rank stands, ranks with the same modules whose peaks follow the index along a
// pipeline or along experts are of a role for each index.
#ifndef TOOLS_ANALYZE_RANKS_ROLES_H_
#define TOOLS_ANALYZE_RANKS_ROLES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analyze/ranks/rank_book.h"

namespace memoir {

// Fewer cannot be judged: of two that differ either may be the odd one.
inline constexpr std::size_t kFewestOfRole = 3;

struct Role {
  std::vector<std::size_t> members;  // of the ranks, by rank
  // Not of the very same modules, but of those that differ in numbers alone ("layers.3" and "layers.4"), because fewer
  // than kFewestOfRole ranks have the same.
  bool by_kinds = false;
  std::string split_by;  // the dimension of whose indices this is one; "": of none
  bool judged() const { return members.size() >= kFewestOfRole; }
};

// By the first member.
std::vector<Role> RolesOf(const std::vector<RankFacts>& ranks);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ROLES_H_
