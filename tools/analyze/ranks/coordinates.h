// Where ranks stand among the job's: an index in each dimension in which it is parallel ("pp", "tp"), as its programs
// said. What the members of a role have in common, and others have not, is its name.
#ifndef TOOLS_ANALYZE_RANKS_COORDINATES_H_
#define TOOLS_ANALYZE_RANKS_COORDINATES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/ranks/rank_book.h"

namespace memoir {

// "pp 1", "pp 1-2, ep 0": of each dimension in which these are not at every index that the job has. "" where there is
// none, or one of them has no coordinates.
std::string CommonPlaceOf(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members);

// The members at each index of a dimension; empty where one of them has no index in it.
std::map<std::uint32_t, std::vector<std::size_t>> ByIndex(const std::vector<RankFacts>& ranks,
                                                          const std::vector<std::size_t>& members,
                                                          std::string_view dimension);

// Whether ranks along it do unlike work by design: stages of a pipeline, experts.
bool IsOfUnlikeWork(std::string_view dimension);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_COORDINATES_H_
