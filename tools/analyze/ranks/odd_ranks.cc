#include "tools/analyze/ranks/odd_ranks.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/analyze/ranks/failed_ranks.h"
#include "tools/analyze/ranks/growth_places.h"
#include "tools/analyze/ranks/joined_ranks.h"
#include "tools/analyze/ranks/lone_ranks.h"
#include "tools/analyze/ranks/peak_rows.h"
#include "tools/analyze/ranks/role_figures.h"
#include "tools/analyze/ranks/roles/role_windows.h"
#include "tools/analyze/ranks/roles/usual_value.h"

namespace memoir {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

// A figure that is compared with its usual value. The tolerance is at least `percent` of this value, and at least
// `floor`.
struct FigureBounds {
  OddFigure figure;
  std::uint64_t RankFacts::* value;
  std::uint64_t percent, floor;
  bool has_shards;  // shards of parameters, gradients or optimizer state are among these bytes
};
// The first figure in which a rank is odd is its finding, because later figures usually follow from it.
constexpr std::array<FigureBounds, 6> kJudged = {{{OddFigure::kAllocated, &RankFacts::own, 1, kMiB, true},
                                                  {OddFigure::kBetween, &RankFacts::between_steps, 1, kMiB, true},
                                                  {OddFigure::kBuckets, &RankFacts::buckets, 5, kMiB, false},
                                                  {OddFigure::kReserved, &RankFacts::reserved, 5, 20 * kMiB, true},
                                                  {OddFigure::kOutside, &RankFacts::outside, 5, 16 * kMiB, false},
                                                  {OddFigure::kAtEnd, &RankFacts::own_at_end, 1, kMiB, true}}};
constexpr std::uint64_t kPercentOfVaried = 25;  // tolerated percent of reserved bytes, if allocated bytes vary
constexpr std::uint64_t kPercentOfSteps = 5, kFewestSteps = 2;

class OddRankFinder {
 public:
  OddRankFinder(OddRanks& found, const RankBook& book) : found_(found), book_(book) {}

  void JudgeRole(std::size_t role) {
    role_ = role;
    members_ = &found_.roles[role].members;
    peak_rows_.emplace(found_.ranks, *members_, book_);
    windows_.emplace(found_.ranks, *members_);
    exceeds_for_moments_.assign(members_->size(), false);
    std::vector<std::optional<OddRank>> findings(members_->size());
    FindGrowth(findings);
    for (const FigureBounds& judged : kJudged) FindFigure(judged, findings);
    FindKilled(findings);
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

  std::vector<std::uint64_t> Values(std::uint64_t RankFacts::* value) const {
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < members_->size(); ++i) values.push_back(Member(i).*value);
    return values;
  }

  // If ranks have different data, their allocated bytes differ in each step. In this case their peaks may differ as
  // much as their bytes in one step (RoleWindows::noise), even if most peaks are equal. Reserved bytes may differ more,
  // also if allocated bytes differ little, because one block that does not fit needs another segment.
  UsualValue UsualOfRole(const FigureBounds& judged) const {
    const bool of_steps = judged.figure == OddFigure::kAllocated || judged.figure == OddFigure::kReserved;
    const bool varied = of_steps && windows_->noise() > LeastDifference(MedianOf(Values(&RankFacts::own)));
    const bool reserved = judged.figure == OddFigure::kReserved;
    UsualValue usual = UsualValueOf(
        Values(judged.value), found_.roles[role_].by_kinds,
        reserved && (varied || windows_->has_unequal_members()) ? kPercentOfVaried : judged.percent, judged.floor);
    if (varied)
      usual.Widen(windows_->noise() / 3);  // the noise is nearly the largest distance, but Widen expects a median
    if (reserved) usual.Allow(std::ranges::max(Values(&RankFacts::most_buckets)));
    return usual;
  }

  // Finds places where fewer than half of the role's members keep more memory in every step.
  void FindGrowth(std::vector<std::optional<OddRank>>& findings) {
    GrowthPlaces growing;
    for (std::size_t i = 0; i < members_->size(); ++i) growing.Add(Member(i));
    const std::uint64_t usual = MedianOf(Values(&RankFacts::allocated));
    for (std::size_t i = 0; i < members_->size(); ++i) {
      for (const v1::GrowthSummary& growth : Member(i).growth) {
        if (findings[i] || 2 * growing.count(growth) >= members_->size()) continue;
        OddRank odd = Finding(i, OddFigure::kGrowth, Member(i).allocated, usual);
        odd.growth = growth;
        odd.since_step = growth.since_step();
        odd.rows = peak_rows_->LargestDifferences(Member(i), odd.value >= odd.usual);
        findings[i] = std::move(odd);
      }
    }
  }

