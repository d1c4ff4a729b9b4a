#include "tools/analyze/ranks/odd_ranks.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tools/analyze/ranks/step_windows.h"

namespace memoir {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kDeviations = 9;

struct Judged {
  OddFigure figure;
  std::uint64_t RankFacts::*value;
  std::uint64_t percent, floor;
};
// The first that a rank is out of line in is its finding: the later ones mostly follow from it.
constexpr std::array<Judged, 4> kJudged = {{{OddFigure::kAllocated, &RankFacts::allocated, 1, kMiB},
                                            {OddFigure::kReserved, &RankFacts::reserved, 5, 20 * kMiB},
                                            {OddFigure::kOutside, &RankFacts::outside, 5, 16 * kMiB},
                                            {OddFigure::kAtEnd, &RankFacts::at_end, 1, kMiB}}};
constexpr std::uint64_t kPercentOfSteps = 5, kFewestSteps = 2;
constexpr std::uint64_t kPercentOfSpecial = 3;
constexpr std::uint64_t kLeastOfNamed = 4;  // a row with a name goes before a larger one without, of a fourth of it

std::uint64_t Quantile(std::vector<std::uint64_t> values, std::size_t quarters) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size() - 1, values.size() * quarters / 4));
  std::ranges::nth_element(values, at);
  return *at;
}

