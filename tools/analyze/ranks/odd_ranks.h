// Ranks that are out of line with those of their role, and what makes the difference.
//
// Of each figure a role's median is what is usual, and its median deviation how far apart healthy ranks are. A rank is
// out of line where it is further from the median than nine deviations (six standard deviations of a normal
// distribution), a share of the median and a floor, so that neither noise nor alike ranks give a finding. Deviations
// are those of the figure, and those of what the members had allocated in the same steps.
#ifndef TOOLS_ANALYZE_RANKS_ODD_RANKS_H_
#define TOOLS_ANALYZE_RANKS_ODD_RANKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/ranks/rank_book.h"
#include "tools/analyze/ranks/roles.h"
#include "tools/analyze/ranks/usual_line.h"

namespace memoir {

enum class OddFigure : std::uint8_t {
  kGrowth,     // keeps more in every step, which its role does not
  kAllocated,  // peak
  kReserved,   // peak
  kOutside,    // non-PyTorch memory, at its most
  kAtEnd,      // allocated at the end
  kSteps,      // how many, of one that has ended
};
std::string_view ToString(OddFigure figure);  // as JSON has it

// A row of what is live at the peak that is larger or smaller than usual.
struct OddRow {
  std::string by, name;
  std::uint64_t bytes = 0, usual = 0;
  std::uint64_t difference() const { return ApartBy(bytes, usual); }
};

struct OddRank {
  std::vector<std::size_t> ranks;  // one; or all of a host, or of a role at an index, that are out of line alike
  std::string place;               // "dp 2", of all of the role at that index
  std::size_t role = 0;
  OddFigure figure = OddFigure::kAllocated;
  std::uint64_t value = 0, usual = 0;  // bytes (of kGrowth: the peak), of kSteps steps; of several the furthest
  std::optional<std::uint64_t> since_step;
  std::uint64_t since_within = 1;  // steps: windows are that long
  std::vector<OddRow>
      rows;  // of each grouping the one that differs most, with a name where there is one; of kAllocated and kGrowth
  std::optional<v1::GrowthSummary> growth;
  std::uint64_t difference() const { return ApartBy(value, usual); }
};

struct RoleFigures {
  std::uint64_t least = 0, median = 0, most = 0;  // peaks of allocated bytes
  std::optional<OddRow> special;                  // of modules: what it holds, and the median role does not
};

struct OddRanks {
  std::vector<RankFacts> ranks;
  std::vector<Role> roles;
  std::vector<RoleFigures> figures;  // by role
  std::vector<OddRank> odd;          // largest difference first
  std::size_t out_of_line() const;   // ranks in `odd`
};

OddRanks FindOddRanks(RankBook& book);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ODD_RANKS_H_
