// Writes the results of `memoir check --fail-if` for a code review: as a comment in Markdown, or as annotations for
// GitHub or GitLab.
#ifndef TOOLS_CLI_CHECK_BUDGET_REPORT_H_
#define TOOLS_CLI_CHECK_BUDGET_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/grouping/source_lines.h"

namespace memoir {

enum class BudgetFormat : std::uint8_t { kText, kMarkdown, kGithub, kGitlab };
// Returns nullopt for an unknown format.
std::optional<BudgetFormat> ParseBudgetFormat(const std::string& text);

struct BudgetLine {
  std::string condition;
  std::optional<bool> holds;  // true: the condition holds, so the check failed; nullopt: unknown
  std::string said;           // the result: "FAILED, it is 2.1 GiB, and was 2.0 GiB (+5.00%)"
  bool grew = false;          // true: grew since the baseline more than allowed; headline and rows explain it
};

struct BudgetRow {
  std::string name;
  std::string before, now, difference;
};

struct BudgetReport {
  std::string capture;
  std::vector<BudgetLine> lines;
  // The following members are from the comparison with the baseline, and are empty without a baseline.
  std::string headline;
  SourceLine cause;  // the line that grew most; empty: unknown
  std::string by;    // the kind of rows: "line"
  std::vector<BudgetRow> rows;
  std::string more;  // a command that shows more

  bool failed() const;  // returns true if at least one condition failed
  bool known() const;   // returns true if all conditions are known
};

// Returns the report. Markdown: a heading, a table of the conditions, the main cause, a table of rows. GitHub: lines
// with one workflow command each. GitLab: a Code Quality report, which is JSON. Ends with a newline.
std::string Render(const BudgetReport& report, BudgetFormat format);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_BUDGET_REPORT_H_
