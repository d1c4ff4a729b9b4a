// The text of every view for the sample captures, compared with files in this folder. A reviewer reads their changes.
//
// To regenerate: MEMOIR_UPDATE_GOLDEN=1 <build>/tests/golden/views_test
#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/captures/capture_builder.h"
#include "tests/golden/expect_golden.h"
#include "tests/golden/sample_captures.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/analyze/lives/explain.h"
#include "tools/analyze/pass/event_stream.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/analyze/summary/peak_owners.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/time/live_block_table.h"
#include "tools/analyze/time/operator_curve.h"
#include "tools/analyze/time/over_time_curves.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/analyze/tree/range_tree_analysis.h"
#include "tools/view/accounting/balance_view.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/checkpointing/checkpoint_view.h"
#include "tools/view/events/event_json.h"
#include "tools/view/lives/explain_view.h"
#include "tools/view/oom/out_of_memory_json.h"
#include "tools/view/oom/out_of_memory_text.h"
#include "tools/view/segments/fragmentation_view.h"
#include "tools/view/summary/run_summary_text.h"
#include "tools/view/summary/summary_json.h"
#include "tools/view/summary/summary_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/time/live_block_table_view.h"
#include "tools/view/time/operator_curve_view.h"
#include "tools/view/time/over_time_picture.h"
#include "tools/view/time/over_time_view.h"
#include "tools/view/tree/tree_view.h"

namespace memoir {
namespace {

using ::memoir::testing::TemporaryFolder;
using ::memoir::testing::WriteSample;

constexpr Terminal kNarrow = {.width = 80};
constexpr Terminal kWide = {.width = 160};

class Views : public ::testing::Test {
 protected:
  Capture Open(const std::string& name) {
    WriteSample(name, folder_ / name);
    auto capture = Capture::Open(folder_ / name);
    EXPECT_TRUE(capture.ok()) << capture.status();
    return *std::move(capture);
  }

  // One file for each case of this test program: views/NAME.txt or .json.
  void ExpectGolden(const std::string& file, const std::string& shown) {
    testing::ExpectGolden(file, testing::WithoutFolder(shown, folder_.path(), "CAPTURE"));
  }

  static Summary Summarise(const Capture& capture, const SummaryOptions& options = {}) {
    auto summary = AnalyzeSummary(capture, options);
    EXPECT_TRUE(summary.ok()) << summary.status();
    return *std::move(summary);
  }

  TemporaryFolder folder_;
};

TEST_F(Views, SummaryOfEachSample) {
  for (const std::string& name : ::memoir::testing::SampleNames()) {
    const Capture capture = Open(name);
    ExpectGolden("summary_" + name + ".txt", RenderSummary(capture, Summarise(capture), {}, kNarrow));
    if (!testing::IsJsonSample(name)) continue;
    ExpectGolden("summary_" + name + ".json", ToText(SummaryJson(capture, Summarise(capture), 0)));
  }
}

TEST_F(Views, SummaryWide) {
  const Capture capture = Open("odd_names");
  ExpectGolden("summary_odd_names_wide.txt", RenderSummary(capture, Summarise(capture), {}, kWide));
}

// At most 12 lines, whatever went wrong; after an out-of-memory error 12 more, for its message.
TEST_F(Views, RunSummary) {
  for (const std::string& name : ::memoir::testing::SampleNames()) {
    const Capture capture = Open(name);
    const auto owners = AnalyzePeakOwners(capture, {});
    ASSERT_TRUE(owners.ok()) << owners.status();
    const std::string text = RenderRunSummary(capture, *owners, {.capture = "run1"}, kNarrow);
    const bool ran_out = !owners->by_category.out_of_memory.empty();
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kLinesOfRunSummary + (ran_out ? 7 : 0)) << name;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), kNarrow.width) << line;
    ExpectGolden("run_" + name + ".txt", text);
  }
}

TEST_F(Views, RunSummaryOfALeak) {
  testing::ProcessBuilder process;
  for (std::uint64_t step = 0; step < 9; ++step)
    process.Step(step).Stack({{"/src/me/train.py", "remember", 40}}).Allocate(0x1000 + step * 0x100000, 1 << 20);
  process.WriteTo(folder_ / "leak");
  const Capture capture = *Capture::Open(folder_ / "leak");
  const auto owners = AnalyzePeakOwners(capture, {});
  ASSERT_TRUE(owners.ok()) << owners.status();
  ExpectGolden("run_leak.txt", RenderRunSummary(capture, *owners, {.capture = "run1"}, kNarrow));
}

