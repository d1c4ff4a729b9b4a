// Trees: modules by call, autograd's links, what happened to memory, what is cut, and captures that break off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/analyze/tree/range_tree_analysis.h"
#include "tools/analyze/tree/tree_stream.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

class TreeTest : public ::testing::Test {
 protected:
  // "depth name" of each node, in the order of rows.
  std::vector<std::string> Names(const RangeTreeOptions& options = {}) {
    tree_ = *AnalyzeRangeTree(Open(), options);
    std::vector<std::string> names;
    for (const RangeNode& node : tree_.nodes) {
      if (node.kind == RangeNode::Kind::kNamed || node.kind == RangeNode::Kind::kModule ||
          node.kind == RangeNode::Kind::kCall)
        names.push_back(std::to_string(node.depth) + " " + node.name);
    }
    return names;
  }
  const RangeNode& Node(const std::string& name) {
    for (const RangeNode& node : tree_.nodes) {
      if (node.name == name) return node;
    }
    ADD_FAILURE() << "no node " << name;
    return tree_.nodes[0];
  }
  std::vector<StreamedNode> Stream(const TreeStreamOptions& options = {}) {
    std::vector<StreamedNode> nodes;
    const auto report = StreamTree(Open(), options, [&](const StreamedNode& node, const ReplayState& state) {
      nodes.push_back(node);
      names_.push_back(node.kind == StreamedNode::Kind::kModule ? state.dictionary().module(node.module).display_path()
                                                                : std::string(state.dictionary().text(node.name)));
    });
    status_ = report.status();
    return nodes;
  }
  Capture Open() {
    if (!written_) process_.WriteTo(folder_.path());
    written_ = true;
    return *Capture::Open(folder_.path());
  }

  TemporaryFolder folder_;
  ProcessBuilder process_;
  bool written_ = false;
  RangeTree tree_;
  std::vector<std::string> names_;
  absl::Status status_;
};

TEST_F(TreeTest, ModulesNestByCall) {
  for (int call = 0; call < 2; ++call) {
    process_.BeginUser("step").EnterModule("", "Net", "Net");
    process_.EnterModule("layers.0", "Linear", "Net").Begin("aten::linear");
    process_.Allocate(0x1000 + 0x1000 * static_cast<std::uint64_t>(call), 10)
        .End()
        .ExitModule("layers.0", "Linear", "Net");
    // A module of another root stands where it is called.
    process_.EnterModule("", "ReLU", "ReLU").Begin("aten::relu").End().ExitModule("", "ReLU", "ReLU");
    process_.ExitModule("", "Net", "Net").Begin("aten::sum").End().End();
  }
  EXPECT_THAT(Names(),
              ElementsAre("1 step", "2 Net", "3 layers.0", "4 aten::linear", "3 ReLU", "4 aten::relu", "2 aten::sum"));
  EXPECT_EQ(Node("Net").kind, RangeNode::Kind::kModule);
  EXPECT_EQ(Node("Net").calls, 2u);
  EXPECT_EQ(Node("Net").allocated_bytes, 20u);
  EXPECT_EQ(Node("Net").self_bytes, 0u);
  EXPECT_EQ(Node("layers.0").module->class_name, "Linear");
  EXPECT_EQ(Node("layers.0").total_ns, 2 * 40u);
  EXPECT_EQ(tree_.all_nodes, 7u);
  EXPECT_EQ(tree_.shown_nodes, 7u);
}

TEST_F(TreeTest, CallsOfOnesOwnFunctionsStandAroundWhatTheyDo) {
  process_.Call("/me/train.py", "<module>").Call("/me/train.py", "main");
  process_.Call("/usr/lib/python3.11/functools.py", "wrapper").Call("/me/train.py", "step");
  process_.EnterModule("", "Net", "Net").Call("/me/net.py", "Net.forward").Call("/me/net.py", "scaled");
  process_.Call("", "<built-in function mul>").Begin("aten::mul").Allocate(0x10, 8).End();
  process_.Return().Return().Return().ExitModule("", "Net", "Net").Return().Return().Return().Return();
  EXPECT_THAT(Names(), ElementsAre("1 <module>", "2 main", "3 step", "4 Net", "5 scaled", "6 aten::mul"));
  EXPECT_EQ(Node("step").kind, RangeNode::Kind::kCall);
  EXPECT_EQ(Node("step").file, "/me/train.py");
  EXPECT_EQ(Node("step").calls, 1u);
  EXPECT_EQ(Node("scaled").allocated_bytes, 8u);
  RangeTreeOptions options;
  options.calls = TreeCalls::kNone;
  EXPECT_THAT(Names(options), ElementsAre("1 Net", "2 aten::mul"));
  options.calls = TreeCalls::kAll;
  options.depth = 0;
  EXPECT_THAT(Names(options), ElementsAre("1 <module>", "2 main", "3 wrapper", "4 step", "5 Net", "6 Net.forward",
                                          "7 scaled", "8 <built-in function mul>", "9 aten::mul"));
  options.grep = "net.py";
  EXPECT_THAT(Names(options), ::testing::Contains("7 scaled"));
}