  // Returns false if a member lacks the figure. A failed rank has no kAtEnd, and an old summary has no kBetween.
  bool IsKnown(OddFigure figure) const {
    for (std::size_t i = 0; i < members_->size(); ++i) {
      if (figure == OddFigure::kAtEnd && Member(i).has_failed) return false;
      if (figure == OddFigure::kBetween && Member(i).between_steps == 0) return false;
    }
    return true;
  }

  // Returns three times the largest distance of any other member from the usual value, in any step or at its peak. In a
  // small role, this may be less than nine median deviations, because the odd member itself may make these large. Not
  // less than the bounds in `judged`. UINT64_MAX if Role::by_kinds is true, or if there are too few windows of steps.
  std::uint64_t ToleranceByOthers(std::size_t i, const FigureBounds& judged, std::uint64_t usual) const {
    constexpr std::uint64_t kTimes = 3;
    if (found_.roles[role_].by_kinds || windows_->count() < kFewestWindows) return UINT64_MAX;
    std::uint64_t furthest = windows_->FurthestOther(i);
    for (std::size_t other = 0; other < members_->size(); ++other) {
      if (other != i) furthest = std::max(furthest, ApartBy(Member(other).*judged.value, usual));
    }
    return std::max({usual / 100 * judged.percent, judged.floor, kTimes * std::min(furthest, UINT64_MAX / kTimes)});
  }

  void FindFigure(const FigureBounds& judged, std::vector<std::optional<OddRank>>& findings) {
    if (!IsKnown(judged.figure)) return;
    const UsualValue of_role = UsualOfRole(judged);
    const std::uint64_t usual_own = MedianOf(Values(&RankFacts::own));
    for (std::size_t i = 0; i < members_->size(); ++i) {
      const std::uint64_t value = Member(i).*judged.value;
      UsualValue usual = of_role;
      if (judged.figure == OddFigure::kAllocated)
        usual.tolerance = std::min(usual.tolerance, ToleranceByOthers(i, judged, usual.value));
      // Allocated bytes that are in line explain as many reserved bytes: the partitions of a graph may have any sizes.
      const bool follows_own = (value > usual.value) == (Member(i).own > usual_own);
      if (judged.figure == OddFigure::kReserved && follows_own) usual.Allow(ApartBy(Member(i).own, usual_own));
      if (!usual.IsOdd(value)) continue;
      // A rank whose peak is in line, and that has less at other times, needs no attention.
      const bool only_more = judged.figure == OddFigure::kBetween || judged.figure == OddFigure::kAtEnd;
      if (only_more && value < usual.value) continue;
      if (judged.figure == OddFigure::kBetween && findings[i] && findings[i]->figure == OddFigure::kAllocated)
        findings[i]->more_between_steps = value - usual.value;
      if (findings[i] || (judged.has_shards && peak_rows_->HasOtherShards(Member(i), value, usual))) continue;
      if (judged.figure == OddFigure::kAllocated) {
        if (peak_rows_->HasOtherBuffers(Member(i), value, usual)) continue;
        exceeds_for_moments_[i] = value > usual.value && ExceedsForMoments(i, judged, usual.tolerance);
      }
      const bool is_peak = judged.figure == OddFigure::kAllocated || judged.figure == OddFigure::kReserved;
      if (is_peak && exceeds_for_moments_[i]) continue;
      OddRank odd = Finding(i, judged.figure, value, usual.value);
      if (judged.figure == OddFigure::kAllocated || judged.figure == OddFigure::kBetween)
        odd.rows = peak_rows_->LargestDifferences(Member(i), odd.value >= odd.usual);
      if (judged.figure == OddFigure::kAllocated) FindSince(i, judged, usual.tolerance, odd);
      findings[i] = std::move(odd);
    }
  }

  // A rank that was killed, or that raised an exception, may have lower figures because it ended earlier. So lower
  // figures are not reported, except for the peak of a rank that raised. Reports killed ranks if fewer than half of the
  // role were killed. AddFailedRanks reports the other failed ranks.
  void FindKilled(std::vector<std::optional<OddRank>>& findings) const {
    std::size_t killed = 0;
    for (std::size_t i = 0; i < members_->size(); ++i) killed += Member(i).was_killed();
    for (std::size_t i = 0; i < members_->size(); ++i) {
      if (!Member(i).has_failed) continue;
      const bool is_lower = findings[i] && !findings[i]->growth && findings[i]->value < findings[i]->usual;
      if (is_lower && (Member(i).was_killed() || findings[i]->figure != OddFigure::kAllocated)) findings[i].reset();
      if (!findings[i] && Member(i).was_killed() && 2 * killed < members_->size())
        findings[i] = Finding(i, OddFigure::kKilled, Member(i).steps, MedianOf(Values(&RankFacts::steps)));
    }
  }

