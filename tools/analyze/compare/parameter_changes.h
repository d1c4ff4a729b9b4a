// Finds how the parameters of two captures differ: new and gone parameters, parameters with another size, parameters
// that only one program trains, and parameters that only one program shares.
#ifndef TOOLS_ANALYZE_COMPARE_PARAMETER_CHANGES_H_
#define TOOLS_ANALYZE_COMPARE_PARAMETER_CHANGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analyze/compare/matched_parts.h"

namespace memoir {

// A parameter that both captures have, under its common name.
struct MatchedParameter {
  std::string name;  // "layers.*.up.weight"
  std::string root;  // class of the outermost module
  TensorShape a, b;
  std::int64_t bytes = 0;  // B's bytes minus A's
  bool is_trained_in_a = false, is_trained_in_b = false;
  std::uint64_t impl_a = 0, impl_b = 0;  // addresses of the TensorImpls
};
std::vector<MatchedParameter> MatchParameters(const CaptureHoldings& a, const CaptureHoldings& b,
                                              const MatchedNames& names);

// Returns changes of Kind::kNewParameters and Kind::kGoneParameters.
std::vector<ProgramChange> FindOtherParameters(const CaptureHoldings& a, const CaptureHoldings& b,
                                               const MatchedNames& names);

// Returns changes of Kind::kShared and Kind::kUnshared.
std::vector<ProgramChange> FindSharedChanges(const std::vector<MatchedParameter>& parameters);

// Returns changes of Kind::kSizes. Sizes that grew by the same factor, such as 128 to 256 and 512 to 1024, are one
// change. ProgramChange::a and b are the pair that the largest number of parameters has.
std::vector<ProgramChange> FindSizeChanges(const std::vector<MatchedParameter>& parameters);

// Returns changes of Kind::kTrained and Kind::kFrozen. Empty if a capture trains no parameter: either its program
// does not train, or its parameters are views of flat parameters (FSDP).
std::vector<ProgramChange> FindTrainedChanges(const std::vector<MatchedParameter>& parameters);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_PARAMETER_CHANGES_H_
