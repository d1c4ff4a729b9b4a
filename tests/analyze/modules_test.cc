// Which module and phase a block belongs to, by the rules of docs/event_schema.md, with numbers computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "tests/analyze/summarised.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/module_tree.h"
#include "tools/analyze/summary/summary.h"

namespace memoir {
namespace {

using ::testing::Pair;
using testing::ProcessBuilder;
using testing::RowNamed;
using testing::Summarise;
using ::testing::UnorderedElementsAre;

Summary ByModule(ProcessBuilder& process, SummaryOptions options = {}) {
  options.by = GroupBy::kModule;
  return Summarise(process, options);
}

// "path phase": allocated bytes.
std::map<std::string, std::uint64_t> Allocated(const Summary& summary) {
  std::map<std::string, std::uint64_t> found;
  for (const SummaryRow& row : summary.rows) {
    for (std::size_t i = 0; i < kPhases; ++i) {
      const std::uint64_t bytes = row.module.by_phase[i].allocated_bytes;
      if (bytes != 0) found[row.name + " " + std::string(ToString(static_cast<Phase>(i)))] += bytes;
    }
  }
  return found;
}

TEST(Modules, ForwardIsTheInnermostModule) {
  ProcessBuilder process;
  process.Allocate(0x1, 1).EnterModule("", "Net", "Net").Allocate(0x2, 2).EnterModule("fc", "Linear", "Net");
  process.Begin("aten::linear").Allocate(0x3, 4).End().ExitModule("fc", "Linear", "Net").Allocate(0x4, 8);
  process.ExitModule("", "Net", "Net").Allocate(0x5, 16);
  const Summary summary = ByModule(process);
  EXPECT_THAT(Allocated(summary),
              UnorderedElementsAre(Pair("Net forward", 10), Pair("fc forward", 4), Pair("(no module) other", 17)));
  EXPECT_EQ(summary.module_calls, 2u);
}

TEST(Modules, BackwardFollowsTheLastForwardRangeWithItsNumber) {
  ProcessBuilder process;
  process.EnterModule("a").BeginForward("aten::view", 7).End().ExitModule("a");  // makes no node: 7 is used again
  process.EnterModule("b").BeginForward("aten::mm", 7).End().ExitModule("b");
  process.OnThread(2).BeginForward("aten::mm", 7).End();  // another thread's 7
  process.BeginBackward("MmBackward0", 7, 1).Allocate(0x1, 10).Begin("aten::mm").Allocate(0x2, 20).End().End();
  process.BeginBackward("MmBackward0", 8, 1).Allocate(0x3, 40).End();  // no forward range has it
  process.BeginBackward("MmBackward0", 7, 3).Allocate(0x4, 80).End();  // nor that thread
  EXPECT_THAT(Allocated(ByModule(process)),
              UnorderedElementsAre(Pair("b backward", 30), Pair("(no module) backward", 120)));
}

TEST(Modules, TheEnginesOwnRangesAreNoForwardRanges) {
  ProcessBuilder process;
  process.EnterModule("a").BeginForward("aten::mm", 3).End().ExitModule("a").EnterModule("b");
  process.BeginForward("autograd::engine::evaluate_function: MmBackward0", 3);
  process.BeginBackward("MmBackward0", 3, 1).Allocate(0x1, 10).End().Allocate(0x2, 5).End();  // 5: around the node
  process.ExitModule("b");
  EXPECT_THAT(Allocated(ByModule(process)), UnorderedElementsAre(Pair("a backward", 15)));
}

TEST(Modules, AGradientBelongsToTheModuleOfItsParameter) {
  ProcessBuilder process;
  process.OnThread(2).BeginText("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
  process.BeginBackward("torch::autograd::AccumulateGrad", -1, 1).EnterModule("fc", "Linear");
  process.Allocate(0x1, 10).End().Allocate(0x2, 1).End().Allocate(0x3, 100);
  const Summary summary = ByModule(process);
  EXPECT_THAT(Allocated(summary), UnorderedElementsAre(Pair("fc backward", 11), Pair("(no module) other", 100)));
  EXPECT_EQ(summary.module_calls, 0u);
}

TEST(Modules, AModuleInsideANodeIsComputedAgain) {
  ProcessBuilder process;
  process.EnterModule("a").BeginForward("aten::mm", 1).End().ExitModule("a");
  process.BeginBackward("CheckpointFunctionBackward", 1, 1).EnterModule("a").BeginForward("aten::mm", 2);
  process.Allocate(0x1, 10).End().ExitModule("a").Allocate(0x2, 20);
  process.BeginBackward("MmBackward0", 2, 1).Allocate(0x3, 40).End().End();
  EXPECT_THAT(Allocated(ByModule(process)), UnorderedElementsAre(Pair("a recompute", 10), Pair("a backward", 60)));
}

// Lightning passes a closure that computes the loss, too. The optimizer's own operators run without gradients.
TEST(Modules, WhatAClosureComputesIsNotTheOptimizers) {
  ProcessBuilder process;
  process.BeginUser("Optimizer.step#AdamW.step").EnterModule("a").ExitModule("a");
  process.BeginForward("aten::cross_entropy_loss", 7).Allocate(0x1, 1).Begin("aten::log_softmax").Allocate(0x2, 2);
  process.End().End().Begin("aten::_foreach_mul").Allocate(0x3, 4).End().End();
  EXPECT_THAT(Allocated(ByModule(process)),
              UnorderedElementsAre(Pair("(no module) other", 3), Pair("(no module) optimizer", 4)));
}

TEST(Modules, TheOptimizersRangesAreItsPhase) {
  ProcessBuilder process;
  process.BeginUser("Optimizer.step#AdamW.step").Allocate(0x1, 1).EnterModule("a").Allocate(0x2, 2).ExitModule("a");
  process.End().BeginUser("Optimizer.zero_grad#AdamW.zero_grad").Allocate(0x3, 4).End();
  process.BeginUser("my own").Allocate(0x4, 8).End();
  process.BeginBackward("MmBackward0", 1, 1).BeginUser("Optimizer.step#SGD.step").Allocate(0x5, 16).End().End();
  EXPECT_THAT(
      Allocated(ByModule(process)),  // a closure calls the model in the step
      UnorderedElementsAre(Pair("(no module) optimizer", 21), Pair("a forward", 2), Pair("(no module) other", 8)));
}

TEST(Modules, ALostEndHealsWithTheModuleAround) {
  ProcessBuilder process;
  process.EnterModule("").EnterModule("a").LoseRecords(1).Allocate(0x1, 1);  // the open modules are unknown
  process.EnterModule("b").Begin("aten::mm").EnterModule("c").End();         // c ends with the range around it
  process.Allocate(0x2, 2).ExitModule("b").Allocate(0x3, 4).ExitModule("").Allocate(0x4, 8);
  EXPECT_THAT(Allocated(ByModule(process)), UnorderedElementsAre(Pair("b forward", 2), Pair("(no module) other", 13)));
}

TEST(Modules, CompiledRegionsStandForTheirModule) {
  ProcessBuilder process;
  process.EnterModule("a").BeginText("Torch-Compiled Region: 0/0").BeginForward("CompiledFunction", 1);
  process.Allocate(0x1, 10).End().End().Allocate(0x2, 5).ExitModule("a");
  process.BeginBackward("CompiledFunctionBackward", 1, 1).Allocate(0x3, 20).End();
  const Summary summary = ByModule(process);
  EXPECT_THAT(Allocated(summary), UnorderedElementsAre(Pair("a forward", 15), Pair("a backward", 20)));
  EXPECT_EQ(summary.compiled_bytes, 30u);
  EXPECT_EQ(summary.compiled_allocations, 2u);
}

TEST(Modules, EventsAreCountedAlikeWhateverTheRowsAre) {
  for (const GroupBy by : {GroupBy::kModule, GroupBy::kOperator, GroupBy::kThread}) {
    ProcessBuilder process;
    process.EnterModule("").Begin("aten::mm").Allocate(0x1, 1).End().ExitModule("").ExitModule("from before");
    process.OnThread(2).BeginBackward("torch::autograd::AccumulateGrad", -1, 1).EnterModule("fc").End();
    process.OnThread(3).EnterModule("quiet").EnterModule("quiet");
    SummaryOptions options;
    options.by = by;
    const Summary summary = Summarise(process, options);
    EXPECT_EQ(summary.events, 11u);  // also the exit of a call from before
    EXPECT_EQ(summary.threads, 3u);
    EXPECT_EQ(summary.module_calls, by == GroupBy::kModule ? 2u : 0u);
  }
}

TEST(Modules, RootsOfOneClassAreTwoTrees) {
  ProcessBuilder process;
  process.EnterModule("fc", "Linear", "Net").Allocate(0x1, 1).ExitModule("fc", "Linear", "Net");
  process.EnterModule("fc", "Linear", "Net#2").Allocate(0x2, 2).ExitModule("fc", "Linear", "Net#2");
  const Summary summary = ByModule(process);
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_EQ(summary.rows[0].module.root, "Net#2");
  EXPECT_EQ(summary.rows[0].total.allocated_bytes, 2u);
  EXPECT_EQ(summary.rows[1].name, "fc");
}

TEST(Modules, SubtotalsAreTheNodesOwnAndItsChildrens) {
  ProcessBuilder process;
  process.EnterModule("", "Net", "Net").Allocate(0x1, 1);
  for (const char* path : {"layers.0.fc", "layers.1.fc", "layers.0"}) {
    process.EnterModule(path, "Part", "Net").Allocate(0x1000 + process.tick(), 10).ExitModule(path, "Part", "Net");
  }
  process.ExitModule("", "Net", "Net").Allocate(0x2, 100);
  const Summary summary = ByModule(process);
  const std::vector<ModuleNode> nodes = BuildModuleTree(summary);
  std::map<std::string, std::uint64_t> subtree;
  for (const ModuleNode& node : nodes) {
    if (!node.root.empty()) subtree[node.path] = node.subtree.allocated_bytes;
    SummaryColumns sum = node.own;
    for (const std::size_t child : node.children) sum += nodes[child].subtree;
    EXPECT_EQ(sum, node.subtree) << node.path;
  }
  EXPECT_THAT(subtree, UnorderedElementsAre(Pair("", 31), Pair("layers", 30), Pair("layers.0", 20),
                                            Pair("layers.0.fc", 10), Pair("layers.1", 10), Pair("layers.1.fc", 10)));
  EXPECT_EQ(nodes[0].subtree.allocated_bytes, 131u);
  EXPECT_EQ(nodes[0].modules, 4u);
}

TEST(Modules, LayersThatAreAlikeFold) {
  ProcessBuilder process;
  process.EnterModule("", "Net", "Net");
  for (const int layer : {0, 1, 2, 3, 5, 10}) {
    const std::string path = "layers." + std::to_string(layer);
    process.EnterModule(path, "Part", "Net").Allocate(0x1000 + process.tick(), 10);
    process.EnterModule(path + ".fc", "Linear", "Net").Allocate(0x1000 + process.tick(), layer == 2 ? 7 : 5);
    process.ExitModule(path + ".fc", "Linear", "Net").ExitModule(path, "Part", "Net");
  }
  for (const char* path : {"a", "b"})  // alike, but names say more than numbers
    process.EnterModule(path, "Part", "Net").Allocate(0x1000 + process.tick(), 1).ExitModule(path, "Part", "Net");
  process.ExitModule("", "Net", "Net");
  const std::vector<ModuleNode> nodes = BuildModuleTree(ByModule(process));
  const std::vector<ModuleNode> folded = FoldAlike(nodes);
  std::map<std::string, std::uint64_t> shown;  // name and how many: bytes
  for (const ModuleNode& node : folded) {
    shown[node.name + " x" + std::to_string(node.alike)] += node.subtree.allocated_bytes;
    SummaryColumns sum = node.own;
    for (const std::size_t child : node.children) sum += folded[child].subtree;
    EXPECT_EQ(sum, node.subtree) << node.name;
  }
  EXPECT_THAT(shown, UnorderedElementsAre(Pair(" x1", 94), Pair("Net x1", 94), Pair("layers x1", 92),
                                          Pair("0-1, 3, 5, 10 x5", 75), Pair("2 x1", 17), Pair("fc x1", 32),
                                          Pair("a x1", 1), Pair("b x1", 1)));
  EXPECT_EQ(folded[0].subtree, nodes[0].subtree);
  EXPECT_EQ(folded[0].modules, nodes[0].modules);
}

TEST(Modules, PhasesAndRowsCloseInAWindow) {
  ProcessBuilder process;
  process.EnterModule("a").Allocate(0x1, 1).BeginUser("here").Allocate(0x2, 2).Deallocate(0x1).End().ExitModule("a");
  process.BeginUser("here").EnterModule("a").Allocate(0x3, 4).ExitModule("a").Allocate(0x4, 8).End();
  SummaryOptions options;
  options.window = SelectionWindow::Range("here");
  const Summary summary = ByModule(process, options);
  EXPECT_EQ(std::accumulate(summary.phases.begin(), summary.phases.end(), SummaryColumns{},
                            [](SummaryColumns sum, const SummaryColumns& phase) { return sum += phase; }),
            summary.total());
  EXPECT_EQ(summary.total().allocated_bytes, summary.devices[0].allocated_bytes);
  EXPECT_EQ(summary.total().bytes_at_peak, summary.devices[0].peak_allocated_bytes);
  EXPECT_THAT(Allocated(summary), UnorderedElementsAre(Pair("a forward", 6), Pair("(no module) other", 8)));
  EXPECT_EQ(summary.module_calls, 1u);
}

// Code that torch.compile made calls no operator: its region is who allocates.
TEST(Modules, CompiledRegionsStandAmongOperators) {
  ProcessBuilder process;
  process.EnterModule("", "Net", "Net").BeginText("Torch-Compiled Region: 0/0").Allocate(0x1000, 64);
  process.Begin("aten::mm").Allocate(0x2000, 32).End().End().ExitModule("", "Net", "Net").Allocate(0x3000, 16);
  const Summary summary = Summarise(process);
  EXPECT_EQ(RowNamed(summary, "Torch-Compiled Region: 0/0").total.allocated_bytes, 64u);
  EXPECT_EQ(RowNamed(summary, "aten::mm").total.allocated_bytes, 32u);
  EXPECT_EQ(RowNamed(summary, "(no operator)").total.allocated_bytes, 16u);
  EXPECT_EQ(summary.devices[0].unattributed_bytes, 80u);
}

}  // namespace
}  // namespace memoir