  void FindSteps(std::vector<std::optional<OddRank>>& findings) {
    const std::vector<std::uint64_t> steps = Values(&RankFacts::steps);
    const UsualValue usual = UsualValueOf(steps, found_.roles[role_].by_kinds, kPercentOfSteps, kFewestSteps);
    for (std::size_t i = 0; i < members_->size(); ++i) {
      if (!Member(i).ended() || !usual.IsOdd(steps[i])) continue;
      if (!findings[i])
        findings[i] = Finding(i, OddFigure::kSteps, steps[i], usual.value);
      else if (findings[i]->figure != OddFigure::kKilled)
        findings[i]->usual_steps = usual.value;
    }
  }

  // Returns true if the rank exceeds its role only for a moment, because it does work for the other ranks:
  // - in its first window of steps, which includes the time before the first step: it loads a checkpoint, or divides
  //   its parameters among the ranks, or
  // - in at most a fourth of the windows, and only in temporaries and copies of parameters: it saves a checkpoint.
  bool ExceedsForMoments(std::size_t i, const FigureBounds& judged, std::uint64_t tolerance) const {
    constexpr std::size_t kLeastUsual = 4;  // the rank may be odd in at most one of this many windows
    const RoleWindows::Windows& windows = windows_->of(i);
    if (windows_->count() < kFewestWindows || windows.size() < 2) return false;
    std::size_t odd = 0, odd_later = 0;
    for (const auto& [number, bytes] : windows) {
      const bool is_odd = UsualInWindow(number, judged, tolerance).IsOdd(bytes);
      odd += is_odd;
      odd_later += is_odd && number != windows.begin()->first;
    }
    return odd_later == 0 || (kLeastUsual * odd <= windows.size() && peak_rows_->ExceedsInCopies(Member(i)));
  }

  UsualValue UsualInWindow(std::uint64_t number, const FigureBounds& judged, std::uint64_t tolerance) const {
    UsualValue usual = UsualValueOf(windows_->all(number), found_.roles[role_].by_kinds, judged.percent, judged.floor);
    usual.tolerance = std::min(usual.tolerance, tolerance);
    return usual;
  }

  // Finds the first window of steps in which the rank is odd.
  void FindSince(std::size_t i, const FigureBounds& judged, std::uint64_t tolerance, OddRank& odd) const {
    for (const auto& [number, bytes] : windows_->of(i)) {
      if (windows_->all(number).size() < kFewestOfRole) continue;
      const UsualValue usual = UsualInWindow(number, judged, tolerance);
      if (!usual.IsOdd(bytes) || (bytes > usual.value) != (odd.value > odd.usual)) continue;
      odd.since_step = number * windows_->steps();
      odd.since_within = windows_->steps();
      return;
    }
  }

  OddRanks& found_;
  const RankBook& book_;
  std::size_t role_ = 0;
  const std::vector<std::size_t>* members_ = nullptr;
  std::optional<RoleWindows> windows_;
  std::vector<bool> exceeds_for_moments_;  // by member
  std::optional<PeakRows> peak_rows_;
};

}  // namespace

OddRanks FindOddRanks(RankBook& book) {
  OddRanks found;
  found.ranks = book.Take();
  found.roles = RolesOf(found.ranks);
  AddFigures(found, book);
  OddRankFinder judge(found, book);
  for (std::size_t role = 0; role < found.roles.size(); ++role) {
    if (found.roles[role].is_judged()) judge.JudgeRole(role);
  }
  AddLoneRanks(found);
  JoinOddRanks(found);
  AddFailedRanks(found);
  std::ranges::stable_sort(found.odd, [&found](const OddRank& a, const OddRank& b) {
    const auto key = [&found](const OddRank& odd) {
      const int order = odd.figure == OddFigure::kLeft    ? 0
                        : IsFailure(found, odd)           ? 1
                        : odd.figure == OddFigure::kSteps ? 3
                                                          : 2;
      return std::tuple(order, !odd.first.has_value(), -static_cast<double>(odd.difference()));
    };
    return key(a) < key(b);
  });
  return found;
}

}  // namespace memoir
