// The summary that `memoir run` prints for a recording that a test has built.
#ifndef TESTS_VIEW_SHOWN_RUN_H_
#define TESTS_VIEW_SHOWN_RUN_H_

#include <gtest/gtest.h>

#include <string>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/peak_owners.h"
#include "tools/view/summary/ending_text.h"
#include "tools/view/summary/run_summary_text.h"
#include "tools/view/terminal/terminal.h"

namespace memoir::testing {

inline std::string ShownRun(ProcessBuilder& process, const CommandEnd& command = {}) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  const absl::StatusOr<PeakOwners> owners = AnalyzePeakOwners(*capture, {});
  EXPECT_TRUE(owners.ok()) << owners.status();
  return RenderRunSummary(*capture, *owners, {.capture = "run1"}, {.width = 200}, command);
}

}  // namespace memoir::testing

#endif  // TESTS_VIEW_SHOWN_RUN_H_
