// The output of `memoir check`'s conditions for GitHub, GitLab and Markdown.
#include "tools/cli/check/budget_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tools/view/json/json.h"

namespace memoir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

BudgetReport Grown() {
  BudgetReport report;
  report.capture = "run7";
  report.lines = {{"peak_allocated>+1%", true, "FAILED, it is 2.00 GiB, and was 1.00 GiB (+100.00%)", true},
                  {"num_ooms>0", true, "FAILED, it is 1", false}};
  report.headline = "+1.00 GiB at the peak of cuda:0: train.py:31";
  report.cause = {(std::filesystem::current_path() / "src" / "a,b.py").string(), "main", 31};
  return report;
}

TEST(BudgetReport, PlacesOnlyWhatGrew) {
  const std::string text = Render(Grown(), BudgetFormat::kGithub);
  EXPECT_THAT(text, StartsWith("::error file=src/a%2Cb.py,line=31,title=Memory budget::peak_allocated>+1%25: FAILED"));
  EXPECT_THAT(text, HasSubstr("%0A+1.00 GiB at the peak of cuda:0: train.py:31\n"));
  EXPECT_THAT(text, HasSubstr("\n::error title=Memory budget::num_ooms>0: FAILED, it is 1\n"));
  const Json issues = Json::parse(Render(Grown(), BudgetFormat::kGitlab));
  ASSERT_EQ(issues.size(), 2u);
  EXPECT_EQ(issues[0]["location"], Json({{"path", "src/a,b.py"}, {"lines", {{"begin", 31}}}}));
  EXPECT_EQ(issues[1]["location"], Json({{"path", "run7"}, {"lines", {{"begin", 1}}}}));
}

TEST(BudgetReport, AFileOutsideOfTheFolderKeepsItsPath) {
  BudgetReport report = Grown();
  report.cause.file = "/elsewhere/train.py";
  EXPECT_THAT(Render(report, BudgetFormat::kGithub), StartsWith("::error file=/elsewhere/train.py,line=31,"));
}

TEST(BudgetReport, NamesOfAProgramAreTextToMarkdown) {
  BudgetReport report = Grown();
  report.headline = "+1 B: @team \\*x\\* [a](https://evil) #12 ~~b~~ <img>";
  report.by = "line";
  report.rows = {{"a\\|b`c", "0 B", "1 B", "+1 B"}};
  const std::string text = Render(report, BudgetFormat::kMarkdown);
  EXPECT_THAT(text, StartsWith("### Memory: over the budget\n"));
  EXPECT_THAT(text,
              AllOf(Not(HasSubstr("@team")), Not(HasSubstr("://")), Not(HasSubstr("<img")), Not(HasSubstr("~~b"))));
  EXPECT_THAT(text, HasSubstr("\\\\\\*x")) << "the backslash of the name is one, too";
  EXPECT_THAT(text, HasSubstr("\n| `a/\\|b'c` | 0 B | 1 B | +1 B |\n"));
}

TEST(BudgetReport, WhatIsNotKnownIsNoFailureAndNoPass) {
  BudgetReport report;
  report.lines = {{"peak_allocated>1GiB", false, "passed, it is 1 B"}, {"num_ooms>0", {}, "not known: dropped"}};
  EXPECT_THAT(Render(report, BudgetFormat::kMarkdown), StartsWith("### Memory: not known\n"));
  EXPECT_THAT(Render(report, BudgetFormat::kGithub), HasSubstr("::error title=Memory budget::num_ooms>0: not known"));
  report.lines.pop_back();
  EXPECT_THAT(Render(report, BudgetFormat::kMarkdown), StartsWith("### Memory: within the budget\n"));
}

}  // namespace
}  // namespace memoir
