// Trees, compared with files in this folder. To regenerate them see views_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/captures/capture_builder.h"
#include "tests/golden/expect_golden.h"
#include "tests/golden/sample_captures.h"
#include "tools/analyze/calls/device_call_summary.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/analyze/tree/range_tree_analysis.h"
#include "tools/analyze/tree/tree_stream.h"
#include "tools/view/calls/device_calls_view.h"
#include "tools/view/tree/tree_json.h"
#include "tools/view/tree/tree_view.h"

namespace memoir {
namespace {

constexpr Terminal kNarrow = {.width = 80};

class TreeViews : public ::testing::Test {
 protected:
  Capture Open(const std::string& name) {
    testing::WriteSample(name, folder_ / name);
    auto capture = Capture::Open(folder_ / name);
    EXPECT_TRUE(capture.ok()) << capture.status();
    return *std::move(capture);
  }
  // Where a capture lies differs from run to run.
  void ExpectGolden(const std::string& file, std::string shown) {
    const std::string& path = folder_.path();
    for (std::size_t at = shown.find(path); at != std::string::npos; at = shown.find(path))
      shown.replace(at, path.size(), "CAPTURE");
    testing::ExpectGolden(file, shown);
  }
  testing::TemporaryFolder folder_;
};

TEST_F(TreeViews, Tree) {
  for (const std::string name : {"training", "odd_names", "empty", "modules", "cuda", "driver", "calls", "kernels"}) {
    const Capture capture = Open(name);
    const auto tree = AnalyzeRangeTree(capture, {});
    ASSERT_TRUE(tree.ok()) << tree.status();
    ExpectGolden("tree_" + name + ".txt", RenderTree(capture, *tree, kNarrow));
    if (!testing::IsJsonSample(name)) continue;
    ExpectGolden("tree_" + name + ".json", ToText(TreeJson(capture, *tree)));
  }
}

TEST_F(TreeViews, Kernels) {
  for (const std::string name : {"kernels", "training", "kernel_times"}) {
    const Capture capture = Open(name);
    const auto calls = AnalyzeDeviceCalls(capture, {});
    ASSERT_TRUE(calls.ok()) << calls.status();
    ExpectGolden("by_kernel_" + name + ".txt", RenderDeviceCalls(capture, *calls, 10, kNarrow));
    if (name == "kernel_times") continue;
    ExpectGolden("by_kernel_" + name + ".json", ToText(DeviceCallsJson(capture, *calls, 0)));
  }
}

TEST_F(TreeViews, TreeCutShort) {
  const Capture capture = Open("modules");
  RangeTreeOptions options;
  options.depth = 1;
  options.width = 2;
  auto tree = AnalyzeRangeTree(capture, options);
  ASSERT_TRUE(tree.ok()) << tree.status();
  ExpectGolden("tree_cut.txt", RenderTree(capture, *tree, kNarrow));
  options.grep = "fc1";
  tree = AnalyzeRangeTree(capture, options);
  ASSERT_TRUE(tree.ok()) << tree.status();
  ExpectGolden("tree_grep.txt", RenderTree(capture, *tree, kNarrow));
}

// A margin of a thousand levels would leave no room for names.
TEST_F(TreeViews, DeepNodesOfATreeHaveTheirLevelInPlaceOfAMargin) {
  testing::ProcessBuilder process;
  for (int i = 1; i <= 30; ++i) process.BeginUser("range " + std::to_string(i));
  process.Allocate(0x10, 1);
  process.WriteTo(folder_.path());
  RangeTreeOptions options;
  options.depth = 0;
  const Capture capture = *Capture::Open(folder_.path());
  const auto tree = AnalyzeRangeTree(capture, options);
  ASSERT_TRUE(tree.ok()) << tree.status();
  const std::string text = RenderTree(capture, *tree, kNarrow);
  EXPECT_THAT(text, ::testing::HasSubstr("  └ range 8 "));
  EXPECT_THAT(text, ::testing::HasSubstr("…9 range 9 "));
  EXPECT_THAT(text, ::testing::HasSubstr("…30 range 30 "));
}

TEST_F(TreeViews, TreeLines) {
  for (const std::string name : {"odd_names", "modules", "cuda", "driver", "calls"}) {
    const Capture capture = Open(name);
    std::string lines;
    TreeJsonWriter writer([&](std::string_view text) { lines += text; });
    const auto report =
        StreamTree(capture, {}, [&](const StreamedNode& node, const ReplayState& state) { writer.Add(node, state); });
    ASSERT_TRUE(report.ok()) << report.status();
    writer.Flush();
    ExpectGolden("tree_" + name + ".jsonl", lines);
  }
}

}  // namespace
}  // namespace memoir
