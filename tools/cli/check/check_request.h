// What memoir check was asked: its options, and what they mean together.
#ifndef TOOLS_CLI_CHECK_CHECK_REQUEST_H_
#define TOOLS_CLI_CHECK_CHECK_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/pass/at.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/check/budget_report.h"
#include "tools/cli/check/fail_if.h"

namespace memoir {

struct CheckArguments : SelectionArguments {
  std::vector<std::string> words;  // which check, then the captures
  std::vector<std::string> fail_if;
  std::string baseline;  // a capture; "": none
  std::string format = "text";
  std::optional<std::string> at;
  std::optional<std::uint32_t> top;
  bool json = false, brief = false;
};

// What was asked for, once it is known to make sense.
struct Asked {
  std::string check;  // "": all
  std::vector<std::string> paths;
  std::vector<FailIf> conditions;
  BudgetFormat format = BudgetFormat::kText;
  // With a baseline and no check's name the conditions alone count.
  bool only_conditions = false;
  At at;
  std::string at_text = "peak";
};

// Those that run without a name, in their order. `ranks` is of a job and runs when it is named.
const std::vector<std::string>& CheckNames();
VerbHelp CheckHelp();
void AddCheckOptions(CLI::App& app, CheckArguments& arguments);
// What is wrong with the arguments; "" when all is well.
std::string Understand(const CheckArguments& arguments, Asked& asked);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_CHECK_REQUEST_H_
