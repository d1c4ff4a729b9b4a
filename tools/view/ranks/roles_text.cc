#include "tools/view/ranks/roles_text.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "tools/analyze/ranks/roles/coordinates.h"
#include "tools/model/job.h"
#include "tools/view/ranks/job_lines.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Returns "loss 78.0 MiB".
std::string SpecialText(const OddRow& row, std::size_t columns) {
  const std::string bytes = " " + FormatBytes(row.bytes - row.usual);
  return Shortened(ShortName(row), columns - bytes.size()) + bytes;
}

// Cuts the text between numbers: "ranks 0, 4, …, 60".
std::string ShortRanks(const std::string& text, std::size_t columns) {
  if (text.size() <= columns) return text;
  constexpr std::string_view kBetween = ", …, ";
  constexpr std::size_t kColumnsBetween = 5;
  const std::string end = text.substr(text.rfind(", ") == std::string::npos ? 0 : text.rfind(", ") + 2);
  std::size_t kept = 0;
  for (std::size_t at = text.find(", "); at != std::string::npos; at = text.find(", ", at + 1)) {
    if (at + kColumnsBetween + end.size() > columns) break;
    kept = at;
  }
  return kept == 0 ? Shortened(text, columns) : text.substr(0, kept).append(kBetween).append(end);
}

}  // namespace

std::string RanksText(const OddRanks& found, const std::vector<std::size_t>& members) {
  std::set<std::uint32_t> ranks;
  for (const std::size_t i : members) ranks.insert(found.ranks[i].rank);
  return (ranks.size() == 1 ? "rank " : "ranks ") + FormatRankList(ranks);
}

std::string ShortPlace(const std::string& name) {
  const std::size_t slash = name.rfind('/', name.find(".py:"));
  return ShownName(slash == std::string::npos ? name : name.substr(slash + 1));
}
std::string ShortName(const OddRow& row) { return row.by == "line" ? ShortPlace(row.name) : ShownName(row.name); }

std::string RolesTable(const OddRanks& found, std::size_t top, const Terminal& terminal) {
  const bool differ = std::ranges::any_of(found.figures, [](const RoleFigures& of) { return of.special.has_value(); });
  std::vector<std::string> places;
  for (const Role& role : found.roles) places.push_back(CommonPlaceOf(found.ranks, role.members));
  const bool placed = std::ranges::any_of(places, [](const std::string& place) { return !place.empty(); });
  std::vector<std::string> titles = {"role", "ranks", "median", "apart"};
  if (placed) titles.insert(titles.begin(), "place");
  if (differ) titles.emplace_back("holds besides");
  TextTable table(std::move(titles));
  table.CutNamesAtEnd();
  const std::size_t shown = top == 0 || found.roles.size() <= top + 1 ? found.roles.size() : top;
  constexpr std::size_t kMostColumns = 26;
  const std::size_t columns = placed ? 18 : kMostColumns;
  for (std::size_t i = 0; i < shown; ++i) {
    const RoleFigures& of = found.figures[i];
    std::vector<std::string> cells = {ShortRanks(RanksText(found, found.roles[i].members), columns + 2),
                                      FormatCount(found.roles[i].members.size()), FormatBytes(of.median),
                                      FormatBytes(of.most - of.least)};
    if (placed) cells.insert(cells.begin(), places[i].empty() ? "" : Shortened(ShownName(places[i]), columns));
    if (differ) cells.push_back(of.special ? SpecialText(*of.special, columns) : "");
    table.AddRow(std::move(cells));
  }
  std::string text = table.Render(terminal, 2);
  if (shown < found.roles.size())
    text += Line(terminal, "  and " + FormatCounted(found.roles.size() - shown, "more role", "more roles"));
  return text;
}

Json RowJson(const OddRow& row) {
  return {{"by", row.by}, {"name", row.name}, {"bytes", row.bytes}, {"usual_bytes", row.usual}};
}

Json RolesJson(const OddRanks& found) {
  Json roles = Json::array();
  for (std::size_t i = 0; i < found.roles.size(); ++i) {
    const Role& role = found.roles[i];
    Json ranks = Json::array();
    for (const std::size_t member : role.members) ranks.push_back(found.ranks[member].rank);
    roles.push_back({{"ranks", std::move(ranks)},
                     {"place", CommonPlaceOf(found.ranks, role.members)},
                     {"split_by", role.split_by.empty() ? Json(nullptr) : Json(role.split_by)},
                     {"compared", role.is_judged()},
                     {"least_peak_bytes", found.figures[i].least},
                     {"median_peak_bytes", found.figures[i].median},
                     {"most_peak_bytes", found.figures[i].most},
                     {"holds_besides", found.figures[i].special ? RowJson(*found.figures[i].special) : Json(nullptr)}});
  }
  return roles;
}

}  // namespace memoir
