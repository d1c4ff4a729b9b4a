#include "tools/analyze/ranks/role_figures.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/analyze/ranks/roles/usual_value.h"

namespace memoir {
namespace {

constexpr std::uint64_t kLeastOfSpecial = 1u << 18;
constexpr std::uint64_t kPercentOfSpecial = 3;

}  // namespace

std::map<std::uint32_t, std::uint64_t> UsualRowsOf(const std::vector<RankFacts>& ranks,
                                                   const std::vector<std::size_t>& members, std::size_t by) {
  std::map<std::uint32_t, std::vector<std::uint64_t>> values;
  for (const std::size_t i : members) {
    for (const RankRow& row : ranks[i].rows[by]) values[row.name].push_back(row.bytes);
  }
  std::map<std::uint32_t, std::uint64_t> usual;
  for (auto& [name, of] : values) {
    of.resize(members.size());
    if (const std::uint64_t median = MedianOf(std::move(of)); median > 0) usual[name] = median;
  }
  return usual;
}

void AddFigures(OddRanks& found, const RankBook& book) {
  constexpr std::size_t kModules = 0;
  std::vector<std::map<std::uint32_t, std::uint64_t>> usual(found.roles.size());
  std::map<std::uint32_t, std::vector<std::uint64_t>> over_roles;
  for (std::size_t role = 0; role < found.roles.size(); ++role) {
    const std::vector<std::size_t>& members = found.roles[role].members;
    std::vector<std::uint64_t> peaks;
    for (const std::size_t i : members) peaks.push_back(found.ranks[i].allocated);
    const auto [least, most] = std::ranges::minmax(peaks);
    found.figures.push_back({least, MedianOf(peaks), most, {}});
    usual[role] = UsualRowsOf(found.ranks, members, kModules);
    for (const auto& [name, bytes] : usual[role]) over_roles[name].push_back(bytes);
  }
  for (auto& [name, of] : over_roles) of.resize(found.roles.size());
  if (found.roles.size() < 2) return;
  for (std::size_t role = 0; role < found.roles.size(); ++role) {
    std::optional<OddRow>& special = found.figures[role].special;
    const std::uint64_t least = std::max(kLeastOfSpecial, found.figures[role].median / 100 * kPercentOfSpecial);
    for (const auto& [name, bytes] : usual[role]) {
      const std::uint64_t elsewhere = MedianOf(over_roles[name]);
      if (book.NameOf(name).starts_with('(') || bytes <= elsewhere + least) continue;  // leaves out "(no module)"
      const OddRow row{kHeldBy[kModules], book.NameOf(name), bytes, elsewhere};
      const auto order = [](const OddRow& of) { return std::pair(~of.difference(), of.name); };
      if (!special || order(row) < order(*special)) special = row;
    }
  }
}

}  // namespace memoir