// The lower one of two.
std::uint64_t Median(std::vector<std::uint64_t> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

// What is usual, and how far from it is still in line.
struct Line {
  std::uint64_t usual = 0, tolerance = 0;
  bool Leaves(std::uint64_t value) const { return ApartBy(value, usual) > tolerance; }
};

// Members that differ in their modules' numbers may be of several stages, a half of them each: then three quarters of
// the deviations are what is healthy.
Line LineOf(const std::vector<std::uint64_t>& values, bool by_kinds, std::uint64_t percent, std::uint64_t floor) {
  Line line{Median(values), 0};
  std::vector<std::uint64_t> deviations;
  for (const std::uint64_t value : values) deviations.push_back(ApartBy(value, line.usual));
  const std::uint64_t deviation = std::min(Quantile(std::move(deviations), by_kinds ? 3 : 2), UINT64_MAX / kDeviations);
  line.tolerance = std::max({line.usual / 100 * percent, floor, kDeviations * deviation});
  return line;
}

class Judge {
 public:
  Judge(OddRanks& found, const RankBook& book) : found_(found), book_(book) {}

  void JudgeRole(std::size_t role) {
    role_ = role;
    members_ = &found_.roles[role].members;
    usual_rows_.reset();
    std::vector<std::optional<OddRank>> findings(members_->size());
    FindGrowth(findings);
    for (const Judged& judged : kJudged) FindFigure(judged, findings);
    FindSteps(findings);
    for (std::optional<OddRank>& finding : findings) {
      if (finding) found_.odd.push_back(std::move(*finding));
    }
  }

 private:
  const RankFacts& Member(std::size_t i) const { return found_.ranks[(*members_)[i]]; }

  OddRank Finding(std::size_t i, OddFigure figure, std::uint64_t value, std::uint64_t usual) const {
    OddRank odd;
    odd.ranks = {(*members_)[i]};
    odd.role = role_;
    odd.figure = figure;
    odd.value = value;
    odd.usual = usual;
    return odd;
  }

  std::vector<std::uint64_t> Values(std::uint64_t RankFacts::*value) const {
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < members_->size(); ++i) values.push_back(Member(i).*value);
    return values;
  }

  Line UsualLine(const Judged& judged) const {
    return LineOf(Values(judged.value), found_.roles[role_].by_kinds, judged.percent, judged.floor);
  }

  // What fewer than half of the role keep more of.
  void FindGrowth(std::vector<std::optional<OddRank>>& findings) {
    const auto place = [](const v1::GrowthSummary& growth) { return std::pair(growth.kind(), growth.place()); };
    std::map<std::pair<std::string, std::string>, std::size_t> growing;
    for (std::size_t i = 0; i < members_->size(); ++i) {
      std::set<std::pair<std::string, std::string>> places;
      for (const v1::GrowthSummary& growth : Member(i).growth) places.insert(place(growth));
      for (const auto& one : places) ++growing[one];
    }
    const std::uint64_t usual = Median(Values(&RankFacts::allocated));
    for (std::size_t i = 0; i < members_->size(); ++i) {
      for (const v1::GrowthSummary& growth : Member(i).growth) {
        if (findings[i] || 2 * growing[place(growth)] >= members_->size()) continue;
        OddRank odd = Finding(i, OddFigure::kGrowth, Member(i).allocated, usual);
        odd.growth = growth;
        odd.since_step = growth.since_step();
        AddRows(i, odd);
        findings[i] = std::move(odd);
      }
    }
  }

  void FindFigure(const Judged& judged, std::vector<std::optional<OddRank>>& findings) {
    const Line line = UsualLine(judged);
    for (std::size_t i = 0; i < members_->size(); ++i) {
      const std::uint64_t value = Member(i).*judged.value;
      if (findings[i] || !line.Leaves(value)) continue;
      OddRank odd = Finding(i, judged.figure, value, line.usual);
      if (judged.figure == OddFigure::kAllocated) {
        AddRows(i, odd);
        FindSince(i, judged, odd);
      }
      findings[i] = std::move(odd);
    }
  }

  void FindSteps(std::vector<std::optional<OddRank>>& findings) {
    std::vector<std::uint64_t> steps;
    for (std::size_t i = 0; i < members_->size(); ++i) steps.push_back(Member(i).steps);
    const Line line = LineOf(steps, found_.roles[role_].by_kinds, kPercentOfSteps, kFewestSteps);
    for (std::size_t i = 0; i < members_->size(); ++i) {
      if (!findings[i] && Member(i).ended && line.Leaves(steps[i]))
        findings[i] = Finding(i, OddFigure::kSteps, steps[i], line.usual);
    }
  }

  // Of each grouping what is usual at the peak; rows that most members have not are not there.
  using UsualRows = std::array<std::map<std::uint32_t, std::uint64_t>, kHeldBy.size()>;
  const UsualRows& usual_rows() {
    if (usual_rows_) return *usual_rows_;
    UsualRows& usual = usual_rows_.emplace();
    for (std::size_t by = 0; by < kHeldBy.size(); ++by) {
      std::map<std::uint32_t, std::vector<std::uint64_t>> values;
      for (std::size_t i = 0; i < members_->size(); ++i) {
        for (const RankRow& row : Member(i).rows[by]) values[row.name].push_back(row.bytes);
      }
      for (auto& [name, of] : values) {
        of.resize(members_->size());
        if (const std::uint64_t median = Median(std::move(of)); median > 0) usual[by][name] = median;
      }
    }
    return usual;
  }

  void AddRows(std::size_t i, OddRank& odd) {
    const bool more = odd.value >= odd.usual;
    for (std::size_t by = 0; by < kHeldBy.size(); ++by) {
      std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> both;  // bytes and usual
      for (const auto& [name, usual] : usual_rows()[by]) both[name].second = usual;
      for (const RankRow& row : Member(i).rows[by]) both[row.name].first += row.bytes;
      std::optional<OddRow> largest, named;  // `named`: not "(no module)"
      for (const auto& [number, of] : both) {
        if ((of.first > of.second) != more) continue;
        const OddRow row{kHeldBy[by], book_.NameOf(number), of.first, of.second};
        if (!largest || row.difference() > largest->difference()) largest = row;
        if (!row.name.starts_with('(') && (!named || row.difference() > named->difference())) named = row;
      }
      const bool names_it = named && named->difference() >= largest->difference() / kLeastOfNamed;
      if (largest) odd.rows.push_back(names_it ? *std::move(named) : *std::move(largest));
    }
  }

  // The first step in which it is out of line.
  void FindSince(std::size_t i, const Judged& judged, OddRank& odd) const {
    std::uint64_t wide = 1;
    for (std::size_t of = 0; of < members_->size(); ++of) wide = std::max(wide, Member(of).window_steps);
    std::map<std::uint64_t, std::vector<std::uint64_t>> values;
    const auto widened = [&](const RankFacts& facts) {
      std::map<std::uint64_t, std::uint64_t> windows;
      for (const auto& [number, bytes] : facts.allocated_by_window) {
        std::uint64_t& most = windows[number / (wide / facts.window_steps)];
        most = std::max(most, bytes);
      }
      return windows;
    };
    for (std::size_t of = 0; of < members_->size(); ++of) {
      for (const auto& [number, bytes] : widened(Member(of))) values[number].push_back(bytes);
    }
    for (const auto& [number, bytes] : widened(Member(i))) {
      const std::vector<std::uint64_t>& all = values[number];
      if (all.size() < kFewestOfRole) continue;
      const Line line = LineOf(all, found_.roles[role_].by_kinds, judged.percent, judged.floor);
      if (!line.Leaves(bytes) || (bytes > line.usual) != (odd.value > odd.usual)) continue;
      odd.since_step = number * wide;
      odd.since_within = wide;
      return;
    }
  }

  OddRanks& found_;
  const RankBook& book_;
  std::size_t role_ = 0;
  const std::vector<std::size_t>* members_ = nullptr;
  std::optional<UsualRows> usual_rows_;
};

