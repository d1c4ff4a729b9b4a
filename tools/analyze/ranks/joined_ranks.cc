#include "tools/analyze/ranks/joined_ranks.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/analyze/ranks/roles/coordinates.h"

namespace memoir {
namespace {

// Returns by how many bytes the rank differs. For a growth, by how many bytes in each step.
std::uint64_t SizeOf(const OddRank& odd) {
  return odd.growth ? odd.growth->bytes() / std::max<std::uint64_t>(odd.growth->steps(), 1) : odd.difference();
}

// Joins two findings into `whole`, with the rows of the rank that differs more.
void Join(OddRank odd, OddRank& whole) {
  std::vector<std::size_t> ranks = std::move(whole.ranks);
  ranks.insert(ranks.end(), odd.ranks.begin(), odd.ranks.end());
  std::ranges::sort(ranks);
  const std::optional<std::uint64_t> since = std::min(whole.since_step, odd.since_step);  // nullopt comes first
  std::string place = whole.place;
  if (SizeOf(odd) > SizeOf(whole)) whole = std::move(odd);
  whole.ranks = std::move(ranks);
  whole.since_step = since;
  whole.place = std::move(place);
}

// If all ranks of a host have more non-PyTorch memory, joins their findings into one finding about the host.
void JoinHosts(OddRanks& found) {
  std::map<std::string, std::size_t> of_host, odd_of_host;
  for (const Role& role : found.roles) {
    for (const std::size_t i : role.members) of_host[found.ranks[i].host] += role.is_judged();
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

// Findings with equal keys may have one cause.
using Alike = std::tuple<std::size_t, OddFigure, bool, std::string>;
Alike AlikeOf(const OddRank& odd) {
  return {odd.role, odd.figure, odd.value > odd.usual, odd.growth ? odd.growth->place() : ""};
}

// Some members of a role, and their common coordinates: "dp 2".
struct Group {
  std::vector<std::size_t> members;
  std::string place;
};

// Divides the members of `of` by their index in `dimension`.
std::vector<Group> GroupsBy(const std::vector<RankFacts>& ranks, const Group& of, const std::string& dimension) {
  std::vector<Group> groups;
  for (const auto& [index, at] : ByIndex(ranks, of.members, dimension))
    groups.push_back({at, of.place + (of.place.empty() ? "" : ", ") + dimension + " " + std::to_string(index)});
  return groups;
}

// Returns groups of a role's members, largest first. The members at one index of a dimension are a group. A role can
// contain several stages of a pipeline, or several experts. So the members of such a group at one stage or expert are
// also a group.
std::vector<Group> GroupsOf(const OddRanks& found, std::size_t role) {
  std::vector<Group> groups;
  const std::vector<std::size_t>& members = found.roles[role].members;
  const std::vector<RankCoordinate>& dimensions = found.ranks[members.front()].coordinates;
  for (const RankCoordinate& of : dimensions) {
    const std::vector<Group> at = GroupsBy(found.ranks, {members, ""}, of.dimension);
    if (at.size() < 2) continue;
    groups.insert(groups.end(), at.begin(), at.end());
    for (const RankCoordinate& work : dimensions) {
      if (work.dimension == of.dimension || !IsOfUnlikeWork(work.dimension)) continue;
      for (const Group& group : at)
        std::ranges::move(GroupsBy(found.ranks, group, work.dimension), std::back_inserter(groups));
    }
  }
  std::erase_if(groups, [](const Group& group) { return group.members.size() < 2; });
  std::ranges::stable_sort(groups, std::greater(), [](const Group& group) { return group.members.size(); });
  return groups;
}

// If all members of a group are odd in the same way, joins their findings, because the members process the same data or
// have the same fault.
void JoinGroups(OddRanks& found) {
  std::map<Alike, std::map<std::size_t, std::size_t>> alike;  // index of the finding in found.odd, by rank
  for (std::size_t i = 0; i < found.odd.size(); ++i) {
    if (found.odd[i].ranks.size() == 1) alike[AlikeOf(found.odd[i])][found.odd[i].ranks[0]] = i;
  }
  std::vector<bool> joined(found.odd.size());
  for (auto& [key, findings] : alike) {
    if (findings.size() < 2) continue;
    for (const Group& group : GroupsOf(found, std::get<std::size_t>(key))) {
      if (!std::ranges::all_of(group.members, [&](std::size_t i) { return findings.contains(i); })) continue;
      OddRank& whole = found.odd[findings.at(group.members.front())];
      whole.place = group.place;
      for (const std::size_t i : group.members) {
        if (i != group.members.front()) {
          joined[findings.at(i)] = true;
          Join(std::move(found.odd[findings.at(i)]), whole);
        }
        findings.erase(i);
      }
    }
  }
  std::vector<OddRank> left;
  for (std::size_t i = 0; i < found.odd.size(); ++i) {
    if (!joined[i]) left.push_back(std::move(found.odd[i]));
  }
  found.odd = std::move(left);
}

}  // namespace

void JoinOddRanks(OddRanks& found) {
  JoinHosts(found);
  JoinGroups(found);
}

}  // namespace memoir
