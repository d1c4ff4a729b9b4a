// Compares the program of an odd rank with the program of a usual rank, as `memoir diff` does for two recordings. Often
// the difference is the reason why the rank is odd: a larger batch, another data type, a longer sequence.
#ifndef TOOLS_ANALYZE_RANKS_ODD_PROGRAMS_H_
#define TOOLS_ANALYZE_RANKS_ODD_PROGRAMS_H_

#include <cstddef>
#include <functional>

#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/model/capture.h"

namespace memoir {

// Fills in OddRank::program for the first `most` findings about peaks of allocated bytes (kAllocated): compares the
// finding's first rank with a member of its role that called the same modules. Leaves out findings whose recordings
// cannot be read, or do not show the difference. Each comparison replays two recordings. `capture`: the job.
// `progress`: called with 0..1.
void AddPrograms(const Capture& capture, std::size_t most, const std::function<void(double)>& progress,
                 OddRanks& found);

// Returns true if AddPrograms would compare the finding.
bool HasProgramToCompare(const OddRank& odd);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_ODD_PROGRAMS_H_
