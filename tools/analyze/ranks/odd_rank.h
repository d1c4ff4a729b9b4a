// A rank that differs from the other members of its role.
#ifndef TOOLS_ANALYZE_RANKS_ODD_RANK_H_
#define TOOLS_ANALYZE_RANKS_ODD_RANK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/compare/program_change.h"
#include "tools/analyze/ranks/roles/rank_book.h"
#include "tools/analyze/ranks/roles/roles.h"
#include "tools/analyze/ranks/roles/usual_value.h"

namespace memoir {

enum class OddFigure : std::uint8_t {
  kGrowth,     // keeps more memory in every step, unlike its role
  kAllocated,  // peak of allocated bytes, without DDP's buckets
  kBetween,    // allocated bytes when a step begins, without DDP's buckets
  kBuckets,    // bytes of DDP's buckets
  kReserved,   // peak of reserved bytes
  kOutside,    // peak of non-PyTorch memory, without NCCL's
  kAtEnd,      // bytes allocated at the end, without DDP's buckets
  kRose,       // a rank without peers needs more than in its own first steps (lone_ranks.h)
  kKilled,     // the rank was killed; the value is the number of its steps
  kFailed,     // an uncaught exception ended the rank; the value is the number of its steps
  kLeft,       // the rank ended without an error, and most other ranks failed; the value is the number of its steps
  kSteps,      // number of steps, if the rank has ended
};
std::string_view ToString(OddFigure figure);  // the name in JSON

// A row of the peak that is larger or smaller than usual.
struct OddRow {
  std::string by, name;
  std::uint64_t bytes = 0, usual = 0;
  std::uint64_t difference() const { return ApartBy(bytes, usual); }
};

// The rank that clearly ended before all other failed ranks.
struct FirstEnd {
  std::size_t rank = 0;         // index in OddRanks::ranks
  std::uint64_t before_ns = 0;  // time from its last sign of life to that of the next failed rank
};

// Differences between the programs of an odd rank and of a usual rank.
struct ProgramOfOddRank {
  std::size_t usual = 0;               // index in OddRanks::ranks
  std::vector<ProgramChange> changes;  // the usual rank is A, the odd rank is B
};

struct OddRank {
  // One rank, or several ranks that are odd in the same way: all ranks of a host, all ranks of the role at one index of
  // a dimension, or ranks that failed in the same way. If one of them ended before all other failed ranks, it comes
  // first.
  std::vector<std::size_t> ranks;
  std::string place;  // "dp 2", if `ranks` are all ranks of the role at that index
  std::size_t role = 0;
  OddFigure figure = OddFigure::kAllocated;
  // kKilled, kFailed, kLeft and kSteps: number of steps. kGrowth: peak of allocated bytes. Other figures: bytes. With
  // several `ranks`, the value of the rank that is furthest from `usual`.
  std::uint64_t value = 0, usual = 0;
  std::optional<std::uint64_t> since_step;  // step since which the rank is odd; empty: unknown
  std::uint64_t since_within = 1;           // uncertainty of since_step in steps: the length of a window
  // For kAllocated: how many bytes more than usual the rank has allocated when its steps begin, so that it keeps them
  // from step to step. 0: not more than usual.
  std::uint64_t more_between_steps = 0;
  // For kAllocated, kBetween and kGrowth: the row of each grouping that differs most, preferably one with a name.
  std::vector<OddRow> rows;
  std::optional<v1::GrowthSummary> growth;  // only for kGrowth
  // For figures of memory: the usual number of steps, if the rank ended after another number of steps. Otherwise empty.
  std::optional<std::uint64_t> usual_steps;
  std::optional<FirstEnd> first;            // set if one of `ranks` ended first
  std::optional<ProgramOfOddRank> program;  // see odd_programs.h; empty: not compared
  std::uint64_t difference() const { return ApartBy(value, usual); }
  bool is_about_the_end() const { return figure >= OddFigure::kKilled; }  // one of the last four
};

struct RoleFigures {
  std::uint64_t least = 0, median = 0, most = 0;  // peaks of allocated bytes
  std::optional<OddRow> special;  // module row with the largest excess over the median of all roles; may be empty
};

struct OddRanks {
  std::vector<RankFacts> ranks;
  std::vector<Role> roles;
  std::vector<RoleFigures> figures;  // by role
  // Ranks that left come first, then failed ranks, then figures of memory, then numbers of steps. In each of these
  // groups, findings with `first` come first, then the largest difference.
  std::vector<OddRank> odd;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ODD_RANK_H_
