// The coordinates of ranks in a job: an index in each dimension of parallelism ("pp", "tp"), as the program reported
// them. The coordinates that all members of a role share are the name of the role.
#ifndef TOOLS_ANALYZE_RANKS_ROLES_COORDINATES_H_
#define TOOLS_ANALYZE_RANKS_ROLES_COORDINATES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/ranks/roles/rank_book.h"

namespace memoir {

// Returns the members' indices as text: "pp 1", "pp 1-2, ep 0". Leaves out dimensions in which the members have every
// index of the job. Empty if no dimension is left, or if a member has no coordinates.
std::string CommonPlaceOf(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members);

// Returns the members at each index of `dimension`. Empty if a member has no index in this dimension.
std::map<std::uint32_t, std::vector<std::size_t>> ByIndex(const std::vector<RankFacts>& ranks,
                                                          const std::vector<std::size_t>& members,
                                                          std::string_view dimension);

// Returns true if ranks with different indices of this dimension do different work by design: pipeline stages, experts.
bool IsOfUnlikeWork(std::string_view dimension);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ROLES_COORDINATES_H_
