// The tree of callers: its sums add up, it contains no frames of libraries, and it may be deep.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/analyze/summarised.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/stacks/stack_tree.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using PythonFrame = ProcessBuilder::PythonFrame;

const PythonFrame kMain = {"/src/me/train.py", "main", 90};
const PythonFrame kForward = {"/src/me/net.py", "Net.forward", 12};
const PythonFrame kLibrary = {"/v/site-packages/x.py", "call", 1};

StackTree TreeOf(ProcessBuilder& process, const StackTreeOptions& options = {}) {
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  absl::StatusOr<StackTree> tree = AnalyzeStackTree(*capture, options);
  EXPECT_TRUE(tree.ok()) << tree.status();
  return *std::move(tree);
}

// "main/Net.forward": own and subtree's allocated bytes.
using Bytes = std::pair<std::uint64_t, std::uint64_t>;
std::map<std::string, Bytes> Allocated(const StackTree& tree) {
  std::vector<std::string> paths(tree.nodes.size());
  std::map<std::string, Bytes> found;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const StackNode& node = tree.nodes[i];
    const bool frame = node.kind == StackNode::Kind::kFrame;
    if (i > 0) paths[i] = paths[node.parent] + "/" + (frame ? tree.frames[node.frame].function : "-");
    found[paths[i]] = {node.own.allocated_bytes, node.subtree.allocated_bytes};
  }
  return found;
}

ProcessBuilder Program() {
  ProcessBuilder process;
  process.Stack({kMain, kLibrary, kForward, kLibrary}).Allocate(0x1, 1).Stack({kMain, kLibrary}).Allocate(0x2, 2);
  process.Stack({kMain}).Allocate(0x3, 4).Stack({kLibrary}).Allocate(0x4, 8).Stack({}).Allocate(0x5, 16);
  return process;
}

TEST(StackTree, LibrariesCountAsWhoCalledThem) {
  ProcessBuilder process = Program();
  const std::map<std::string, Bytes> expected = {
      {"", {0, 31}}, {"/main", {6, 7}}, {"/main/Net.forward", {1, 1}}, {"/call", {8, 8}}, {"/-", {16, 16}}};
  EXPECT_EQ(Allocated(TreeOf(process)), expected);
}

TEST(StackTree, AllFramesAreNodesWhereTheyAreAskedFor) {
  ProcessBuilder process = Program();
  StackTreeOptions options;
  options.all_frames = true;
  const std::map<std::string, Bytes> expected = {{"", {0, 31}},
                                                 {"/main", {4, 7}},
                                                 {"/main/call", {2, 3}},
                                                 {"/main/call/Net.forward", {0, 1}},
                                                 {"/main/call/Net.forward/call", {1, 1}},
                                                 {"/call", {8, 8}},
                                                 {"/-", {16, 16}}};
  EXPECT_EQ(Allocated(TreeOf(process, options)), expected);
}

TEST(StackTree, ItsSumsAreTheSummarys) {
  ProcessBuilder process;
  process.Stack({kMain}).Allocate(0x1, 10).Stack({kMain, kForward}).Allocate(0x2, 20).Deallocate(0x1);
  process.BeginUser("w").Allocate(0x3, 5).Deallocate(0x2).End();
  StackTreeOptions options;
  options.window = SelectionWindow::Range("w");
  SummaryOptions summary_options;
  summary_options.window = options.window;
  ProcessBuilder again = process;
  const StackSums all = TreeOf(process, options).nodes[0].subtree;
  const SummaryColumns total = testing::Summarise(again, summary_options).total();
  EXPECT_EQ(all.bytes_at_peak, total.bytes_at_peak);
  EXPECT_EQ(all.bytes_at_peak, 25u);
  EXPECT_EQ(all.allocated_bytes, total.allocated_bytes);
  EXPECT_EQ(all.net_bytes, total.net_bytes);
}

TEST(StackTree, AThousandFramesAreNoTrouble) {
  std::vector<PythonFrame> frames;
  for (std::uint32_t i = 0; i < 1000; ++i) frames.push_back({"/src/me/deep.py", "descend", i + 1});
  ProcessBuilder process;
  process.Stack(frames).Allocate(0x1, 10);
  const StackTree tree = TreeOf(process);
  ASSERT_EQ(tree.nodes.size(), 1001u);
  EXPECT_EQ(tree.nodes[1000].own.allocated_bytes, 10u);
  EXPECT_EQ(tree.nodes[1].subtree.allocated_bytes, 10u);
}

}  // namespace
}  // namespace memoir
