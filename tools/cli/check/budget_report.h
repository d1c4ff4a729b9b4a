// Results of --fail-if outside of a terminal: a comment in a review, the annotations of GitHub and GitLab.
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
  std::optional<bool> holds;  // true: failed; nullopt: unknown
  std::string said;           // "FAILED, it is 2.1 GiB, and was 2.0 GiB (+5.00%)"
  bool grew = false;          // failed in comparison with the baseline; the shown comparison is about it
};

struct BudgetRow {
  std::string name;
  std::string before, now, difference;
};

struct BudgetReport {
  std::string capture;
  std::vector<BudgetLine> lines;
  // From the comparison with the baseline; empty without one.
  std::string headline;
  SourceLine cause;  // the line that grew most; empty: unknown
  std::string by;    // the kind of rows: "line"
  std::vector<BudgetRow> rows;
  std::string more;  // a command

  bool failed() const;  // returns true if at least one failed
  bool known() const;   // returns true if all are known
};

// Markdown: a heading, a table of the conditions, the main cause, a table of rows. GitHub: a workflow command a line.
// GitLab: a Code Quality report, which is JSON. Ends with a newline.
std::string Render(const BudgetReport& report, BudgetFormat format);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_BUDGET_REPORT_H_
