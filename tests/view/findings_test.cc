// The report page's text for each check.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/report/report_analysis.h"
#include "tools/analyze/report/report_content.h"
#include "tools/view/report/report_facts.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using Answer = ReportFinding::Answer;

std::map<std::string, ReportFinding> Findings(ProcessBuilder& process, const absl::StatusOr<Fragmentation>& found) {
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  const absl::StatusOr<ReportContent> report = AnalyzeReport(*capture, {});
  EXPECT_TRUE(report.ok()) << report.status();
  std::map<std::string, ReportFinding> findings;
  for (const ReportFinding& finding : FindingsOf(*capture, *report, found, Balance(), "run", "run"))
    findings[finding.check] = finding;
  return findings;
}

TEST(Findings, WhatCannotBeKnownIsNotFine) {
  ProcessBuilder process;
  process.Allocate(0x1000, 10);
  const auto findings = Findings(process, Fragmentation());
  EXPECT_EQ(findings.at("oom").answer, Answer::kFine);
  EXPECT_EQ(findings.at("frag").answer, Answer::kFine);
  EXPECT_EQ(findings.at("balance").answer, Answer::kFine) << "no GPU";
  EXPECT_EQ(findings.at("leaks").answer, Answer::kNotKnown) << "no step";
}

TEST(Findings, AFailedAnalysisSaysItsError) {
  ProcessBuilder process;
  process.Allocate(0x1000, 10);
  const ReportFinding finding = Findings(process, absl::InternalError("no room")).at("frag");
  EXPECT_EQ(finding.answer, Answer::kNotKnown);
  EXPECT_EQ(finding.headline, "not known: no room");
}

}  // namespace
}  // namespace memoir
