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

// A rank that fails as a consequence often ends less than this time after the first rank. So a smaller difference does
// not show which rank failed first.
constexpr std::uint64_t kClearlyFirstNs = 100'000'000;

std::optional<FirstEnd> FirstEndOf(const OddRanks& found, const std::vector<std::size_t>& ranks) {
  if (ranks.size() < 2) return std::nullopt;
  std::vector<std::size_t> by_time = ranks;
  std::ranges::stable_sort(by_time, {}, [&](std::size_t i) { return found.ranks[i].last_ns; });
  const std::uint64_t before = found.ranks[by_time[1]].last_ns - found.ranks[by_time[0]].last_ns;
  return before < kClearlyFirstNs ? std::nullopt : std::optional<FirstEnd>({by_time[0], before});
}

}  // namespace

void AddFailedRanks(OddRanks& found) {
  std::set<std::size_t> known;
  for (const OddRank& odd : found.odd) {
    if (odd.is_about_the_end()) known.insert(odd.ranks.begin(), odd.ranks.end());
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
    odd.first = FirstEndOf(found, ranks);
    odd.role = roles[ranks.front()];
    odd.value = odd.usual = found.ranks[odd.first ? odd.first->rank : ranks.front()].steps;
    odd.ranks = std::move(ranks);
    added.push_back(std::move(odd));
  }
  // An exception that only one rank raised is probably the cause of the other failures.
  std::ranges::stable_sort(added, {}, [](const OddRank& odd) { return odd.ranks.size(); });
  found.odd.insert(found.odd.begin(), added.begin(), added.end());
}

}  // namespace memoir
