// How many replays each verb needs, for a training loop on a GPU with leaks and out-of-memory errors, and how often it
// decodes each chunk.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tests/fuzz/whole_captures.h"
#include "tools/analyze/report/report_analysis.h"
#include "tools/analyze/report/report_content.h"
#include "tools/analyze/summary/peak_owners.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/model/parts/replay_work.h"

namespace memoir {
namespace {

using testing::MakeProcess;
using testing::Operators;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

using Verb = int (*)(const std::vector<std::string>& arguments);

// `memoir report` without its page, which the tree of a test does not have.
int AnalyzeWholeReport(const std::vector<std::string>& arguments) {
  const auto capture = Capture::Open(arguments.back());
  return capture.ok() && AnalyzeReport(*capture, {}).ok() ? kExitFine : kExitError;
}

// The analysis for the lines that `memoir run` prints at its end.
int AnalyzeRun(const std::vector<std::string>& arguments) {
  const auto capture = Capture::Open(arguments.back());
  return capture.ok() && AnalyzePeakOwners(*capture, {}).ok() ? kExitFine : kExitError;
}

int DiffWithCopy(const std::vector<std::string>& arguments) {
  const TemporaryFolder copy;
  std::filesystem::copy(arguments.back(), copy.path(), std::filesystem::copy_options::recursive);
  std::vector<std::string> both = arguments;
  both.push_back(copy.path());
  return DiffVerb(both);
}

int ExplainFirst(const std::vector<std::string>& arguments) { return ExplainVerb({arguments.back(), "aten::add#0"}); }

// With a file for the formats that are not text.
int ExportIntoFile(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  return ExportVerb({arguments.front(), arguments.back(), "-o", folder.path() + "/file.json"});
}

struct Case {
  std::string name;
  Verb verb;
  std::vector<std::string> options;
  std::uint64_t replays;
  std::uint64_t decodings = 1;  // of each chunk
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class Replays : public ::testing::TestWithParam<Case> {};

TEST_P(Replays, AreFew) {
  const Case& one = GetParam();
  ProcessBuilder process = MakeProcess(Operators::kAboveAutograd);
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  std::vector<std::string> arguments = one.options;
  arguments.push_back(folder.path());
  const std::uint64_t replays = TotalReplayWork().replays, chunks = TotalReplayWork().decoded_chunks;
  ::testing::internal::CaptureStdout();
  const int code = one.verb(arguments);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(code == kExitFine || code == kExitFinding) << code << ": " << text;
  EXPECT_EQ(TotalReplayWork().replays - replays, one.replays);
  constexpr std::uint64_t kChunks = 6;
  EXPECT_EQ(TotalReplayWork().decoded_chunks - chunks, kChunks * one.decodings);
}

// The second replay needs what the first one finds: categories, instants, or the ends of ranges. A third replay finds
// the causes of leaks, and the steps with which an out-of-memory error is compared. `diff` replays both captures. The
// replays of `show` without categories are these:
// 1. up to the first chunk in which a GPU allocates;
// 2. library workspaces, and whether there are errors;
// 3. the rows without these workspaces, and the categories for the errors;
// 4. the errors;
// 5. the steps with which the errors are compared.
INSTANTIATE_TEST_SUITE_P(
    OfVerbs, Replays,
    ::testing::Values(
        Case{"show", ShowVerb, {}, 5}, Case{"show_category", ShowVerb, {"--by", "category"}, 3},
        Case{"show_at", ShowVerb, {"--at", "end"}, 2}, Case{"show_over_time", ShowVerb, {"--over", "time"}, 2},
        Case{"show_checkpoint", ShowVerb, {"--by", "checkpoint"}, 2}, Case{"check", CheckVerb, {}, 3},
        Case{"check_leaks", CheckVerb, {"leaks"}, 3}, Case{"diff", DiffWithCopy, {}, 4, 2},
        Case{"show_tree", ShowVerb, {"--tree"}, 1}, Case{"show_over_operators", ShowVerb, {"--over", "operators"}, 1},
        Case{"show_kernel", ShowVerb, {"--by", "kernel"}, 1}, Case{"show_stack", ShowVerb, {"--by", "stack"}, 1},
        Case{"explain", ExplainFirst, {}, 2}, Case{"export_events", ExportIntoFile, {"events"}, 1},
        Case{"export_categories", ExportIntoFile, {"categories"}, 2},
        Case{"export_data_flow", ExportIntoFile, {"data-flow"}, 1}, Case{"export_tree", ExportIntoFile, {"tree"}, 2},
        Case{"export_memory_timeline", ExportIntoFile, {"memory-timeline"}, 1},
        Case{"export_collapsed", ExportIntoFile, {"collapsed"}, 1},
        Case{"export_perfetto", ExportIntoFile, {"perfetto"}, 2}, Case{"export_sqlite", ExportIntoFile, {"sqlite"}, 2},
        Case{"export_torch_snapshot", ExportIntoFile, {"torch-snapshot"}, 3}, Case{"report", AnalyzeWholeReport, {}, 3},
        Case{"run", AnalyzeRun, {}, 3}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace memoir
