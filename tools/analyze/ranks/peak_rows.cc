#include "tools/analyze/ranks/peak_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tools/analyze/ranks/role_figures.h"

namespace memoir {
namespace {

constexpr std::uint64_t kLeastOfNamed = 4;     // a named row has at least this part of the largest difference
constexpr std::uint64_t kShareOfRounding = 4;  // segments and temporary copies of shards: up to a fourth of the shards
constexpr std::uint64_t kStateAndTemporaries = 2;  // a step's temporaries are at most as large as the optimizer state
constexpr std::size_t kByCategory = kHeldBy.size() - 1;

// The numbers of names depend on the order in which summaries were read, so the order of equal rows is that of names.
bool IsBefore(const OddRow& a, const OddRow& b) {
  return a.difference() != b.difference() ? a.difference() > b.difference() : a.name < b.name;
}

}  // namespace

PeakRows::PeakRows(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members, const RankBook& book)
    : book_(book) {
  for (std::size_t by = 0; by < kHeldBy.size(); ++by) usual_[by] = UsualRowsOf(ranks, members, by);
}

std::vector<OddRow> PeakRows::LargestDifferences(const RankFacts& member, bool more) const {
  std::vector<OddRow> rows;
  for (std::size_t by = 0; by < kHeldBy.size(); ++by) {
    std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> both;  // bytes and usual bytes, by name
    for (const auto& [name, usual] : usual_[by]) both[name].second = usual;
    for (const RankRow& row : member.rows[by]) both[row.name].first += row.bytes;
    std::optional<OddRow> largest, named;
    for (const auto& [number, of] : both) {
      if ((of.first > of.second) != more) continue;
      const OddRow row{kHeldBy[by], book_.NameOf(number), of.first, of.second};
      if (!largest || IsBefore(row, *largest)) largest = row;
      if (!row.name.starts_with('(') && (!named || IsBefore(row, *named))) named = row;
    }
    const bool names_it = named && named->difference() >= largest->difference() / kLeastOfNamed;
    if (largest) rows.push_back(names_it ? *std::move(named) : *std::move(largest));
  }
  return rows;
}

bool PeakRows::HasOtherShards(const RankFacts& member, std::uint64_t value, std::uint64_t usual) const {
  if (value > usual && !member.shards_optimizer) return false;
  std::map<std::uint32_t, std::uint64_t> here;
  for (const RankRow& row : member.rows[kByCategory]) here[row.name] += row.bytes;
  std::uint64_t lacking = 0, more_state = 0;
  for (const auto& [name, bytes] : usual_[kByCategory]) {
    const std::string& category = book_.NameOf(name);
    const bool is_state = category == "optimizer state";
    if (is_state) more_state += here[name] - std::min(here[name], bytes);
    if (is_state || category == "parameter" || category == "gradient") lacking += bytes - std::min(bytes, here[name]);
  }
  if (value > usual) return value - usual <= kStateAndTemporaries * more_state;
  return usual - value <= lacking + lacking / kShareOfRounding;
}

}  // namespace memoir
