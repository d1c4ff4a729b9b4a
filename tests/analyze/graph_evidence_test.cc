// What the rules say of blocks by the graphs that keep them, and where recordings end early.
#include "tests/analyze/told.h"

namespace memoir {
namespace {

using testing::At;
using testing::Compute;
using testing::kBias;
using testing::kFlow;
using testing::kHidden;
using testing::kInput;
using testing::kLoss;
using testing::kMean;
using testing::kScratch;
using testing::kWeight;
using testing::ProcessBuilder;
using testing::Tell;
using testing::TensorSpec;

// What a node may keep that has not run yet, whatever other nodes have.
TEST(Evidence, ARecordingThatEndsInBackward) {
  ProcessBuilder process;
  process.EnterModule("fc", "Linear");
  Compute(process, "aten::linear", 7, kHidden);
  Compute(process, "aten::gelu", 8, kScratch);
  Compute(process, "aten::eq", 9, kMean);  // makes no node: its number is the next one's
  Compute(process, "aten::linear", 9, kLoss).ExitModule("fc", "Linear");
  process.BeginBackward("AddmmBackward0", 9, 1).Begin("aten::mm", {At(kScratch)}).End().End();
  process.BeginBackward("GeluBackward0", 8, 1).Begin("aten::gelu_backward").Allocate(kFlow, 64);
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kHidden).rule, "awaits_backward");
  EXPECT_EQ(told.at(kScratch).rule, "saved_for_backward");
  EXPECT_EQ(told.at(kMean).rule, "not_saved");
  EXPECT_EQ(told.at(kLoss).rule, "not_saved");
  EXPECT_EQ(told.at(kFlow).rule, "flows_through_backward");
}

// Everything is given back while the exception goes up; nothing of that says what it was for.
TEST(Evidence, WhatAnOutOfMemoryErrorInBackwardLeaves) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.EnterModule("fc", "Linear");
  Compute(process, "aten::linear", 7, kHidden);
  Compute(process, "aten::gelu", 8, kScratch).ExitModule("fc", "Linear");
  process.BeginBackward("GeluBackward0", 8, 1).Begin("aten::gelu_backward").RunOutOfMemory(cuda, 1 << 20, 512);
  process.End().End().Deallocate(kHidden);
  EXPECT_EQ(Tell(process).at(kHidden).rule, "awaits_backward");
}

// A program that goes on after it: what is used again is judged by that.
TEST(Evidence, WhatIsUsedAfterAnOutOfMemoryError) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.EnterModule("fc", "Linear");
  Compute(process, "aten::linear", 7, kHidden);
  process.RunOutOfMemory(cuda, 1 << 20, 512);
  Compute(process, "aten::add", 8, kScratch).ExitModule("fc", "Linear");
  process.BeginBackward("AddBackward0", 8, 1).End().BeginBackward("AddmmBackward0", 7, 1);
  process.Begin("aten::mm", {At(kHidden)}).End().End().Deallocate(kHidden);
  EXPECT_EQ(Tell(process).at(kHidden).rule, "saved_for_backward");
}

// Training, then a validation without torch.no_grad whose losses are kept, then training again.
TEST(Evidence, AGraphThatAnotherBackwardPassesBy) {
  ProcessBuilder process;
  process.EnterModule("", "Net");
  Compute(process, "aten::linear", 7, kHidden).ExitModule("", "Net").EnterModule("", "Net");
  Compute(process, "aten::linear", 8, kScratch).ExitModule("", "Net");
  process.BeginBackward("AddmmBackward0", 8, 1).Deallocate(kScratch).End();
  process.BeginUser("Optimizer.step#SGD.step").End();
  auto live = Tell(process);
  EXPECT_EQ(live.at(kHidden).rule, "graph_dropped");
  EXPECT_EQ(live.at(kScratch).rule, "released_by_backward");
  process.Deallocate(kHidden);
  EXPECT_EQ(Tell(process).at(kHidden).rule, "graph_dropped");
}

// loss.backward(retain_graph=True): what no program has seen is still there after the pass.
TEST(Evidence, AGraphThatBackwardKeeps) {
  ProcessBuilder process;
  process.EnterModule("fc", "Linear");
  Compute(process, "aten::linear", 7, kHidden);
  Compute(process, "aten::linear", 8, kScratch).ExitModule("fc", "Linear");
  process.BeginBackward("AddmmBackward0", 8, 1).Begin("aten::mm", {At(kScratch)}).End().End();
  process.BeginBackward("AddmmBackward0", 7, 1).Begin("aten::mm", {At(kHidden)}).End().End();
  process.BeginUser("Optimizer.step#SGD.step").End().Deallocate(kHidden);
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kHidden).rule, "graph_retained");
  EXPECT_EQ(told.at(kScratch).rule, "graph_retained");
}

// A static cache: the program makes it, modules write it.
TEST(Evidence, ACacheThatModulesWrite) {
  ProcessBuilder process;
  process.Begin("aten::zeros").Allocate(kMean, 64).End({At(kMean)});
  process.Begin("aten::randn").Allocate(kInput, 64).End({At(kInput)});
  for (int call = 0; call < 2; ++call) {
    process.EnterModule("", "Net").Begin("aten::index_copy_", {At(kMean), At(kInput)}).End();
    process.Begin("aten::mm", {At(kMean), At(kInput)}).End().ExitModule("", "Net");
  }
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kMean).rule, "carried_between_calls");
  EXPECT_EQ(told.at(kInput).rule, "program_input");
}

// cuBLAS takes its workspace inside of what it computes, compiled or not.
TEST(Evidence, AWorkspaceInACompiledProgram) {
  ProcessBuilder process;
  process.BeginBackward("CompiledFunctionBackward", 7, 1).Begin("aten::mm", {At(kInput)});
  process.Allocate(kScratch, 64).Allocate(kHidden, 64).End({At(kHidden)}).End();
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kScratch).rule, "workspace");
  EXPECT_NE(told.at(kHidden).rule, "workspace");
}

// FSDP puts what it gathered in the place of a module's part.
TEST(Evidence, AGatheredParameterThatAModuleHolds) {
  ProcessBuilder process;
  const TensorSpec none{.impl = 0, .sizes = {}};
  for (const std::uint64_t address : {kWeight, kBias})
    process.Begin("aten::empty").Allocate(address, 64).End({At(address)});
  process.ModuleHolds("fc", {{At(kWeight)}, {none}, {}}, {"weight"});
  process.Begin("c10d::_allgather_base_", {At(kBias), At(kWeight)}).End();
  process.ModuleHolds("fc", {{At(kBias)}, {none}, {}}, {"weight"});
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kWeight).rule, "parameter_of_module");
  EXPECT_EQ(told.at(kBias).rule, "gathered_parameter");
}

// Keys and values: the last call's, which no other reads, are as those before.
TEST(Evidence, WhatIsCarriedFromCallToCall) {
  ProcessBuilder process;
  std::uint64_t before = kInput;
  for (const std::uint64_t cache : {kHidden, kScratch, kLoss}) {
    process.EnterModule("", "Net").EnterModule("attention", "Attention");
    process.Begin("aten::cat", {At(before)}).Allocate(cache, 64).End({At(cache)});
    process.ExitModule("attention", "Attention").ExitModule("", "Net");
    if (before != kInput) process.Deallocate(before);
    before = cache;
  }
  process.Deallocate(kLoss);
  const auto told = Tell(process);
  for (const std::uint64_t cache : {kHidden, kScratch, kLoss})
    EXPECT_EQ(told.at(cache).rule, "carried_between_calls");
}

}  // namespace
}  // namespace memoir
