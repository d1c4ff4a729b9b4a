// Finds the models that read inputs of another shape in B than in A: a larger batch, a longer sequence.
#ifndef TOOLS_ANALYZE_COMPARE_INPUT_CHANGES_H_
#define TOOLS_ANALYZE_COMPARE_INPUT_CHANGES_H_

#include <vector>

#include "tools/analyze/compare/matched_parts.h"

namespace memoir {

// Returns a change of Kind::kInputs for each outermost module whose input changed. Whole models come first. Modules
// that lie inside of a model, and that the program called directly, come last. A module without parameters, such as a
// loss, is left out if the input of a module with parameters changed, because the first change follows from the second.
std::vector<ProgramChange> FindInputChanges(const CaptureHoldings& a, const CaptureHoldings& b,
                                            const MatchedNames& names);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_INPUT_CHANGES_H_
