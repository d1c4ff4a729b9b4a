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

constexpr std::uint64_t kClocksApartNs = 500'000'000;  // the clocks of two hosts may differ by this

// Returns the failed rank whose end is clearly before the last sign of life of each other failed rank. Empty if no
// rank ended so clearly first.
std::optional<FirstEnd> FirstEndOf(const OddRanks& found) {
  std::vector<std::size_t> failed;
  for (std::size_t i = 0; i < found.ranks.size(); ++i) {
    if (found.ranks[i].was_killed() || found.ranks[i].has_raised()) failed.push_back(i);
  }
  if (failed.size() < 2) return std::nullopt;
  std::ranges::stable_sort(failed, {}, [&](std::size_t i) { return found.ranks[i].alive_until_ns; });
  const RankFacts &first = found.ranks[failed[0]], &next = found.ranks[failed[1]];
  const bool is_clear = std::ranges::all_of(failed.begin() + 1, failed.end(), [&](std::size_t i) {
    const RankFacts& other = found.ranks[i];
    return first.ended_by_ns + (other.host == first.host ? 0 : kClocksApartNs) < other.alive_until_ns;
  });
  return is_clear ? std::optional(FirstEnd{failed[0], next.alive_until_ns - first.alive_until_ns}) : std::nullopt;
}

// If `first` is among `ranks`, moves it to the front of `ranks` and returns it. Otherwise returns nullopt.
std::optional<FirstEnd> TakeFirst(const std::optional<FirstEnd>& first, std::vector<std::size_t>& ranks) {
  if (!first) return std::nullopt;
  const auto found = std::ranges::find(ranks, first->rank);
  if (found == ranks.end()) return std::nullopt;
  std::rotate(ranks.begin(), found, found + 1);
  return first;
}

// If most ranks of the job failed, adds the ranks that ended without an error. Such a rank may have had less training
// data: it leaves its loop early, and its peers wait for it in the next step until they lose the connection.
void AddRanksThatLeft(OddRanks& found) {
  std::vector<std::size_t> left;
  std::size_t failed = 0;
  for (std::size_t i = 0; i < found.ranks.size(); ++i) {
    failed += found.ranks[i].has_failed;
    if (found.ranks[i].ended() && !found.ranks[i].has_failed) left.push_back(i);
  }
  if (left.empty() || 2 * failed <= found.ranks.size()) return;
  OddRank odd;
  odd.figure = OddFigure::kLeft;
  odd.value = odd.usual = found.ranks[left.front()].steps;
  odd.ranks = std::move(left);
  found.odd.insert(found.odd.begin(), std::move(odd));
}

}  // namespace

void AddFailedRanks(OddRanks& found) {
  const std::optional<FirstEnd> first = FirstEndOf(found);
  std::set<std::size_t> known;
  for (OddRank& odd : found.odd) {
    if (!odd.is_about_the_end()) continue;
    known.insert(odd.ranks.begin(), odd.ranks.end());
    odd.first = TakeFirst(first, odd.ranks);
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
    odd.first = TakeFirst(first, ranks);
    odd.role = roles[ranks.front()];
    odd.value = odd.usual = found.ranks[ranks.front()].steps;
    odd.ranks = std::move(ranks);
    added.push_back(std::move(odd));
  }
  // An exception that only one rank raised is probably the cause of the other failures, so it comes first.
  std::ranges::stable_sort(added, {}, [](const OddRank& odd) { return odd.ranks.size(); });
  found.odd.insert(found.odd.begin(), added.begin(), added.end());
  AddRanksThatLeft(found);
}

bool IsFailure(const OddRanks& found, const OddRank& odd) {
  return odd.is_about_the_end() && found.ranks[odd.ranks.front()].has_failed;
}

NamedRanks NamedRanksOf(const OddRanks& found) {
  NamedRanks named;
  for (const OddRank& odd : found.odd)
    (IsFailure(found, odd) ? named.failed : named.out_of_line).insert(odd.ranks.begin(), odd.ranks.end());
  return named;
}

}  // namespace memoir