TEST_F(TreeTest, ARangeOutlivesTheCallThatBeganIt) {
  process_.Call("/me/a.py", "main").Call("/x/site-packages/torch/autograd/profiler.py", "record_function.__enter__");
  process_.Call("", "<built-in method enter of type object>").BeginUser("step").Return().Return();
  process_.Call("/me/a.py", "work").Begin("aten::mm").Allocate(0x10, 8).End().Return();
  process_.Call("/x/site-packages/torch/autograd/profiler.py", "record_function.__exit__").End();
  process_.Begin("aten::after").End().Return().Return();
  EXPECT_THAT(Names(), ElementsAre("1 main", "2 step", "3 work", "4 aten::mm", "3 aten::after"))
      << "__exit__ began in step, and goes on behind its end";
  const std::vector<StreamedNode> nodes = Stream();
  ASSERT_EQ(nodes.size(), 9u);
  EXPECT_EQ(nodes[3].kind, StreamedNode::Kind::kRange);
  EXPECT_EQ(nodes[3].parent, 0u) << "of main, not of __enter__";
  EXPECT_EQ(nodes[4].kind, StreamedNode::Kind::kCall);
  EXPECT_EQ(nodes[4].parent, 3u) << "work is in step";
  EXPECT_EQ(nodes.back().parent, 6u) << "of __exit__";
  EXPECT_TRUE(nodes[0].end.has_value());
}

TEST_F(TreeTest, ARangeOfNvtxOutlivesItToo) {
  process_.Call("/me/a.py", "main").Call("/usr/lib/python3.11/contextlib.py", "_GeneratorContextManager.__enter__");
  process_.Call("/x/site-packages/torch/cuda/nvtx.py", "range").BeginNvtx("step").Return().Return();
  process_.Begin("aten::mm").End().End().Return();
  EXPECT_THAT(Names(), ElementsAre("1 main", "2 step", "3 aten::mm"));
  const std::vector<StreamedNode> nodes = Stream();
  ASSERT_EQ(nodes.size(), 5u);
  EXPECT_EQ(nodes[3].source, RangeSource::kNvtx);
  EXPECT_EQ(nodes[3].parent, 0u) << "of main, not of __enter__";
  EXPECT_EQ(nodes[4].parent, 3u);
}

TEST_F(TreeTest, CallsWhoseEndIsMissingAreOverWhenTheirLevelIsLeft) {
  process_.Call("/me/a.py", "main").Call("/me/a.py", "f").Call("/me/a.py", "g").LoseRecords(1);
  process_.Return(2).Call("/me/a.py", "h").Begin("aten::x").End();
  EXPECT_THAT(Names(), ElementsAre("1 main", "2 f", "3 g", "2 h", "3 aten::x"));
}

TEST_F(TreeTest, NodesOfAutogradNameTheirForwardOperatorAndModule) {
  process_.EnterModule("a", "Linear", "Net").BeginForward("aten::linear", 1).BeginForward("aten::addmm", 1).End().End();
  process_.ExitModule("a", "Linear", "Net");
  process_.EnterModule("b", "Linear", "Net").BeginForward("aten::addmm", 2).End().ExitModule("b", "Linear", "Net");
  for (const std::int64_t sequence : {2, 1}) {
    process_.BeginText("autograd::engine::evaluate_function: AddmmBackward0");
    process_.BeginBackward("AddmmBackward0", sequence, 1).Allocate(0x10 * static_cast<std::uint64_t>(sequence), 5);
    process_.End().End();
  }
  process_.BeginBackward("MulBackward0", 77, 1).End();  // its forward operator was not recorded
  Names();
  std::map<std::string, std::string> links;
  for (const RangeNode& node : tree_.nodes) {
    if (node.source == RangeSource::kBackward && node.kind == RangeNode::Kind::kNamed && node.module)
      links[node.module->path] = node.forward;
  }
  EXPECT_THAT(links, ElementsAre(std::pair("a", "aten::addmm"), std::pair("b", "aten::addmm")));
  EXPECT_EQ(Node("autograd::engine::evaluate_function: AddmmBackward0").calls, 2u);
  EXPECT_EQ(Node("MulBackward0").forward, "");

  const std::vector<StreamedNode> nodes = Stream();
  std::vector<std::string> forward;
  for (const StreamedNode& node : nodes) {
    if (node.source == RangeSource::kBackward)
      forward.push_back(node.forward == kNoTreeNode ? "none" : std::to_string(node.forward));
  }
  EXPECT_THAT(forward, ElementsAre("4", "2", "none")) << "the numbers of b's and a's aten::addmm";
}

