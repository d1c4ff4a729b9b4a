#include "tools/analyze/ranks/odd_programs.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tools/analyze/compare/compare_captures.h"
#include "tools/analyze/compare/comparison.h"
#include "tools/analyze/ranks/roles/usual_value.h"

namespace memoir {
namespace {

// Returns the member of the role that has no finding, called the same modules as `odd`, and has a peak nearest to the
// median. Empty if there is no such member.
std::optional<std::size_t> UsualMember(const OddRanks& found, const OddRank& odd) {
  std::set<std::size_t> with_findings;
  for (const OddRank& of : found.odd) with_findings.insert(of.ranks.begin(), of.ranks.end());
  const std::uint64_t median = found.figures[odd.role].median;
  const auto distance = [&](std::size_t member) { return ApartBy(found.ranks[member].allocated, median); };
  std::optional<std::size_t> nearest;
  for (const std::size_t i : found.roles[odd.role].members) {
    const bool is_alike = found.ranks[i].modules == found.ranks[odd.ranks.front()].modules;
    if (is_alike && !with_findings.contains(i) && (!nearest || distance(i) < distance(*nearest))) nearest = i;
  }
  return nearest;
}

// Returns true if the peaks differ as in the finding: in the same direction, and by at least half as much.
bool IsOfFinding(const OddRank& odd, const ComparedDevice& device) {
  const std::int64_t difference = device.difference();
  return (difference > 0) == (odd.value > odd.usual) &&
         2 * static_cast<std::uint64_t>(std::abs(difference)) >= odd.difference();
}

}  // namespace

bool HasProgramToCompare(const OddRank& odd) { return odd.figure == OddFigure::kAllocated; }

void AddPrograms(const Capture& capture, std::size_t most, const std::function<void(double)>& progress,
                 OddRanks& found) {
  std::vector<OddRank*> compared;
  for (OddRank& odd : found.odd) {
    if (HasProgramToCompare(odd) && compared.size() < most) compared.push_back(&odd);
  }
  for (std::size_t done = 0; done < compared.size(); ++done) {
    OddRank& odd = *compared[done];
    const std::optional<std::size_t> usual = UsualMember(found, odd);
    if (!usual) continue;
    const double each = 1 / static_cast<double>(compared.size());
    const double begin = static_cast<double>(done) * each;
    CompareOptions options;
    options.a.rank = found.ranks[*usual].rank;
    options.b.rank = found.ranks[odd.ranks.front()].rank;
    options.a.progress = [&, begin](double part) { progress(begin + part * each / 2); };
    options.b.progress = [&, begin](double part) { progress(begin + (1 + part) * each / 2); };
    const absl::StatusOr<Comparison> comparison = CompareCaptures(capture, capture, options);
    const ComparedDevice* const device = comparison.ok() ? comparison->focus() : nullptr;
    if (device != nullptr && IsOfFinding(odd, *device)) odd.program = ProgramOfOddRank{*usual, device->causes};
  }
}

}  // namespace memoir
