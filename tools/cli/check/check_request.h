// The options of `memoir check`, and the request that these options form together.
#ifndef TOOLS_CLI_CHECK_CHECK_REQUEST_H_
#define TOOLS_CLI_CHECK_CHECK_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/pass/instant_choice.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/check/budget_report.h"
#include "tools/cli/check/fail_condition.h"

namespace memoir {

struct CheckArguments : SelectionArguments {
  std::vector<std::string> words;  // the check, then the captures
  std::vector<std::string> fail_if;
  std::string baseline;  // a capture; "": no baseline
  std::string format = "text";
  std::optional<std::string> at;
  std::optional<std::uint32_t> top;
  bool json = false, brief = false;
};

// A valid request.
struct CheckRequest {
  std::string check;  // "": all checks
  std::vector<std::string> paths;
  std::vector<FailCondition> conditions;
  BudgetFormat format = BudgetFormat::kText;
  // True if a baseline, or a format other than text, is given without the name of a check. Then only the conditions are
  // evaluated.
  bool only_conditions = false;
  InstantChoice at;
  std::string at_text = "peak";
};

// The checks that run if no check is named, in order. The check `ranks` is not among them: it compares the ranks of a
// job, and runs only if it is named.
const std::vector<std::string>& CheckNames();
inline constexpr char kRanksCheck[] = "ranks";
VerbHelp CheckHelp();
void AddCheckOptions(CLI::App& app, CheckArguments& arguments);
// Fills `asked`. Returns a description of the first invalid argument; empty if all are valid.
std::string UnderstandArguments(const CheckArguments& arguments, CheckRequest& asked);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_CHECK_REQUEST_H_
