// Finds how two programs differ in the calls of their models and in the use of gradients.
#ifndef TOOLS_ANALYZE_COMPARE_CALL_CHANGES_H_
#define TOOLS_ANALYZE_COMPARE_CALL_CHANGES_H_

#include <vector>

#include "tools/analyze/compare/matched_parts.h"

namespace memoir {

// Returns changes of the kinds kAutogradOn, kAutogradOff, kNewCall, kGoneCall, kCallsInStep and kCallsInCall.
std::vector<ProgramChange> FindCallChanges(const CaptureHoldings& a, const CaptureHoldings& b,
                                           const MatchedNames& names);
// Returns changes of gradients and of autograd in backward: of the kinds kGradients, kAutogradOn and kAutogradOff.
std::vector<ProgramChange> FindGradientChanges(const CallFacts& a, const CallFacts& b, const MatchedNames& names);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_CALL_CHANGES_H_
