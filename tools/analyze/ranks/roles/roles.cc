#include "tools/analyze/ranks/roles/roles.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tools/analyze/ranks/job/job_summary_builder.h"
#include "tools/analyze/ranks/roles/coordinates.h"
#include "tools/analyze/ranks/roles/role_windows.h"
#include "tools/analyze/ranks/roles/usual_value.h"

namespace memoir {
namespace {

using Sketch = std::pair<std::string, std::vector<std::uint64_t>>;  // kind of device and of work, and hashes

// Returns true if the peaks depend on the group: the medians of the groups are further apart than the tolerance within
// each group.
bool PeaksFollow(const std::vector<RankFacts>& ranks, const std::map<std::uint32_t, std::vector<std::size_t>>& groups) {
  std::uint64_t least = UINT64_MAX, most = 0, tolerance = 0;
  for (const auto& [index, members] : groups) {
    if (members.size() < kFewestOfRole) return false;
    std::vector<std::uint64_t> peaks;
    for (const std::size_t i : members) peaks.push_back(ranks[i].own);
    const UsualValue usual = UsualValueOf(peaks, false, 1, std::uint64_t{1} << 20);
    least = std::min(least, usual.value);
    most = std::max(most, usual.value);
    tolerance = std::max(tolerance, usual.tolerance);
  }
  return groups.size() > 1 && most - least > tolerance;
}

// Splits a role by the first dimension of pipeline stages or experts on whose index the peaks depend. If there is no
// such dimension, returns the whole role.
std::vector<Role> Split(const std::vector<RankFacts>& ranks, Role role) {
  for (const RankCoordinate& of : ranks[role.members.front()].coordinates) {
    const auto groups = ByIndex(ranks, role.members, of.dimension);
    if (!IsOfUnlikeWork(of.dimension) || !PeaksFollow(ranks, groups)) continue;
    std::vector<Role> roles;
    for (const auto& [index, members] : groups)
      roles.push_back({.members = members, .by_kinds = role.by_kinds, .split_by = of.dimension});
    return roles;
  }
  return {std::move(role)};
}

// Returns true if more than half of the members have exactly the same modules.
bool HasMajority(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members) {
  std::map<std::vector<std::uint64_t>, std::size_t> counts;
  for (const std::size_t i : members) ++counts[ranks[i].modules];
  return std::ranges::any_of(counts, [&](const auto& count) { return 2 * count.second > members.size(); });
}

// Returns true if one of two ranks has more allocated bytes in every step, by more than LeastDifference(). Leaves out
// the last window, which may contain no step.
bool DifferInEveryStep(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& pair) {
  const RoleWindows windows(ranks, pair);
  const RoleWindows::Windows &first = windows.of(0), &second = windows.of(1);
  if (first.size() <= kFewestWindows) return false;
  std::size_t more = 0, less = 0;
  for (auto window = first.begin(); window != std::prev(first.end()); ++window) {
    const auto other = second.find(window->first);
    if (other == second.end()) return false;
    const std::uint64_t least = LeastDifference(std::max(window->second, other->second));
    more += window->second > other->second + least;
    less += other->second > window->second + least;
  }
  return std::max(more, less) + 1 == first.size();
}

// Sets Role::by_kinds to false for roles whose members are the replicas of one stage. Finds the pair of unlike
// replicas.
void FindReplicas(const std::vector<RankFacts>& ranks, std::vector<Role>& roles) {
  std::set<std::size_t> replicas;  // the numbers of members that roles of other stages have
  for (const Role& role : roles) {
    if (!role.by_kinds && role.is_judged()) replicas.insert(role.members.size());
  }
  for (Role& role : roles)
    role.by_kinds = role.by_kinds && !(replicas.contains(role.members.size()) && HasMajority(ranks, role.members));
  const bool are_pairs = std::ranges::all_of(roles, [](const Role& role) { return role.members.size() == 2; });
  const auto is_unlike = [&](const Role& role) { return role.by_kinds || DifferInEveryStep(ranks, role.members); };
  if (!are_pairs || roles.size() < 2 || std::ranges::count_if(roles, is_unlike) != 1) return;
  Role& unlike = *std::ranges::find_if(roles, is_unlike);
  unlike.by_kinds = false;
  unlike.is_unlike_pair = true;
}

}  // namespace

std::vector<Role> RolesOf(const std::vector<RankFacts>& ranks) {
  std::map<Sketch, std::vector<std::size_t>> by_modules, by_kinds;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    by_modules[{KindOfDevice(ranks[i].device) + (ranks[i].only_infers ? ", inference" : ""), ranks[i].modules}]
        .push_back(i);
  std::vector<Role> roles;
  for (auto& [sketch, members] : by_modules) {
    if (members.size() >= kFewestOfRole) {
      roles.push_back({.members = std::move(members), .split_by = ""});
      continue;
    }
    std::vector<std::size_t>& alike = by_kinds[{sketch.first, ranks[members.front()].kinds_of_modules}];
    alike.insert(alike.end(), members.begin(), members.end());
  }
  for (auto& [sketch, members] : by_kinds) {
    std::ranges::sort(members);
    const bool differ =
        std::ranges::any_of(members, [&](std::size_t i) { return ranks[i].modules != ranks[members.front()].modules; });
    roles.push_back({.members = std::move(members), .by_kinds = differ, .split_by = ""});
  }
  FindReplicas(ranks, roles);
  std::vector<Role> whole = std::exchange(roles, {});
  for (Role& role : whole) std::ranges::move(Split(ranks, std::move(role)), std::back_inserter(roles));
  std::ranges::sort(roles, {}, [](const Role& role) { return role.members.front(); });
  return roles;
}

}  // namespace memoir
