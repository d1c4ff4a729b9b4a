// The conditions of `memoir check --fail-if`: a figure of a capture, a comparison, a value.
#ifndef TOOLS_CLI_CHECK_FAIL_CONDITION_H_
#define TOOLS_CLI_CHECK_FAIL_CONDITION_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/check/check_figures.h"

namespace memoir {

// "unexplained>1GiB", "unusable>=20%", "num_ooms>0", "peak_allocated>+1%", "module:layers.*>+64MiB"
struct FailCondition {
  std::string text;
  std::string figure;   // "peak_allocated", "module", "category"
  std::string of;       // the module or category; "" for other figures
  std::string compare;  // ">", ">=", "<", "<=", "=="
  double value = 0;     // bytes, a count, or percent
  bool percent = false;
  bool relative = false;  // true: `value` is the growth over the baseline that is allowed
};

// Returns InvalidArgument for wrong text; the message names the alternatives.
absl::StatusOr<FailCondition> ParseFailCondition(const std::string& text);

// Returns all figures with their meanings, separated by semicolons, for the help.
std::string FiguresOfConditions();

struct ConditionResult {
  std::optional<bool> holds;  // nullopt: the figure is unknown
  bool sure = true;           // false: not everything was recorded, and the rest could change `holds`
  std::string why;            // why the figure is unknown, or why records are missing
  std::string figure;         // "1.4 GiB", "2"; "" if unknown
};
// `baseline`: the figures of --baseline, which relative conditions need; nullptr without --baseline.
ConditionResult JudgeCondition(const FailCondition& condition, const FigureSources& figures,
                               const FigureSources* baseline);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_FAIL_CONDITION_H_
