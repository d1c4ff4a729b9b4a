#include "tools/analyze/ranks/lone_ranks.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "tools/analyze/ranks/growth_places.h"
#include "tools/analyze/ranks/roles/usual_value.h"

namespace memoir {
namespace {

using Window = std::pair<std::uint64_t, std::uint64_t>;  // number and bytes, as in RankFacts::own_by_window

// The bytes in the windows of a rank's first and last steps.
struct Rise {
  std::uint64_t least_before = 0, most_before = 0;  // in the first half of the windows
  std::uint64_t least_after = 0, most_after = 0;    // in the last quarter of the windows
  std::uint64_t since_window = 0;  // first window of the last run of windows that all exceed most_before
  std::uint64_t bytes() const { return least_after > most_before ? least_after - most_before : 0; }
  bool is_any() const { return bytes() > LeastDifference(most_before); }
  // Returns true if the rise clearly exceeds the variation in the first half, which data of different sizes cause.
  bool is_large() const {
    constexpr std::uint64_t kLeast = 4 << 20, kShare = 10;
    return bytes() > std::max({kLeast, most_before / kShare, (most_before - least_before) / 2});
  }
};

// Returns the rise of a rank. Leaves out the first and the last window, which include the start and the end of the
// program. nullopt if there are too few windows.
std::optional<Rise> RiseOf(const RankFacts& rank) {
  constexpr std::size_t kFewest = 10;
  if (rank.own_by_window.size() < kFewest) return std::nullopt;
  const std::vector<Window> windows(std::next(rank.own_by_window.begin()), std::prev(rank.own_by_window.end()));
  const auto bytes = [](const Window& window) { return window.second; };
  const auto half = windows.begin() + static_cast<std::ptrdiff_t>(windows.size() / 2);
  const auto last = windows.end() - static_cast<std::ptrdiff_t>(windows.size() / 4);
  const auto [least_before, most_before] = std::ranges::minmax_element(windows.begin(), half, {}, bytes);
  const auto [least_after, most_after] = std::ranges::minmax_element(last, windows.end(), {}, bytes);
  Rise rise = {least_before->second, most_before->second, least_after->second, most_after->second, 0};
  for (auto window = windows.rbegin(); window != windows.rend() && window->second > rise.most_before; ++window)
    rise.since_window = window->first;
  return rise;
}

OddRank Finding(std::size_t rank, std::size_t role, OddFigure figure) {
  OddRank odd;
  odd.ranks = {rank};
  odd.role = role;
  odd.figure = figure;
  return odd;
}

class LoneRankFinder {
 public:
  explicit LoneRankFinder(OddRanks& found) : found_(found) {
    for (const RankFacts& rank : found.ranks) {
      growing_.Add(rank);
      rises_.push_back(RiseOf(rank));
      rising_ += rises_.back() && rises_.back()->is_any();
    }
  }

  void Judge(std::size_t rank, std::size_t role) {
    for (const v1::GrowthSummary& growth : found_.ranks[rank].growth) {
      const std::size_t others = growing_.count(growth) - 1;
      if (2 * others >= found_.ranks.size() - 1 && others > 0) continue;
      OddRank odd = Finding(rank, role, OddFigure::kGrowth);
      odd.value = odd.usual = found_.ranks[rank].allocated;
      odd.growth = growth;
      odd.since_step = growth.since_step();
      found_.odd.push_back(std::move(odd));
      return;
    }
    const std::optional<Rise>& rise = rises_[rank];
    if (!rise || !rise->is_large() || rising_ > 1) return;
    OddRank odd = Finding(rank, role, OddFigure::kRose);
    odd.value = rise->most_after;
    odd.usual = rise->most_before;
    odd.since_within = found_.ranks[rank].window_steps;
    odd.since_step = rise->since_window * odd.since_within;
    found_.odd.push_back(std::move(odd));
  }

 private:
  OddRanks& found_;
  GrowthPlaces growing_;
  std::vector<std::optional<Rise>> rises_;
  std::size_t rising_ = 0;  // number of ranks with a rise
};

}  // namespace

void AddLoneRanks(OddRanks& found) {
  LoneRankFinder finder(found);
  for (std::size_t role = 0; role < found.roles.size(); ++role) {
    if (found.roles[role].is_judged()) continue;
    for (const std::size_t rank : found.roles[role].members) finder.Judge(rank, role);
  }
}

}  // namespace memoir
