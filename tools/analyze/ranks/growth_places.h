// Counts the ranks that keep more memory in every step at the same place of the program.
#ifndef TOOLS_ANALYZE_RANKS_GROWTH_PLACES_H_
#define TOOLS_ANALYZE_RANKS_GROWTH_PLACES_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tools/analyze/ranks/roles/rank_book.h"

namespace memoir {

class GrowthPlaces {
 public:
  void Add(const RankFacts& rank) {
    std::set<Place> places;
    for (const v1::GrowthSummary& growth : rank.growth) places.insert(PlaceOf(growth));
    for (const Place& place : places) ++ranks_[place];
  }

  // Returns the number of added ranks that have a growth of this kind at this place.
  std::size_t count(const v1::GrowthSummary& growth) const {
    const auto known = ranks_.find(PlaceOf(growth));
    return known == ranks_.end() ? 0 : known->second;
  }

 private:
  using Place = std::pair<std::string, std::string>;  // kind and line
  static Place PlaceOf(const v1::GrowthSummary& growth) { return {growth.kind(), growth.place()}; }

  std::map<Place, std::size_t> ranks_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_GROWTH_PLACES_H_
