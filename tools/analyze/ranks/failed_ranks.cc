#include "tools/analyze/ranks/failed_ranks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace memoir {
namespace {

// Returns the failed rank that certainly ended before all other failed ranks. Empty if no rank did.
std::optional<FirstEnd> FirstEndOf(const OddRanks& found) {
  std::vector<std::size_t> failed;
  for (std::size_t i = 0; i < found.ranks.size(); ++i) {
    if (found.ranks[i].was_killed() || found.ranks[i].has_raised()) failed.push_back(i);
  }
  if (failed.size() < 2) return std::nullopt;
  const auto alive_until = [&](std::size_t i) { return found.ranks[i].alive_until_ns; };
  std::ranges::partial_sort(failed, failed.begin() + 2, {}, alive_until);
  const RankFacts &first = found.ranks[failed[0]], &next = found.ranks[failed[1]];
  if (first.ended_by_ns >= next.alive_until_ns) return std::nullopt;
  return FirstEnd{failed[0], next.alive_until_ns - first.alive_until_ns};
}

std::optional<FirstEnd> FirstAmong(const std::optional<FirstEnd>& first, const std::vector<std::size_t>& ranks) {
  return first && std::ranges::find(ranks, first->rank) != ranks.end() ? first : std::nullopt;
}

}  // namespace

void AddFailedRanks(OddRanks& found) {
  const std::optional<FirstEnd> first = FirstEndOf(found);
  std::set<std::size_t> known;
  for (OddRank& odd : found.odd) {
    if (!odd.is_about_the_end()) continue;
    known.insert(odd.ranks.begin(), odd.ranks.end());
    odd.first = FirstAmong(first, odd.ranks);
  }
  std::map<std::size_t, std::size_t> roles;  // by rank
  for (std::size_t role = 0; role < found.roles.size(); ++role) {
    for (const std::size_t i : found.roles[role].members) roles[i] = role;
  }
  std::map<std::string, std::vector<std::size_t>> failed;  // by type of the exception; "": killed
  for (std::size_t i = 0; i < found.ranks.size(); ++i) {
    const RankFacts& rank = found.ranks[i];
    if (known.contains(i)) continue;
    if (rank.was_killed()) failed[""].push_back(i);
    if (rank.has_raised()) failed[rank.end_message.substr(0, rank.end_message.find(':'))].push_back(i);
  }
  std::vector<OddRank> added;
  for (auto& [type, ranks] : failed) {
    OddRank odd;
    odd.figure = type.empty() ? OddFigure::kKilled : OddFigure::kFailed;
    odd.first = FirstAmong(first, ranks);
    if (odd.first) std::ranges::rotate(ranks.begin(), std::ranges::find(ranks, odd.first->rank), ranks.end());
    odd.role = roles[ranks.front()];
    odd.value = odd.usual = found.ranks[ranks.front()].steps;
    odd.ranks = std::move(ranks);
    added.push_back(std::move(odd));
  }
  // An exception that only one rank raised is probably the cause of the other failures.
  std::ranges::stable_sort(added, {}, [](const OddRank& odd) { return odd.ranks.size(); });
  found.odd.insert(found.odd.begin(), added.begin(), added.end());
}

}  // namespace memoir
