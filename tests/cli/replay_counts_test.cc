// How many replays each verb needs, for a training loop on a GPU with leaks and out-of-memory errors. Each chunk is
// decoded once.
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

struct Case {
  std::string name;
  Verb verb;
  std::vector<std::string> options;
  std::uint64_t replays;
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
  EXPECT_EQ(TotalReplayWork().decoded_chunks - chunks, kChunks * (one.verb == DiffWithCopy ? 2 : 1));
}

// A third replay is for the causes of leaks, and for what an out-of-memory error is compared with. Without categories a
// summary first looks for a GPU, then for library workspaces, and learns only then of the errors.
INSTANTIATE_TEST_SUITE_P(
    OfVerbs, Replays,
    ::testing::Values(Case{"show", ShowVerb, {}, 5}, Case{"show_category", ShowVerb, {"--by", "category"}, 3},
                      Case{"show_at", ShowVerb, {"--at", "end"}, 2},
                      Case{"show_over_time", ShowVerb, {"--over", "time"}, 2},
                      Case{"show_checkpoint", ShowVerb, {"--by", "checkpoint"}, 2}, Case{"check", CheckVerb, {}, 3},
                      Case{"check_leaks", CheckVerb, {"leaks"}, 3}, Case{"diff", DiffWithCopy, {}, 6},
                      Case{"report", AnalyzeWholeReport, {}, 3}, Case{"run", AnalyzeRun, {}, 3}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace memoir
