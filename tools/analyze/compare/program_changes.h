// Finds how the programs of two captures differ, as far as the captures show it: modules, sizes, data types,
// inputs, optimizers, checkpointing. One such change of the program is often the common cause of differences at many
// lines.
#ifndef TOOLS_ANALYZE_COMPARE_PROGRAM_CHANGES_H_
#define TOOLS_ANALYZE_COMPARE_PROGRAM_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/compare/matched_parts.h"

namespace memoir {

// Returns the changes between the programs of A and B, ordered by kind.
std::vector<ProgramChange> FindProgramChanges(const CaptureHoldings& a, const CaptureHoldings& b,
                                              const MatchedNames& names);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_PROGRAM_CHANGES_H_