TEST_F(Views, SummaryByEachGrouping) {
  for (const std::string by : {"operator", "leaf", "range", "thread", "shape", "rank"}) {
    SummaryOptions options;
    options.by = *ParseGroupBy(by);
    for (const std::string name : {"training", "ranks", "job"}) {
      if (name == "job" && by != "rank") continue;
      const Capture capture = Open(name);
      const Summary summary = Summarise(capture, options);
      ExpectGolden("by_" + by + "_" + name + ".txt", RenderSummary(capture, summary, {.top = 2}, kNarrow));
      if (!testing::IsJsonSample(name)) continue;
      ExpectGolden("by_" + by + "_" + name + ".json", ToText(SummaryJson(capture, summary, 2)));
    }
  }
}

TEST_F(Views, SummaryByCategoryAndParameter) {
  const Capture capture = Open("trained");
  for (const std::string by : {"category", "category,module", "parameter"}) {
    SummaryOptions options;
    options.by = *ParseGroupBy(by);
    const Summary summary = Summarise(capture, options);
    const std::string name = by == "category,module" ? "category_module" : by;
    ExpectGolden("by_" + name + "_trained.txt", RenderSummary(capture, summary, {.top = 10}, kNarrow));
    ExpectGolden("by_" + name + "_trained.json", ToText(SummaryJson(capture, summary, 0)));
  }
}

// It is 40% of the peak of one sample, and not live at the peak of the other.
TEST_F(Views, AutogradDetailIsExplainedWhereItIsLarge) {
  SummaryOptions options;
  options.by = GroupBy::kCategory;
  const auto shown = [&](const Capture& capture) {
    return RenderSummary(capture, Summarise(capture, options), {}, kWide);
  };
  EXPECT_THAT(shown(Open("training")), ::testing::HasSubstr("autograd detail  gradients of activations, on their way"));
  EXPECT_THAT(shown(Open("trained")), ::testing::Not(::testing::HasSubstr("gradients of activations")));
}

TEST_F(Views, Checkpointing) {
  for (const std::string name : {"trained", "modules"}) {
    const Capture capture = Open(name);
    const auto checkpointing = AnalyzeCheckpointing(capture, {});
    ASSERT_TRUE(checkpointing.ok()) << checkpointing.status();
    ExpectGolden("by_checkpoint_" + name + ".txt", RenderCheckpointing(capture, *checkpointing, 0, kNarrow));
    ExpectGolden("by_checkpoint_" + name + ".json", ToText(CheckpointingJson(capture, *checkpointing, 0)));
  }
}

TEST_F(Views, Explained) {
  const Capture capture = Open("trained");
  for (const std::string subject : {"fc.weight", "aten::linear#1"}) {
    const auto explanation = ExplainBlocks(capture, {}, *ParseSubject(subject));
    ASSERT_TRUE(explanation.ok()) << explanation.status();
    const std::string name = subject == "fc.weight" ? "parameter" : "call";
    ExpectGolden("explain_" + name + ".txt", RenderExplanation(capture, *explanation, 4, kNarrow));
    ExpectGolden("explain_" + name + ".json", ToText(ExplanationJson(capture, *explanation)));
  }
}

TEST_F(Views, CategoriesOverTime) {
  const Capture capture = Open("trained");
  OverTimeOptions options;
  options.buckets = 30;
  options.categories = true;
  const auto over_time = AnalyzeOverTime(capture, options);
  ASSERT_TRUE(over_time.ok()) << over_time.status();
  ExpectGolden("over_time_category.txt", RenderOverTime(capture, *over_time, kNarrow));
  ExpectGolden("over_time_category.svg", OverTimeSvg(capture, *over_time));
}

TEST_F(Views, SummaryByModule) {
  SummaryOptions options;
  options.by = GroupBy::kModule;
  for (const std::string name : {"modules", "training", "folded_peak", "cuda"}) {
    const Capture capture = Open(name);
    const Summary summary = Summarise(capture, options);
    ExpectGolden("by_module_" + name + ".txt", RenderSummary(capture, summary, {.top = 4}, kNarrow));
    if (!testing::IsJsonSample(name)) continue;
    ExpectGolden("by_module_" + name + ".json", ToText(SummaryJson(capture, summary, 0)));
  }
}

TEST_F(Views, SummaryOfWindows) {
  const Capture capture = Open("training");
  const std::map<std::string, SelectionWindow> windows = {{"range", SelectionWindow::Range("forward")},
                                                          {"range_1", SelectionWindow::Range("forward", 1)},
                                                          {"steps", SelectionWindow::Steps(1, 2)}};
  for (const auto& [name, window] : windows) {
    SummaryOptions options;
    options.window = window;
    ExpectGolden("window_" + name + ".txt",
                 RenderSummary(capture, Summarise(capture, options), {.windowed = true}, kNarrow));
  }
}

