#include "tools/analyze/ranks/roles/coordinates.h"

#include <algorithm>
#include <array>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tools/model/job.h"

namespace memoir {
namespace {

std::set<std::uint32_t> IndicesIn(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members,
                                  std::string_view dimension) {
  std::set<std::uint32_t> indices;
  for (const auto& [index, at] : ByIndex(ranks, members, dimension)) indices.insert(index);
  return indices;
}

std::optional<std::uint32_t> IndexIn(const RankFacts& rank, std::string_view dimension) {
  const auto found = std::ranges::find(rank.coordinates, dimension, &RankCoordinate::dimension);
  return found == rank.coordinates.end() ? std::nullopt : std::optional(found->index);
}

}  // namespace

std::string CommonPlaceOf(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members) {
  if (members.empty()) return "";
  std::string text;
  for (const RankCoordinate& of : ranks[members.front()].coordinates) {
    const std::set<std::uint32_t> theirs = IndicesIn(ranks, members, of.dimension);
    if (theirs.empty()) return "";
    const bool others = std::ranges::any_of(ranks, [&](const RankFacts& rank) {
      const std::optional<std::uint32_t> index = IndexIn(rank, of.dimension);
      return index && !theirs.contains(*index);
    });
    if (others) absl::StrAppend(&text, text.empty() ? "" : ", ", of.dimension, " ", FormatRankList(theirs));
  }
  return text;
}

std::map<std::uint32_t, std::vector<std::size_t>> ByIndex(const std::vector<RankFacts>& ranks,
                                                          const std::vector<std::size_t>& members,
                                                          std::string_view dimension) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_index;
  for (const std::size_t i : members) {
    const std::optional<std::uint32_t> index = IndexIn(ranks[i], dimension);
    if (!index) return {};
    by_index[*index].push_back(i);
  }
  return by_index;
}

bool IsOfUnlikeWork(std::string_view dimension) {
  constexpr std::array<std::string_view, 6> kNames = {"pp", "pipe", "pipeline", "stage", "ep", "expert"};
  std::string name(dimension);
  absl::AsciiStrToLower(&name);
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace memoir
