// The conditions of `memoir check --fail-if`: a figure of a capture, a comparison, a value.
#ifndef TOOLS_CLI_CHECK_FAIL_IF_H_
#define TOOLS_CLI_CHECK_FAIL_IF_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/check/check_figures.h"

namespace memoir {

// "unexplained>1GiB", "unusable>=20%", "num_ooms>0", "peak_allocated>+1%", "module:layers.*>+64MiB"
struct FailIf {
  std::string text;
  std::string figure;   // "peak_allocated", "module", "category"
  std::string of;       // which module or category; "" of the other figures
  std::string compare;  // ">", ">=", "<", "<=", "=="
  double value = 0;     // bytes, a count, or percent
  bool percent = false;
  bool relative = false;  // to the baseline: so much more than it
};

// InvalidArgument: says what there is instead.
absl::StatusOr<FailIf> ParseFailIf(const std::string& text);

// Each figure with what it is, a line each, for the help.
std::string FailIfFigures();

struct Verdict {
  std::optional<bool> holds;  // empty: the figure is not known
  bool sure = true;           // false: of what was recorded, which is not all
  std::string why;            // it is not known, or not sure
  std::string figure;         // "1.4 GiB", "2"; "" where it is not known
};
// `baseline`: of a condition that is relative; else nullptr.
Verdict Judge(const FailIf& condition, const CheckedFigures& figures, const CheckedFigures* baseline);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_FAIL_IF_H_