TEST_F(Views, LiveAt) {
  const Capture capture = Open("training");
  for (const std::string at : {"peak", "end", "mark:model built", "2ms"}) {
    LiveBlockTableOptions options;
    options.at = *ParseInstantChoice(at);
    const auto live = AnalyzeLiveBlockTable(capture, options);
    ASSERT_TRUE(live.ok()) << live.status();
    const std::string file = "live_at_" + at.substr(0, at.find(':'));
    ExpectGolden(file + ".txt", RenderLiveBlockTable(capture, *live, at, 10, kNarrow));
    if (at != "peak" && at != "end") continue;
    ExpectGolden(file + ".json", ToText(LiveBlockTableJson(capture, *live, at, 0)));
  }
}

TEST_F(Views, LiveAtAnInstantThatWasNotRecorded) {
  const Capture capture = Open("cuda_lost");
  LiveBlockTableOptions options;
  options.at = *ParseInstantChoice("end");
  const auto live = AnalyzeLiveBlockTable(capture, options);
  ASSERT_TRUE(live.ok()) << live.status();
  ExpectGolden("live_at_end_cuda_lost.txt", RenderLiveBlockTable(capture, *live, "the end", 10, kNarrow));
  ExpectGolden("live_at_end_cuda_lost.json", ToText(LiveBlockTableJson(capture, *live, "end", 0)));
}

TEST_F(Views, LiveAtOutOfMemory) {
  const Capture capture = Open("cuda");
  LiveBlockTableOptions options;
  options.at = *ParseInstantChoice("oom");
  const auto live = AnalyzeLiveBlockTable(capture, options);
  ASSERT_TRUE(live.ok()) << live.status();
  ExpectGolden("live_at_oom.txt", RenderLiveBlockTable(capture, *live, "the last out-of-memory error", 10, kNarrow));
}

TEST_F(Views, CheckOutOfMemory) {
  const Capture capture = Open("cuda");
  const Summary summary = Summarise(capture);
  ExpectGolden("check_oom_cuda.txt", RenderOutOfMemoryErrors(capture, summary, 5, kNarrow));
  ExpectGolden("check_oom_cuda.json", ToText(CheckOutOfMemoryJson(capture, summary)));
  const std::string message =
      RenderOutOfMemory(capture, summary, kLinesOfOutOfMemory, "more: memoir check oom", {.width = 40});
  EXPECT_LE(std::count(message.begin(), message.end(), '\n'), static_cast<std::ptrdiff_t>(kLinesOfOutOfMemory));
}

TEST_F(Views, CheckFragmentation) {
  const Capture capture = Open("cuda");
  const auto fragmentation = AnalyzeFragmentation(capture, {});
  ASSERT_TRUE(fragmentation.ok()) << fragmentation.status();
  ExpectGolden("check_frag_cuda.txt", RenderFragmentation(capture, *fragmentation, 5, kNarrow));
  ExpectGolden("check_frag_cuda.json", ToText(FragmentationJson(capture, *fragmentation)));
}

TEST_F(Views, Segments) {
  const Capture capture = Open("cuda");
  const auto maps = MapSegments(capture, {}, *ParseInstantChoice("peak"));
  ASSERT_TRUE(maps.ok()) << maps.status();
  ExpectGolden("segments_cuda.txt", RenderSegments(capture, *maps, "the peak", 0, kNarrow));
  ExpectGolden("segments_cuda.json", ToText(SegmentsJson(capture, *maps, "peak")));
}

TEST_F(Views, Folded) {
  const Capture capture = Open("folded_peak");
  for (const std::string by : {"thread", "rank"}) {
    SummaryOptions options;
    options.by = *ParseGroupBy(by);
    ExpectGolden("by_" + by + "_folded.txt", RenderSummary(capture, Summarise(capture, options), {}, kNarrow));
  }
  const auto live = AnalyzeLiveBlockTable(capture, {});
  ASSERT_TRUE(live.ok()) << live.status();
  ExpectGolden("live_at_peak_folded.txt", RenderLiveBlockTable(capture, *live, "the peak", 3, kNarrow));
}

TEST_F(Views, LiveAtOddNames) {
  const Capture capture = Open("odd_names");
  LiveBlockTableOptions options;
  options.by = GroupBy::kRange;
  const auto live = AnalyzeLiveBlockTable(capture, options);
  ASSERT_TRUE(live.ok()) << live.status();
  ExpectGolden("live_at_odd_names.txt", RenderLiveBlockTable(capture, *live, "the peak", 3, kNarrow));
}

TEST_F(Views, OverTime) {
  for (const std::string name : {"training", "ranks", "empty", "cuda"}) {
    const Capture capture = Open(name);
    OverTimeOptions options;
    options.buckets = ChartColumns(kNarrow);
    auto over_time = AnalyzeOverTime(capture, options);
    ASSERT_TRUE(over_time.ok()) << over_time.status();
    ExpectGolden("over_time_" + name + ".txt", RenderOverTime(capture, *over_time, kNarrow));
    if (!testing::IsJsonSample(name)) continue;
    options.buckets = 10;
    over_time = AnalyzeOverTime(capture, options);
    ExpectGolden("over_time_" + name + ".json", ToText(OverTimeJson(capture, *over_time)));
  }
}

