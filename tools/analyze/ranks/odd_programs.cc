#include "tools/analyze/ranks/odd_programs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tools/analyze/compare/comparison.h"
#include "tools/analyze/ranks/usual_value.h"

namespace memoir {
namespace {

// Returns the member of the role that has no finding, and whose peak is nearest to the median. Empty if all members
// have a finding.
std::optional<std::size_t> UsualMember(const OddRanks& found, std::size_t role) {
  std::set<std::size_t> odd;
  for (const OddRank& of : found.odd) odd.insert(of.ranks.begin(), of.ranks.end());
  const std::uint64_t median = found.figures[role].median;
  std::optional<std::size_t> nearest;
  for (const std::size_t i : found.roles[role].members) {
    const auto distance = [&](std::size_t member) { return ApartBy(found.ranks[member].allocated, median); };
    if (!odd.contains(i) && (!nearest || distance(i) < distance(*nearest))) nearest = i;
  }
  return nearest;
}

// Returns the changes that may explain the difference of the GPU, or of the host if there is no GPU.
std::vector<ProgramChange> CausesOf(const Comparison& comparison) {
  const ComparedDevice* const device = comparison.focus();
  return device == nullptr ? std::vector<ProgramChange>() : device->causes;
}

}  // namespace

bool HasProgramToCompare(const OddRank& odd) {
  return odd.figure == OddFigure::kAllocated || odd.figure == OddFigure::kBetween ||
         odd.figure == OddFigure::kReserved || odd.figure == OddFigure::kAtEnd;
}

void AddPrograms(const Capture& capture, std::size_t most, const std::function<void(double)>& progress,
                 OddRanks& found) {
  std::vector<OddRank*> compared;
  for (OddRank& odd : found.odd) {
    if (HasProgramToCompare(odd) && compared.size() < most) compared.push_back(&odd);
  }
  for (std::size_t done = 0; done < compared.size(); ++done) {
    OddRank& odd = *compared[done];
    const std::optional<std::size_t> usual = UsualMember(found, odd.role);
    if (!usual) continue;
    const double each = 1 / static_cast<double>(compared.size());
    const double begin = static_cast<double>(done) * each;
    CompareOptions options;
    options.a.rank = found.ranks[*usual].rank;
    options.b.rank = found.ranks[odd.ranks.front()].rank;
    options.a.progress = [&, begin](double part) { progress(begin + part * each / 2); };
    options.b.progress = [&, begin](double part) { progress(begin + (1 + part) * each / 2); };
    const absl::StatusOr<Comparison> comparison = CompareCaptures(capture, capture, options);
    if (comparison.ok()) odd.program = ProgramOfOddRank{*usual, CausesOf(*comparison)};
  }
}

}  // namespace memoir