TEST_F(TreeTest, GradientsBelongToTheModuleOfTheirParameter) {
  for (const char* path : {"a", "b"}) {
    process_.BeginBackward("torch::autograd::AccumulateGrad", -1, 1).EnterModule(path, "Linear", "Net");
    process_.Begin("aten::detach").End().End();
  }
  EXPECT_THAT(Names(), ElementsAre("1 torch::autograd::AccumulateGrad", "2 aten::detach",
                                   "1 torch::autograd::AccumulateGrad", "2 aten::detach"));
  EXPECT_EQ(tree_.nodes[1].module->path, "a");
  EXPECT_EQ(tree_.nodes[1].calls, 1u);
  const std::vector<StreamedNode> nodes = Stream();
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_TRUE(nodes[0].module.valid()) << "though it is known only behind the begin";
}

TEST_F(TreeTest, WhatHappenedToMemoryStandsWhereItDid) {
  const std::uint32_t cuda = process_.AddDevice("cuda", 0);
  process_.BeginUser("load").TakeSegment(cuda, 0x1000000, 4096).AllocateBlock(cuda, 0x1000000, 1000).End();
  process_.BeginUser("run").FreeBlock(cuda, 0x1000000).RunOutOfMemory(cuda, 9999, 1);
  process_.ChangeSegment(v1::SEGMENT_FREE, cuda, 0x1000000, 4096).TakeDriverBlock(cuda, 0x1000000).End();
  Names();
  const auto what = [&](const char* name) {
    std::vector<std::string> texts;
    for (const TreeMemory& memory : Node(name).memory)
      texts.push_back(std::string(ToString(memory.action)) + " " + std::to_string(memory.bytes) + " " + memory.device);
    return texts;
  };
  EXPECT_THAT(what("load"),
              ElementsAre("driver_allocate 4096 cuda:0", "segment_allocate 4096 cuda:0", "allocate 1000 cuda:0"));
  EXPECT_THAT(what("run"), ElementsAre("free 1000 cuda:0", "out_of_memory 9999 cuda:0", "segment_free 4096 cuda:0",
                                       "driver_free 4096 cuda:0"));
  EXPECT_EQ(Node("load").memory[0].library, "libc10_cuda.so");
  EXPECT_EQ(Node("run").freed_bytes, 1000u);
  EXPECT_EQ(Node("run").allocated_bytes, 0u);
  EXPECT_EQ(Node("load").freed_bytes, 0u);
}

TEST_F(TreeTest, AtPeakIsWhatEachPlaceHeldThen) {
  const std::uint32_t cuda = process_.AddDevice("cuda", 0);
  process_.BeginUser("a").Allocate(0x10, 100).AllocateBlock(cuda, 0x100, 7).End();
  process_.BeginUser("b").Allocate(0x20, 50).Deallocate(0x10).Allocate(0x30, 60).FreeBlock(cuda, 0x100).End();
  process_.BeginUser("c").Allocate(0x40, 20).Deallocate(0x20).Allocate(0x50, 200).End().Deallocate(0x50);
  Names();
  // The CPU's peak, 280, is in c; the GPU's in a.
  EXPECT_EQ(Node("a").bytes_at_peak, 7u);
  EXPECT_EQ(Node("b").bytes_at_peak, 60u);
  EXPECT_EQ(Node("c").bytes_at_peak, 220u);
  EXPECT_EQ(tree_.nodes[0].bytes_at_peak, 287u);

  RangeTreeOptions options;
  options.window = SelectionWindow::Range("b");
  Names(options);
  // Inside b the most was 150; all of a's is from before, and has no place.
  EXPECT_EQ(tree_.nodes[0].bytes_at_peak, 150u + 7u);
  EXPECT_EQ(Node("b").bytes_at_peak, 50u);
  EXPECT_EQ(tree_.nodes[0].memory.at(0).action, MemoryAction::kBefore);
  EXPECT_EQ(tree_.nodes[0].memory[0].bytes_at_peak, 100u);
}