// A PNG is the same shapes on a Canvas.
TEST_F(Views, OverTimePictures) {
  for (const std::string name : {"training", "empty", "cuda"}) {
    const Capture capture = Open(name);
    OverTimeOptions options;
    options.buckets = 60;
    const auto over_time = AnalyzeOverTime(capture, options);
    ASSERT_TRUE(over_time.ok()) << over_time.status();
    ExpectGolden("over_time_" + name + ".svg", OverTimeSvg(capture, *over_time));
    EXPECT_THAT(OverTimePng(capture, *over_time), ::testing::StartsWith("\x89PNG\r\n"));
  }
}

TEST_F(Views, CheckBalance) {
  const Capture capture = Open("driver");
  for (const std::string at : {"peak", "end"}) {
    const auto balance = AnalyzeBalance(capture, {}, *ParseInstantChoice(at));
    ASSERT_TRUE(balance.ok()) << balance.status();
    ExpectGolden("check_balance_" + at + ".txt", RenderBalance(capture, *balance, {.instant = "its sample"}, kNarrow));
    ExpectGolden("check_balance_" + at + ".json", ToText(BalanceJson(capture, *balance)));
  }
  const Capture old = Open("cuda");
  const auto balance = AnalyzeBalance(old, {}, {});
  ASSERT_TRUE(balance.ok()) << balance.status();
  ExpectGolden("check_balance_cuda.txt", RenderBalance(old, *balance, {.instant = "its sample"}, kNarrow));
}

TEST_F(Views, CheckOomPastTorch) {
  const Capture capture = Open("driver");
  const Summary summary = Summarise(capture);
  ExpectGolden("check_oom_driver.txt", RenderOutOfMemoryErrors(capture, summary, 5, kNarrow));
  ExpectGolden("check_oom_driver.json", ToText(CheckOutOfMemoryJson(capture, summary)));
}

TEST_F(Views, OverOperators) {
  const Capture capture = Open("cuda");
  const auto curve = AnalyzeOperatorCurve(capture, {});
  ASSERT_TRUE(curve.ok()) << curve.status();
  ExpectGolden("over_operators_cuda.txt", RenderOperatorCurve(capture, *curve, 2, kNarrow));
  ExpectGolden("over_operators_cuda_all.txt", RenderOperatorCurve(capture, *curve, 0, kWide));
  ExpectGolden("over_operators_cuda.json", ToText(OperatorCurveJson(capture, *curve, 0)));
}

TEST_F(Views, Events) {
  for (const std::string name :
       {"training", "odd_names", "losses", "folded", "paused", "modules", "held", "cuda", "driver"}) {
    const Capture capture = Open(name);
    std::string lines;
    EventJsonWriter writer(capture, [&](std::string_view text) { lines += text; });
    const auto report = StreamEvents(capture, {}, writer);
    ASSERT_TRUE(report.ok()) << report.status();
    writer.Flush();
    ExpectGolden("events_" + name + ".jsonl", lines);
  }
}

// Whatever a capture names, nothing but printable text and line ends reaches a terminal.
TEST_F(Views, NoRawControlBytes) {
  const Capture capture = Open("odd_names");
  const auto tree = AnalyzeRangeTree(capture, {});
  const auto live = AnalyzeLiveBlockTable(capture, {});
  ASSERT_TRUE(tree.ok() && live.ok());
  for (const std::string& text :
       {RenderSummary(capture, Summarise(capture), {.top = 0}, kWide), RenderTree(capture, *tree, kWide),
        RenderLiveBlockTable(capture, *live, "mark:\x1b[31m", 0, kWide)}) {
    for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << static_cast<int>(c);
    EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("\u202E")));
  }
}

TEST_F(Views, NoLineOfASummaryIsWiderThanTheTerminal) {
  for (const std::string& name : ::memoir::testing::SampleNames()) {
    const Capture capture = Open(name);
    const Summary summary = Summarise(capture);
    std::istringstream lines(RenderSummary(capture, summary, {}, kNarrow));
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(DisplayWidth(line) <= kNarrow.width || line.find(folder_.path()) != std::string::npos) << line;
  }
}

TEST_F(Views, NoLineIsWiderThanTheTerminal) {
  for (const std::string name : {"training", "odd_names", "ranks"}) {
    const Capture capture = Open(name);
    const auto tree = AnalyzeRangeTree(capture, {});
    ASSERT_TRUE(tree.ok());
    std::istringstream lines(RenderTree(capture, *tree, kNarrow));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), kNarrow.width) << line;
  }
}

}  // namespace
}  // namespace memoir
