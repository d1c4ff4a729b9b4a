#include "tools/analyze/ranks/roles.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tools/analyze/ranks/job_book.h"

namespace memoir {
namespace {

using Sketch = std::pair<std::string, std::vector<std::uint64_t>>;  // kind of device, hashes

}  // namespace

std::vector<Role> RolesOf(const std::vector<RankFacts>& ranks) {
  std::map<Sketch, std::vector<std::size_t>> by_modules, by_kinds;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    by_modules[{KindOfDevice(ranks[i].device), ranks[i].modules}].push_back(i);
  std::vector<Role> roles;
  for (auto& [sketch, members] : by_modules) {
    if (members.size() >= kFewestOfRole) {
      roles.push_back({std::move(members), false});
      continue;
    }
    std::vector<std::size_t>& alike = by_kinds[{sketch.first, ranks[members.front()].kinds_of_modules}];
    alike.insert(alike.end(), members.begin(), members.end());
  }
  for (auto& [sketch, members] : by_kinds) {
    std::ranges::sort(members);
    const bool differ =
        std::ranges::any_of(members, [&](std::size_t i) { return ranks[i].modules != ranks[members.front()].modules; });
    roles.push_back({std::move(members), differ});
  }
  std::ranges::sort(roles, {}, [](const Role& role) { return role.members.front(); });
  return roles;
}

}  // namespace memoir
