#include "tools/cli/check/budget_report.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "fmt/format.h"
#include "tools/view/json/json.h"

namespace memoir {
namespace {

// Escapes characters of Markdown and HTML in names that come from a capture.
std::string InMarkdown(std::string_view text) {
  return absl::StrReplaceAll(std::string(text), {{"\\", "\\\\"},
                                                 {"&", "&amp;"},
                                                 {"@", "&#64;"},
                                                 {"#", "\\#"},
                                                 {"~", "\\~"},
                                                 {"://", "&#58;//"},
                                                 {"<", "&lt;"},
                                                 {"|", "\\|"},
                                                 {"`", "\\`"},
                                                 {"*", "\\*"},
                                                 {"_", "\\_"},
                                                 {"[", "\\["},
                                                 {"\n", " "}});
}

std::string Code(std::string_view text) {
  return "`" + absl::StrReplaceAll(std::string(text), {{"`", "'"}, {"\n", " "}}) + "`";
}

// Returns `text` as code in a cell of a table. A bar would begin the next cell, so a backslash escapes the bar. A
// backslash before this escape would undo it, so slashes replace backslashes.
std::string CodeInTable(std::string_view text) { return absl::StrReplaceAll(Code(text), {{"\\", "/"}, {"|", "\\|"}}); }

std::string Markdown(const BudgetReport& report) {
  const char* const verdict = report.failed() ? "over the budget" : report.known() ? "within the budget" : "not known";
  std::string text = fmt::format("### Memory: {}\n\n| condition | |\n|---|---|\n", verdict);
  for (const BudgetLine& line : report.lines)
    text += fmt::format("| {} | {} |\n", CodeInTable(line.condition), InMarkdown(line.said));
  if (!report.headline.empty()) text += "\n**" + InMarkdown(report.headline) + "**\n";
  if (!report.rows.empty()) {
    text += fmt::format("\n| {} | before | now | difference |\n|---|---:|---:|---:|\n", report.by);
    for (const BudgetRow& row : report.rows)
      text += fmt::format("| {} | {} | {} | {} |\n", CodeInTable(row.name), row.before, row.now, row.difference);
  }
  if (!report.more.empty()) text += "\n" + Code(report.more) + "\n";
  return text;
}

// The CI runner expects paths relative to the folder in which the job runs.
std::string RelativePath(const std::string& file) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || file.empty() || file.front() != '/') return file;
  const std::filesystem::path path = std::filesystem::path(file).lexically_relative(here);
  return path.empty() || path.string().starts_with("..") ? file : path.string();
}

std::string InWorkflowMessage(std::string_view text) {
  return absl::StrReplaceAll(std::string(text), {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}});
}

std::string InWorkflowProperty(std::string_view text) {
  return absl::StrReplaceAll(InWorkflowMessage(text), {{":", "%3A"}, {",", "%2C"}});
}

// Describes a condition and its result.
std::string ConditionText(const BudgetReport& report, const BudgetLine& line) {
  return line.condition + ": " + line.said + (line.grew ? "\n" + report.headline : "");
}

std::string Github(const BudgetReport& report) {
  std::string text;
  for (const BudgetLine& line : report.lines) {
    const bool failed = line.holds.value_or(true);
    std::string place;
    if (line.grew && !report.cause.file.empty()) {
      place = " file=" + InWorkflowProperty(RelativePath(report.cause.file)) +
              (report.cause.line > 0 ? fmt::format(",line={}", report.cause.line) : "") + ",title=Memory budget";
    } else {
      place = " title=Memory budget";
    }
    text +=
        fmt::format("::{}{}::{}\n", failed ? "error" : "notice", place, InWorkflowMessage(ConditionText(report, line)));
  }
  return text;
}

std::string Gitlab(const BudgetReport& report) {
  Json issues = Json::array();
  for (const BudgetLine& line : report.lines) {
    if (!line.holds.value_or(true)) continue;
    const bool placed = line.grew && !report.cause.file.empty();
    const std::string file = placed ? RelativePath(report.cause.file) : report.capture;
    issues.push_back(
        {{"description", ConditionText(report, line)},
         {"check_name", "memoir"},
         // The fingerprint stays the same as long as the condition and the file stay the same.
         {"fingerprint", fmt::format("{:016x}", std::hash<std::string>()(line.condition + "\n" + file))},
         {"severity", line.holds ? "major" : "minor"},
         {"location", {{"path", file}, {"lines", {{"begin", placed ? std::max(report.cause.line, 1u) : 1u}}}}}});
  }
  return ToText(issues);
}

}  // namespace

std::optional<BudgetFormat> ParseBudgetFormat(const std::string& text) {
  if (text == "text") return BudgetFormat::kText;
  if (text == "markdown") return BudgetFormat::kMarkdown;
  if (text == "github") return BudgetFormat::kGithub;
  if (text == "gitlab") return BudgetFormat::kGitlab;
  return std::nullopt;
}

bool BudgetReport::failed() const {
  return std::ranges::any_of(lines, [](const BudgetLine& line) { return line.holds.value_or(false); });
}

bool BudgetReport::known() const {
  return std::ranges::all_of(lines, [](const BudgetLine& line) { return line.holds.has_value(); });
}

std::string Render(const BudgetReport& report, BudgetFormat format) {
  switch (format) {
    case BudgetFormat::kMarkdown:
      return Markdown(report);
    case BudgetFormat::kGithub:
      return Github(report);
    case BudgetFormat::kGitlab:
      return Gitlab(report);
    case BudgetFormat::kText:
      break;
  }
  return "";
}

}  // namespace memoir
