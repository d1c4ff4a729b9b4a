#include "tools/analyze/ranks/joined_ranks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/analyze/ranks/coordinates.h"

namespace memoir {
namespace {

// `whole` as the finding of both: the rows are those of the rank that is further out.
void Join(OddRank odd, OddRank& whole) {
  std::vector<std::size_t> ranks = std::move(whole.ranks);
  ranks.insert(ranks.end(), odd.ranks.begin(), odd.ranks.end());
  std::ranges::sort(ranks);
  const std::optional<std::uint64_t> since = std::min(whole.since_step, odd.since_step);  // none comes first
  std::string place = whole.place;
  if (odd.difference() > whole.difference()) whole = std::move(odd);
  whole.ranks = std::move(ranks);
  whole.since_step = since;
  whole.place = std::move(place);
}

// Where all of a host's ranks have more outside of torch, it is the host that is odd.
void JoinHosts(OddRanks& found) {
  std::map<std::string, std::size_t> of_host, odd_of_host;
  for (const Role& role : found.roles) {
    for (const std::size_t i : role.members) of_host[found.ranks[i].host] += role.judged();
  }
  const auto has_more = [](const OddRank& odd) { return odd.figure == OddFigure::kOutside && odd.value > odd.usual; };
  for (const OddRank& odd : found.odd) odd_of_host[found.ranks[odd.ranks[0]].host] += has_more(odd);
  std::map<std::string, std::size_t> first;
  std::vector<OddRank> joined;
  for (OddRank& odd : found.odd) {
    const std::string host = found.ranks[odd.ranks[0]].host;
    const bool all = has_more(odd) && of_host[host] >= 2 && odd_of_host[host] == of_host[host];
    const auto known = first.find(host);
    if (all && known != first.end()) {
      Join(std::move(odd), joined[known->second]);
      continue;
    }
    if (all) first[host] = joined.size();
    joined.push_back(std::move(odd));
  }
  found.odd = std::move(joined);
}

// Findings that may have one reason.
using Alike = std::tuple<std::size_t, OddFigure, bool, std::string>;
Alike AlikeOf(const OddRank& odd) {
  return {odd.role, odd.figure, odd.value > odd.usual, odd.growth ? odd.growth->place() : ""};
}

// Members, and "dp 2".
struct Group {
  std::vector<std::size_t> members;
  std::string place;
};

// Those of `members` at each index of a dimension.
std::vector<Group> GroupsBy(const std::vector<RankFacts>& ranks, const Group& of, const std::string& dimension) {
  std::vector<Group> groups;
  for (const auto& [index, at] : ByIndex(ranks, of.members, dimension))
    groups.push_back({at, of.place + (of.place.empty() ? "" : ", ") + dimension + " " + std::to_string(index)});
  return groups;
}

// The largest group of `ranks` that is all of a role at one index of a dimension, or all of them that do the same work:
// a role can have several stages.
Group WholeIndexOf(const OddRanks& found, std::size_t role, const std::set<std::size_t>& ranks) {
  Group largest;
  const auto take = [&](const Group& group) {
    const bool all = std::ranges::all_of(group.members, [&](std::size_t i) { return ranks.contains(i); });
    if (all && group.members.size() >= 2 && group.members.size() > largest.members.size()) largest = group;
  };
  const std::vector<std::size_t>& members = found.roles[role].members;
  const std::vector<RankCoordinate>& dimensions = found.ranks[members.front()].coordinates;
  for (const RankCoordinate& of : dimensions) {
    const std::vector<Group> groups = GroupsBy(found.ranks, {members, ""}, of.dimension);
    if (groups.size() < 2) continue;
    for (const Group& group : groups) {
      take(group);
      for (const RankCoordinate& work : dimensions) {
        if (work.dimension == of.dimension || !IsOfUnlikeWork(work.dimension)) continue;
        for (const Group& part : GroupsBy(found.ranks, group, work.dimension)) take(part);
      }
    }
  }
  return largest;
}

// Where all of them are out of line alike, that is one finding: they share their data, or what goes wrong with them.
void JoinIndices(OddRanks& found) {
  std::map<Alike, std::set<std::size_t>> alike;
  for (const OddRank& odd : found.odd) {
    if (odd.ranks.size() == 1) alike[AlikeOf(odd)].insert(odd.ranks[0]);
  }
  for (auto& [key, ranks] : alike) {
    while (ranks.size() >= 2) {
      const auto [members, place] = WholeIndexOf(found, std::get<std::size_t>(key), ranks);
      if (members.empty()) break;
      std::optional<OddRank> whole;
      std::vector<OddRank> others;
      for (OddRank& odd : found.odd) {
        const bool joins =
            odd.ranks.size() == 1 && AlikeOf(odd) == key && std::ranges::find(members, odd.ranks[0]) != members.end();
        if (!joins) {
          others.push_back(std::move(odd));
        } else if (whole) {
          Join(std::move(odd), *whole);
        } else {
          whole = std::move(odd);
          whole->place = place;
        }
      }
      others.push_back(*std::move(whole));
      found.odd = std::move(others);
      for (const std::size_t i : members) ranks.erase(i);
    }
  }
}

}  // namespace

void JoinOddRanks(OddRanks& found) {
  JoinHosts(found);
  JoinIndices(found);
}

}  // namespace memoir
