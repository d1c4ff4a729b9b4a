// Compares two captures for `memoir diff`: the memory of their devices at an instant, and their programs.
#ifndef TOOLS_ANALYZE_COMPARE_COMPARE_CAPTURES_H_
#define TOOLS_ANALYZE_COMPARE_COMPARE_CAPTURES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/compare/comparison.h"
#include "tools/model/capture.h"

namespace memoir {

struct CompareOptions {
  Selection a, b;  // equal, except that each capture may define steps in its own way
  InstantChoice at;
  std::optional<GroupBy> by;  // nullopt: by line if a capture has stacks, else by module, else by operator
  std::vector<Rename> renames;
};

// Returns the comparison. If the analysis of one capture fails, returns its error.
absl::StatusOr<Comparison> CompareCaptures(const Capture& a, const Capture& b, const CompareOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_COMPARE_CAPTURES_H_
