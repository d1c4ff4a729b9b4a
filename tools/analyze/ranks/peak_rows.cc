#include "tools/analyze/ranks/peak_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tools/analyze/ranks/role_figures.h"
#include "tools/analyze/ranks/roles/usual_value.h"

namespace memoir {
namespace {

constexpr std::uint64_t kLeastOfNamed = 4;  // a row with a name needs at least a fourth of the largest difference
// Temporary copies of shards are up to a fourth of the shards. With a sharded optimizer, the temporaries of its step
// are up to as large as the state.
constexpr std::uint64_t kShareOfRounding = 4;
constexpr std::size_t kByModule = 0;  // in kHeldBy
constexpr std::size_t kByCategory = kHeldBy.size() - 1;

// The numbers of names depend on the order in which summaries were read, so equal rows are ordered by name.
bool IsBefore(const OddRow& a, const OddRow& b) {
  return a.difference() != b.difference() ? a.difference() > b.difference() : a.name < b.name;
}

// Returns true if `rank` has more bytes than `other` in at least two rows with a module's name. DDP's replicas have
// equal parameters, so false if one of them has buckets.
bool HasMoreInSeveralModules(const RankFacts& rank, const RankFacts& other) {
  if (rank.most_buckets > 0 || other.most_buckets > 0) return false;
  std::map<std::uint32_t, std::uint64_t> of_other;
  for (const RankRow& row : other.rows[kByModule]) of_other[row.name] += row.bytes;
  return std::ranges::count_if(rank.rows[kByModule], [&](const RankRow& row) {
           const auto same = of_other.find(row.name);
           return same != of_other.end() && row.bytes > same->second;
         }) >= 2;
}

}  // namespace

PeakRows::PeakRows(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members, const RankBook& book)
    : book_(book) {
  for (const std::size_t i : members) last_rank_ = std::max(last_rank_, ranks[i].rank);
  FindUnevenDivision(ranks, members);
  for (std::size_t by = 0; by < kHeldBy.size(); ++by) usual_[by] = UsualRowsOf(ranks, members, by);
}

void PeakRows::FindUnevenDivision(const std::vector<RankFacts>& ranks, const std::vector<std::size_t>& members) {
  std::vector<std::uint64_t> bytes;  // of parameters, by member
  for (const std::size_t i : members) {
    std::uint64_t& of_member = bytes.emplace_back();
    for (const RankRow& row : ranks[i].rows[kByCategory]) {
      if (book_.NameOf(row.name) == "parameter") of_member += row.bytes;
    }
  }
  has_unequal_parameters_ = bytes.size() >= kFewestOfRole && AreMostlyUnequal(bytes);
  const auto smaller = std::ranges::find_if(bytes, [&](std::uint64_t of_member) { return of_member != bytes[0]; });
  const bool others_are_equal = std::all_of(
      smaller, bytes.end(), [&](std::uint64_t of_member) { return of_member == *smaller && of_member < bytes[0]; });
  const auto larger = static_cast<std::size_t>(smaller - bytes.begin());
  if (!others_are_equal || larger == bytes.size()) return;
  if (larger == 1 && !HasMoreInSeveralModules(ranks[members[0]], ranks[members[1]])) return;
  last_larger_rank_ = ranks[members[larger - 1]].rank;
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

std::map<std::string, PeakRows::MemberAndUsual> PeakRows::CategoriesOf(const RankFacts& member) const {
  std::map<std::string, MemberAndUsual> categories;
  for (const RankRow& row : member.rows[kByCategory]) categories[book_.NameOf(row.name)].bytes += row.bytes;
  for (const auto& [name, bytes] : usual_[kByCategory]) categories[book_.NameOf(name)].usual = bytes;
  return categories;
}

// Returns true if the member's optimizer keeps more or less state for each byte of parameters than usual, so that it is
// another optimizer. `is_padded`: FSDP may have padded the member's shards; there is no state for padding.
bool PeakRows::HasOtherOptimizer(const std::map<std::string, MemberAndUsual>& categories, bool is_padded) {
  constexpr double kLeastFactor = 1.25;  // shards are rounded
  const auto parameters = categories.find("parameter"), state = categories.find("optimizer state");
  if (parameters == categories.end() || state == categories.end()) return false;
  if (parameters->second.bytes == 0 || parameters->second.usual == 0) return false;
  const double expected = static_cast<double>(state->second.usual) * static_cast<double>(parameters->second.bytes) /
                          static_cast<double>(parameters->second.usual);
  const auto bytes = static_cast<double>(state->second.bytes);
  return bytes > expected * kLeastFactor || (!is_padded && expected > bytes * kLeastFactor);
}

bool PeakRows::HasOtherShards(const RankFacts& member, std::uint64_t value, const UsualValue& usual) const {
  if (member.rows[kByCategory].empty()) return false;
  const std::map<std::string, MemberAndUsual> categories = CategoriesOf(member);
  const auto parameters = categories.find("parameter");
  const bool has_fewer_parameters =
      value < usual.value && parameters != categories.end() && parameters->second.bytes < parameters->second.usual;
  const bool has_more_by_division = value > usual.value && last_larger_rank_ && member.rank <= *last_larger_rank_;
  const bool shards_parameters =
      member.shards_parameters || has_fewer_parameters || has_more_by_division || has_unequal_parameters_;
  if (!shards_parameters && !member.shards_optimizer) return false;
  const bool is_padded = member.shards_parameters && member.rank == last_rank_ && parameters != categories.end() &&
                         parameters->second.bytes <= parameters->second.usual;
  if (!member.shards_optimizer && HasOtherOptimizer(categories, is_padded)) return false;
  std::uint64_t explained = 0;
  for (const auto& [category, of] : categories) {
    const bool is_of_optimizer = category == "optimizer state";
    const bool is_sharded =
        is_of_optimizer || (shards_parameters && (category == "parameter" || category == "gradient"));
    if (!is_sharded) continue;
    // A rank with another optimizer has a category that the others lack, or lacks a category that the others have. A
    // rank with another shard has the same categories as the others.
    if (!member.shards_optimizer && (of.bytes == 0) != (of.usual == 0)) return false;
    if ((of.bytes > of.usual) == (value > usual.value)) explained += ApartBy(of.bytes, of.usual);
  }
  // Without equal shards, the temporaries of the optimizer's step differ as the parameters do.
  const bool has_own_step = member.shards_optimizer || has_unequal_parameters_;
  const std::uint64_t temporaries = has_own_step ? explained : explained / kShareOfRounding;
  return ApartBy(value, usual.value) <= explained + temporaries + usual.tolerance;
}

bool PeakRows::HasOtherBuffers(const RankFacts& member, std::uint64_t value, const UsualValue& usual) const {
  if (!member.shards_parameters || member.rows[kByCategory].empty()) return false;
  MemberAndUsual buffers;
  for (const auto& [category, of] : CategoriesOf(member)) {
    if (category != "parameter (gathered)" && category != "gradient (reduce-scatter)") continue;
    buffers.bytes += of.bytes;
    buffers.usual += of.usual;
  }
  if ((buffers.bytes > buffers.usual) != (value > usual.value)) return false;
  const std::uint64_t explained = std::min(ApartBy(buffers.bytes, buffers.usual), buffers.usual);
  return ApartBy(value, usual.value) <= explained + usual.tolerance;
}

bool PeakRows::ExceedsInCopies(const RankFacts& member) const {
  if (member.rows[kByCategory].empty()) return false;
  MemberAndUsual others;
  for (const auto& [category, of] : CategoriesOf(member)) {
    if (category == "temporary" || category == "parameter (copy)" || category == "parameter (second copy)") continue;
    others.bytes += of.bytes;
    others.usual += of.usual;
  }
  return others.bytes <= others.usual;
}

}  // namespace memoir