TEST_F(TreeTest, TimesCutRangesWhereTheyBeginAndEnd) {
  process_.BeginUser("outer").BeginUser("early").End().BeginUser("late").Allocate(0x10, 1).End().End();
  RangeTreeOptions options;
  options.window = SelectionWindow::Time(25, 1000);
  EXPECT_THAT(Names(options), ElementsAre("1 outer", "2 late"));
  EXPECT_EQ(Node("outer").calls, 0u) << "it began before";
  EXPECT_EQ(Node("outer").total_ns, 60u - 30u) << "from the first event inside on";
  options.window = SelectionWindow::Time(5000, 6000);
  EXPECT_THAT(AnalyzeRangeTree(Open(), options).status().message(), HasSubstr("no event in that span"));
}

TEST_F(TreeTest, OneThread) {
  process_.NameThread(1, "main").NameThread(2, "loader");
  process_.BeginUser("train").Allocate(0x10, 5).OnThread(2).BeginUser("load").Allocate(0x20, 8).OnThread(1).End();
  process_.OnThread(2).End();
  RangeTreeOptions options;
  for (const char* thread : {"2", "loader"}) {
    options.thread = thread;
    EXPECT_THAT(Names(options), ElementsAre("1 load"));
    EXPECT_EQ(tree_.nodes[0].allocated_bytes, 8u);
    EXPECT_EQ(tree_.nodes[0].bytes_at_peak, 13u);
    EXPECT_EQ(tree_.nodes[0].memory.at(0).action, MemoryAction::kElsewhere);
  }
  options.thread = "3";
  EXPECT_THAT(AnalyzeRangeTree(Open(), options).status().message(), HasSubstr("there are 1 (main), 2 (loader)"));
  TreeStreamOptions stream;
  stream.thread = "main";
  EXPECT_EQ(Stream(stream).size(), 2u);
  stream.thread = "x";
  Stream(stream);
  EXPECT_THAT(status_.message(), HasSubstr("no thread 'x'"));
}

TEST_F(TreeTest, GrepShowsWhatItFindsAndWhatIsAround) {
  process_.BeginUser("a").BeginUser("b").BeginUser("c").EnterModule("enc.MLP", "Mlp", "Net").Begin("aten::mm");
  process_.Allocate(0x10, 8).End().ExitModule("enc.MLP", "Mlp", "Net").End().End().BeginUser("other").Allocate(0x20, 9);
  process_.End().End();
  RangeTreeOptions options;
  options.grep = "mlp";
  options.depth = 1;
  EXPECT_THAT(Names(options), ElementsAre("1 a", "2 b", "3 c", "4 enc.MLP"));
  // Omitted rows are part of sums, so rows still add up.
  std::uint64_t self = 0;
  for (const RangeNode& node : tree_.nodes) self += node.self_bytes;
  EXPECT_EQ(self, 17u);
  options.grep = "nothing like it";
  EXPECT_THAT(Names(options), IsEmpty());
  EXPECT_EQ(tree_.shown_nodes, 0u);
  EXPECT_EQ(tree_.all_nodes, 6u);
}

TEST_F(TreeTest, WhatBreaksOffHasNoEnd) {
  process_.BeginUser("step")
      .EnterModule("", "Net", "Net")
      .BeginText("autograd::engine::evaluate_function: MmBackward0");
  process_.BeginBackward("MmBackward0", 1, 1).Allocate(0x10, 4).Kill();
  Names();
  for (const char* name : {"step", "Net", "MmBackward0"}) EXPECT_EQ(Node(name).unfinished, 1u) << name;
  EXPECT_EQ(Node("step").total_ns, 40u) << "as far as is known";
  EXPECT_EQ(Node("step").net_bytes, 4u);
  for (const StreamedNode& node : Stream()) EXPECT_FALSE(node.end.has_value());
}

TEST_F(TreeTest, WhereAProgramStoppedIsShownThoughItIsSmall) {
  for (const char* name : {"a", "b"}) {
    process_.BeginUser(name).Allocate(0x1000 * static_cast<std::uint64_t>(name[0]), 1000).End();
  }
  process_.BeginUser("c").Begin("aten::x").Kill();
  RangeTreeOptions options;
  options.width = 1;
  options.share = 0.5;
  EXPECT_THAT(Names(options), ElementsAre("1 c", "2 aten::x"));
  EXPECT_EQ(tree_.nodes.back().others, 2u);
}

