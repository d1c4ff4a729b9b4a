// Groups the ranks of a job into roles: ranks that called the same modules and should be equal. Examples are a stage of
// a pipeline and the place of an expert. A rank that trains and ranks that only run a model, such as a learner and its
// actors, have different roles. The members of a role are data-parallel or tensor-parallel to each other.
//
// If the program reported coordinates, and the peaks of ranks with the same modules depend on the index along a
// pipeline or along experts, each index is a separate role.
#ifndef TOOLS_ANALYZE_RANKS_ROLES_ROLES_H_
#define TOOLS_ANALYZE_RANKS_ROLES_ROLES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analyze/ranks/roles/rank_book.h"
#include "tools/analyze/ranks/roles/usual_value.h"

namespace memoir {

struct Role {
  std::vector<std::size_t> members;  // indices of the ranks, ordered by rank
  // True if the members' modules are equal only without their numbers ("layers.3" and "layers.4"). Such members share a
  // role if fewer than kFewestOfRole ranks have exactly the same modules. False if most members have exactly the same
  // modules, and a role of another stage has as many members, because in this case they are replicas of one stage.
  bool by_kinds = false;
  // True for a pair of replicas if all roles are pairs, and only this pair differs: in the numbers in its module names,
  // or in memory in every step. The rank with more memory is the odd one.
  bool is_unlike_pair = false;
  std::string split_by;  // dimension by which a larger role was split into this role and others; empty: no split
  bool is_judged() const { return members.size() >= kFewestOfRole || is_unlike_pair; }
};

// Returns the roles, ordered by their first member.
std::vector<Role> RolesOf(const std::vector<RankFacts>& ranks);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ROLES_ROLES_H_