// Where all of a host's ranks have more outside of torch, it is the host that is odd.
void JoinHosts(OddRanks& found) {
  std::map<std::string, std::size_t> of_host, odd_of_host;
  for (const Role& role : found.roles) {
    for (const std::size_t i : role.members) of_host[found.ranks[i].host] += role.judged();
  }
  for (const OddRank& odd : found.odd) odd_of_host[found.ranks[odd.ranks[0]].host] += odd.figure == OddFigure::kOutside;
  std::map<std::string, std::size_t> first;
  std::vector<OddRank> joined;
  for (OddRank& odd : found.odd) {
    const std::string& host = found.ranks[odd.ranks[0]].host;
    const bool all = odd.figure == OddFigure::kOutside && of_host[host] >= 2 && odd_of_host[host] == of_host[host];
    const auto known = first.find(host);
    if (!all || known == first.end()) {
      if (all) first[host] = joined.size();
      joined.push_back(std::move(odd));
      continue;
    }
    OddRank& whole = joined[known->second];
    whole.ranks.push_back(odd.ranks[0]);
    if (odd.difference() > whole.difference()) std::tie(whole.value, whole.usual) = std::pair(odd.value, odd.usual);
  }
  for (OddRank& odd : joined) std::ranges::sort(odd.ranks);
  found.odd = std::move(joined);
}

// By role, its usual rows of modules, and of all roles the median.
void AddFigures(OddRanks& found, const RankBook& book) {
  constexpr std::size_t kModules = 0;
  std::vector<std::map<std::uint32_t, std::uint64_t>> usual(found.roles.size());
  std::map<std::uint32_t, std::vector<std::uint64_t>> over_roles;
  for (std::size_t role = 0; role < found.roles.size(); ++role) {
    const std::vector<std::size_t>& members = found.roles[role].members;
    std::map<std::uint32_t, std::vector<std::uint64_t>> values;
    std::vector<std::uint64_t> peaks;
    for (const std::size_t i : members) {
      peaks.push_back(found.ranks[i].allocated);
      for (const RankRow& row : found.ranks[i].rows[kModules]) values[row.name].push_back(row.bytes);
    }
    const auto [least, most] = std::ranges::minmax(peaks);
    found.figures.push_back({least, Median(peaks), most, {}});
    for (auto& [name, of] : values) {
      of.resize(members.size());
      const std::uint64_t median = Median(std::move(of));
      usual[role][name] = median;
      over_roles[name].push_back(median);
    }
  }
  for (auto& [name, of] : over_roles) of.resize(found.roles.size());
  if (found.roles.size() < 2) return;
  for (std::size_t role = 0; role < found.roles.size(); ++role) {
    std::optional<OddRow>& special = found.figures[role].special;
    const std::uint64_t least = std::max(kMiB / 4, found.figures[role].median / 100 * kPercentOfSpecial);
    for (const auto& [name, bytes] : usual[role]) {
      const std::uint64_t elsewhere = Median(over_roles[name]);
      if (book.NameOf(name).starts_with('(') || bytes <= elsewhere + least) continue;  // "(no module)"
      if (!special || bytes - elsewhere > special->bytes - special->usual)
        special = OddRow{kHeldBy[kModules], book.NameOf(name), bytes, elsewhere};
    }
  }
}

}  // namespace

std::string_view ToString(OddFigure figure) {
  switch (figure) {
    case OddFigure::kGrowth:
      return "growth";
    case OddFigure::kAllocated:
      return "allocated";
    case OddFigure::kReserved:
      return "reserved";
    case OddFigure::kOutside:
      return "outside_torch";
    case OddFigure::kAtEnd:
      return "at_end";
    case OddFigure::kSteps:
      return "steps";
  }
  return "";
}

OddRanks FindOddRanks(RankBook& book) {
  OddRanks found;
  found.ranks = book.Take();
  found.roles = RolesOf(found.ranks);
  AddFigures(found, book);
  Judge judge(found, book);
  for (std::size_t role = 0; role < found.roles.size(); ++role) {
    if (found.roles[role].judged()) judge.JudgeRole(role);
  }
  JoinHosts(found);
  std::ranges::stable_sort(found.odd, [](const OddRank& a, const OddRank& b) {
    const auto key = [](const OddRank& odd) {
      return std::pair(odd.figure == OddFigure::kSteps, -static_cast<double>(odd.difference()));
    };
    return key(a) < key(b);
  });
  return found;
}

}  // namespace memoir