TEST_F(TreeTest, SmallNodesAreSummedUp) {
  process_.BeginUser("a").Allocate(0x10, 990).End().BeginUser("b").Allocate(0x1000, 10).End();
  RangeTreeOptions options;
  options.share = 0.1;
  EXPECT_THAT(Names(options), ElementsAre("1 a"));
  EXPECT_EQ(tree_.nodes.back().allocated_bytes, 10u);
  options.share = 0;
  EXPECT_THAT(Names(options), ElementsAre("1 a", "1 b"));
}

TEST_F(TreeTest, LossesCloseWhatWasOpen) {
  process_.BeginUser("before").EnterModule("a", "Linear", "Net").Begin("aten::x").LoseRecords(100);
  process_.Begin("aten::y").Allocate(0x10, 3).End().ExitModule("a", "Linear", "Net").End().End();
  process_.Begin("aten::z").End();
  Names();
  EXPECT_EQ(tree_.nodes[0].allocated_bytes, 3u);
  EXPECT_EQ(Node("aten::z").depth, 1u);
  EXPECT_EQ(Stream().size(), 6u);
  EXPECT_TRUE(status_.ok()) << status_;
}

TEST_F(TreeTest, NothingRecorded) {
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_EQ(tree_.nodes.size(), 1u);
  EXPECT_THAT(Stream(), IsEmpty());
  EXPECT_TRUE(status_.ok()) << status_;
}

TEST_F(TreeTest, HundredThousandRoots) {
  constexpr std::uint64_t kRoots = 100'000;
  for (std::uint64_t i = 0; i < kRoots; ++i)
    process_.BeginUser("r" + std::to_string(i)).Allocate(0x10 * (i + 1), 1).End();
  EXPECT_EQ(Names().size(), 10u);
  EXPECT_EQ(tree_.all_nodes, kRoots);
  const RangeNode& rest = tree_.nodes.back();
  EXPECT_EQ(rest.kind, RangeNode::Kind::kOther);
  EXPECT_EQ(rest.others, kRoots - 10);
  EXPECT_EQ(rest.allocated_bytes + 10, tree_.nodes[0].allocated_bytes);
}

TEST_F(TreeTest, MoreThanAThousandDeep) {
  for (int i = 0; i < 1500; ++i) process_.BeginUser("d" + std::to_string(i));
  process_.Allocate(0x10, 5);
  for (int i = 0; i < 1500; ++i) process_.End();
  RangeTreeOptions options;
  options.depth = 0;
  EXPECT_EQ(Names(options).size(), 1000u);
  EXPECT_EQ(tree_.too_deep, 500u);
  EXPECT_EQ(Node("d999").self_bytes, 5u);
  const std::vector<StreamedNode> nodes = Stream();
  EXPECT_EQ(nodes.size(), 1501u);
  EXPECT_EQ(nodes.back().parent, 1499u);
}

TEST_F(TreeTest, StreamIsInTheOrderOfBeginsWithWhatIsKnownAtTheEnd) {
  process_.BeginUser("a").Begin("aten::x").Allocate(0x10, 6).End().EnterModule("m", "Linear", "Net").Deallocate(0x10);
  process_.ExitModule("m", "Linear", "Net").End();
  const std::vector<StreamedNode> nodes = Stream();
  ASSERT_EQ(nodes.size(), 5u);
  EXPECT_THAT(names_, ElementsAre("a", "aten::x", "", "m", ""));
  EXPECT_EQ(nodes[0].parent, kNoTreeNode);
  EXPECT_EQ(nodes[0].allocated, 6u);
  EXPECT_EQ(nodes[0].freed, 6u);
  EXPECT_EQ(*nodes[0].end - nodes[0].begin, 70u);
  EXPECT_EQ(nodes[1].parent, 0u);
  EXPECT_EQ(nodes[2].parent, 1u);
  EXPECT_EQ(nodes[3].number, 2u) << "memory takes no number";
  EXPECT_EQ(nodes[4].parent, 2u);
  EXPECT_EQ(nodes[4].action, MemoryAction::kFree);
  EXPECT_EQ(nodes[4].serial, nodes[2].serial);

  names_.clear();
  TreeStreamOptions options;
  options.memory = false;
  options.window = SelectionWindow::Time(45, 1000);
  const std::vector<StreamedNode> part = Stream(options);
  EXPECT_THAT(names_, ElementsAre("a", "m")) << "what is around the window comes first";
  EXPECT_EQ(part[1].parent, 0u);
  EXPECT_EQ(part[0].allocated, 0u);
  EXPECT_EQ(part[0].freed, 6u);
}

}  // namespace
}  // namespace memoir
