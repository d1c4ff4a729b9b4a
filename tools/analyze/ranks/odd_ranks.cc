#include "tools/analyze/ranks/odd_ranks.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "tools/analyze/ranks/joined_ranks.h"
#include "tools/analyze/ranks/usual_line.h"

namespace memoir {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

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
constexpr std::uint64_t kPercentOfVaried = 25;  // of what is reserved
constexpr std::uint64_t kPercentOfSteps = 5, kFewestSteps = 2;
constexpr std::uint64_t kPercentOfSpecial = 3;
// A row with a name goes before a larger one without, of a fourth of it.
constexpr std::uint64_t kLeastOfNamed = 4;

// By name, what is usual of a grouping at the peaks of these; rows that most of them have not are not there.
std::map<std::uint32_t, std::uint64_t> UsualRowsOf(const OddRanks& found, const std::vector<std::size_t>& members,
                                                   std::size_t by) {
  std::map<std::uint32_t, std::vector<std::uint64_t>> values;
  for (const std::size_t i : members) {
    for (const RankRow& row : found.ranks[i].rows[by]) values[row.name].push_back(row.bytes);
  }
  std::map<std::uint32_t, std::uint64_t> usual;
  for (auto& [name, of] : values) {
    of.resize(members.size());
    if (const std::uint64_t median = MedianOf(std::move(of)); median > 0) usual[name] = median;
  }
  return usual;
}

class Judge {
 public:
  Judge(OddRanks& found, const RankBook& book) : found_(found), book_(book) {}

  void JudgeRole(std::size_t role) {
    role_ = role;
    members_ = &found_.roles[role].members;
    usual_rows_.reset();
    TakeWindows();
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

  // Where the data of ranks differ, so do their steps. Then a peak may be another by as much, though most have the
  // same, and what is reserved by far more: segments come in large pieces.
  UsualLine LineOfRole(const Judged& judged) const {
    const bool of_steps = judged.figure == OddFigure::kAllocated || judged.figure == OddFigure::kReserved;
    const bool varied = of_steps && noise_ > std::max(MedianOf(Values(&RankFacts::allocated)) / 100, kMiB);
    const bool reserved = judged.figure == OddFigure::kReserved;
    UsualLine line = LineOf(Values(judged.value), found_.roles[role_].by_kinds,
                            varied && reserved ? kPercentOfVaried : judged.percent, judged.floor);
    if (varied) line.Widen(noise_ / 3);  // it is nearly the most that they are apart, and no median
    return line;
  }

  std::map<std::uint64_t, std::uint64_t> Widened(const RankFacts& facts) const {
    std::map<std::uint64_t, std::uint64_t> windows;
    for (const auto& [number, bytes] : facts.allocated_by_window) {
      std::uint64_t& most = windows[number / (window_steps_ / facts.window_steps)];
      most = std::max(most, bytes);
    }
    return windows;
  }

  // The members' levels in the same steps, and how far apart they were at most, but for a few of them, where the levels
  // of more than a quarter of them vary.
  void TakeWindows() {
    window_steps_ = 1;
    for (std::size_t i = 0; i < members_->size(); ++i) window_steps_ = std::max(window_steps_, Member(i).window_steps);
    windows_.clear();
    for (std::size_t i = 0; i < members_->size(); ++i) {
      for (const auto& [number, bytes] : Widened(Member(i))) windows_[number].push_back(bytes);
    }
    usual_of_window_.clear();
    for (const auto& [number, values] : windows_) usual_of_window_[number] = MedianOf(values);
    noise_ = 0;
    if (4 * Varying() <= members_->size()) return;
    for (const auto& [number, values] : windows_) {
      if (values.size() >= kFewestOfRole) noise_ = std::max(noise_, DeviationOfMost(values));
    }
  }

  // Members that are out of line in a step, and in line again in a later one. What is wrong with a rank mostly stays.
  std::size_t Varying() const {
    std::size_t varying = 0;
    for (std::size_t i = 0; i < members_->size(); ++i) {
      bool was_out = false, came_back = false;
      for (const auto& [number, bytes] : Widened(Member(i))) {
        const std::uint64_t usual = usual_of_window_.at(number);
        const bool out = ApartBy(bytes, usual) > std::max(usual / 100, kMiB);
        came_back = came_back || (was_out && !out);
        was_out = was_out || out;
      }
      varying += came_back;
    }
    return varying;
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
    const std::uint64_t usual = MedianOf(Values(&RankFacts::allocated));
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
    const UsualLine line = LineOfRole(judged);
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
    const UsualLine line = LineOf(steps, found_.roles[role_].by_kinds, kPercentOfSteps, kFewestSteps);
    for (std::size_t i = 0; i < members_->size(); ++i) {
      if (!findings[i] && Member(i).ended && line.Leaves(steps[i]))
        findings[i] = Finding(i, OddFigure::kSteps, steps[i], line.usual);
    }
  }

  using UsualRows = std::array<std::map<std::uint32_t, std::uint64_t>, kHeldBy.size()>;
  const UsualRows& usual_rows() {
    if (usual_rows_) return *usual_rows_;
    UsualRows& usual = usual_rows_.emplace();
    for (std::size_t by = 0; by < kHeldBy.size(); ++by) usual[by] = UsualRowsOf(found_, *members_, by);
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
    for (const auto& [number, bytes] : Widened(Member(i))) {
      const std::vector<std::uint64_t>& all = windows_.at(number);
      if (all.size() < kFewestOfRole) continue;
      const UsualLine line = LineOf(all, found_.roles[role_].by_kinds, judged.percent, judged.floor);
      if (!line.Leaves(bytes) || (bytes > line.usual) != (odd.value > odd.usual)) continue;
      odd.since_step = number * window_steps_;
      odd.since_within = window_steps_;
      return;
    }
  }

  OddRanks& found_;
  const RankBook& book_;
  std::size_t role_ = 0;
  const std::vector<std::size_t>* members_ = nullptr;
  std::uint64_t window_steps_ = 1;
  std::map<std::uint64_t, std::vector<std::uint64_t>> windows_;  // by first step / window_steps_
  std::map<std::uint64_t, std::uint64_t> usual_of_window_;       // their medians
  std::uint64_t noise_ = 0;
  std::optional<UsualRows> usual_rows_;
};

// By role, its usual rows of modules, and of all roles the median.
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
    usual[role] = UsualRowsOf(found, members, kModules);
    for (const auto& [name, bytes] : usual[role]) over_roles[name].push_back(bytes);
  }
  for (auto& [name, of] : over_roles) of.resize(found.roles.size());
  if (found.roles.size() < 2) return;
  for (std::size_t role = 0; role < found.roles.size(); ++role) {
    std::optional<OddRow>& special = found.figures[role].special;
    const std::uint64_t least = std::max(kMiB / 4, found.figures[role].median / 100 * kPercentOfSpecial);
    for (const auto& [name, bytes] : usual[role]) {
      const std::uint64_t elsewhere = MedianOf(over_roles[name]);
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

std::size_t OddRanks::out_of_line() const {
  std::set<std::size_t> ranks_of;
  for (const OddRank& of : odd) ranks_of.insert(of.ranks.begin(), of.ranks.end());
  return ranks_of.size();
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
  JoinOddRanks(found);
  std::ranges::stable_sort(found.odd, [](const OddRank& a, const OddRank& b) {
    const auto key = [](const OddRank& odd) {
      return std::pair(odd.figure == OddFigure::kSteps, -static_cast<double>(odd.difference()));
    };
    return key(a) < key(b);
  });
  return found;
}

}  // namespace memoir
