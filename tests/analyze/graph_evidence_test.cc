// Categories of blocks that autograd graphs keep, and of recordings that end early.
#include "tests/analyze/told.h"

namespace memoir {
namespace {

using testing::At;
using testing::Compute;
using testing::kBias;
using testing::kFlow;
using testing::kGradient;
using testing::kHidden;
using testing::kInput;
using testing::kLoss;
using testing::kMean;
using testing::kScratch;
using testing::kWeight;
using testing::ProcessBuilder;
using testing::Tell;
using testing::TensorSpec;

// The blocks that a node may keep before it runs, independent of other nodes.
TEST(Evidence, ARecordingThatEndsInBackward) {
  ProcessBuilder process;
  process.EnterModule("fc", "Linear");
  Compute(process, "aten::linear", 7, kHidden);
  Compute(process, "aten::gelu", 8, kScratch);
  Compute(process, "aten::eq", 9, kMean);  // makes no node: the next operator has its number
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

// The exception frees all activations while it propagates. These frees are not evidence.
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

// The program continues after the error. A block that it uses again is judged by this use.
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

// loss.backward(retain_graph=True): blocks that only the graph keeps are still live after the pass.
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

// A static cache: the program allocates it, and modules write to it.
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

// cuBLAS allocates its workspace inside of the operator that needs it, in compiled programs, too.
TEST(Evidence, AWorkspaceInACompiledProgram) {
  ProcessBuilder process;
  process.BeginBackward("CompiledFunctionBackward", 7, 1).Begin("aten::mm", {At(kInput)});
  process.Allocate(kScratch, 64).Allocate(kHidden, 64).End({At(kHidden)}).End();
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kScratch).rule, "workspace");
  EXPECT_NE(told.at(kHidden).rule, "workspace");
}

// FSDP replaces a module's shard of a parameter by the gathered parameter.
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

// A cache of keys and values. No call reads the last cache, but it has the same category as the caches before.
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
  for (const std::uint64_t cache : {kHidden, kScratch, kLoss}) EXPECT_EQ(told.at(cache).rule, "carried_between_calls");
}

TensorSpec Leaf(std::uint64_t address) {
  TensorSpec leaf = At(address);
  leaf.wants_gradient = true;
  return leaf;
}

// aten::addmm saves its factors, each where the other wants a gradient, and neither the bias nor its result.
TEST(Evidence, WhatAnOperatorOfTorchSaves) {
  ProcessBuilder process;
  process.EnterModule("fc", "Linear").Begin("aten::randn").Allocate(kInput, 64).End({At(kInput)});
  process.Begin("aten::randn").Allocate(kMean, 64).End({At(kMean)});
  process.BeginForward("aten::addmm", 7, {At(kMean), At(kInput), Leaf(kWeight)}).Allocate(kHidden, 64);
  process.End({At(kHidden)});
  process.BeginForward("aten::relu", 8, {At(kHidden)}).Allocate(kScratch, 64).End({At(kScratch)});
  process.BeginForward("aten::mul.Tensor", 9, {At(kScratch), At(kMean)}).Allocate(kLoss, 64).End({At(kLoss)});
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kInput).rule, "awaits_backward");    // for the gradient of kWeight
  EXPECT_EQ(told.at(kMean).rule, "awaits_backward");     // for the gradient of kScratch
  EXPECT_EQ(told.at(kHidden).rule, "not_saved");         // aten::relu saves only its result
  EXPECT_EQ(told.at(kScratch).rule, "awaits_backward");  // the result of aten::relu
  EXPECT_EQ(told.at(kLoss).rule, "not_saved");
}

// If no parameter wants a gradient, autograd saves no block.
TEST(Evidence, AFrozenModelSavesNothing) {
  ProcessBuilder process;
  process.EnterModule("fc", "Linear").Begin("aten::randn").Allocate(kInput, 64).End({At(kInput)});
  process.Begin("aten::randn").Allocate(kWeight, 64).End({At(kWeight)});
  process.BeginForward("aten::mm", 7, {At(kInput), At(kWeight)}).Allocate(kHidden, 64).End({At(kHidden)});
  process.BeginForward("aten::relu", 7, {At(kHidden)}).Allocate(kScratch, 64).End({At(kScratch)});
  const auto told = Tell(process);
  for (const std::uint64_t address : {kInput, kHidden, kScratch}) EXPECT_EQ(told.at(address).rule, "not_saved");
}

// The result of a program's own function may require a gradient, even if it computes without autograd.
TEST(Evidence, AFunctionOfTheProgramMaySaveAnything) {
  ProcessBuilder process;
  process.EnterModule("fc", "Linear").BeginForward("Square", 7, {Leaf(kWeight)});
  process.Begin("aten::mul.Tensor", {At(kWeight)}).Allocate(kHidden, 64).End({At(kHidden)}).End();
  process.BeginForward("aten::gelu", 8, {At(kHidden)}).Allocate(kScratch, 64).End({At(kScratch)});
  process.BeginForward("aten::relu", 9, {At(kScratch)}).Allocate(kLoss, 64).End({At(kLoss)});
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kHidden).rule, "awaits_backward");
  EXPECT_EQ(told.at(kLoss).rule, "awaits_backward");
}

// Backward computes only the gradient of the first factor. It does not read the first factor, which was saved for the
// other gradient.
TEST(Evidence, WhatANodeSavedAndDidNotRead) {
  ProcessBuilder process;
  process.EnterModule("fc", "Linear").Begin("aten::randn").Allocate(kHidden, 64).End({At(kHidden)});
  process.BeginForward("aten::mm", 7, {At(kHidden), Leaf(kWeight)}).Allocate(kLoss, 64).End({At(kLoss)});
  process.ExitModule("fc", "Linear").BeginBackward("MmBackward0", 7, 1).End().Deallocate(kHidden);
  EXPECT_EQ(Tell(process).at(kHidden).rule, "saved_unread");
}

// The gradients of both factors have the same size; the weight's gradient is computed from the other factor.
TEST(Evidence, TwoGradientsOfOneSize) {
  ProcessBuilder process;
  process.Begin("aten::randn").Allocate(kWeight, 64).End({Leaf(kWeight)}).EnterModule("fc", "Linear");
  process.Begin("aten::randn").Allocate(kHidden, 64).End({At(kHidden)});
  process.BeginForward("aten::mm", 7, {At(kHidden), Leaf(kWeight)}).Allocate(kLoss, 64).End({At(kLoss)});
  process.ExitModule("fc", "Linear").BeginBackward("MmBackward0", 7, 1);
  process.Begin("aten::mm", {At(kLoss), At(kWeight)}).Allocate(kFlow, 64).End({At(kFlow)});
  process.Begin("aten::mm", {At(kHidden), At(kLoss)}).Allocate(kGradient, 64).End({At(kGradient)}).End();
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kGradient).rule, "gradient_to_come");
  EXPECT_EQ(told.at(kFlow).rule, "flows_through_backward");
}

// An earlier gradient from the same node became the leaf's .grad. The leaf has another .grad by now, to which the new
// gradient is added.
TEST(Evidence, AGradientThatIsAddedToAnother) {
  ProcessBuilder process;
  process.Begin("aten::randn").Allocate(kWeight, 64).End({Leaf(kWeight)});
  process.Begin("aten::zeros").Allocate(kScratch, 64).End({At(kScratch)});
  process.BeginBackward("MmBackward0", 7, 1).Begin("aten::mm").Allocate(kGradient, 64).End({At(kGradient)}).End();
  process.BeginBackward("torch::autograd::AccumulateGrad", 8, 1).GradientOf(Leaf(kWeight), At(kGradient));
  process.GradientOf(Leaf(kWeight), At(kScratch)).End().Deallocate(kGradient).Begin("aten::linear").End();
  process.BeginBackward("MmBackward0", 7, 1).Begin("aten::mm").Allocate(kFlow, 64).End({At(kFlow)}).End();
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kGradient).rule, "gradient_of_parameter");
  EXPECT_EQ(told.at(kFlow).rule, "flows_through_backward");
}

// DDP's buckets before the first all-reduce.
TEST(Evidence, ABucketThatIsNotReducedYet) {
  ProcessBuilder process;
  const auto of = [](std::uint64_t address, std::int64_t elements) {
    return TensorSpec{.impl = address + 1, .storage = address, .storage_bytes = 128, .sizes = {elements}};
  };
  for (const std::uint64_t address : {kWeight, kBias}) {
    process.Begin("aten::randn").Allocate(address, 64).End({At(address)});
    process.Begin("aten::detach", {Leaf(address)}).End({At(address)});
  }
  for (const std::uint64_t address : {kMean, kInput})
    process.Begin("aten::empty.memory_format").Allocate(address, 128).End({of(address, 32)});
  for (int i = 0; i < 2; ++i) process.Begin("aten::as_strided", {of(kMean, 32)}).End({of(kMean, 16)});
  process.Begin("aten::as_strided", {of(kInput, 32)}).End({of(kInput, 31)});
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kMean).rule, "bucket_of_views");
  EXPECT_EQ(told.at(kInput).rule, "program_input");
}

// On a single rank, FSDP copies instead of gathering parameters and reducing gradients.
class FsdpOnOneRankTest : public ::testing::TestWithParam<const char*> {};

TEST_P(FsdpOnOneRankTest, KnowsGatheredParametersAndScatteredGradients) {
  ProcessBuilder process;
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.Begin("aten::randn").Allocate(kWeight, 64).End({At(kWeight)});
  process.ModuleHolds("fc", {{At(kWeight)}, {none}, {}}, {"weight"}).EnterModule("fc", "Linear");
  process.BeginUser("FSDP::pre_forward (fc)").Begin("aten::empty.memory_format").Allocate(kHidden, 64);
  process.End({At(kHidden)}).Begin("aten::copy_", {At(kHidden), At(kWeight)}).End({At(kHidden)}).End();
  process.ExitModule("fc", "Linear").BeginBackward("RegisterPostBackwardFunctionBackward", 7, 1);
  process.Begin("aten::empty.memory_format").Allocate(kFlow, 64).End({At(kFlow)});
  process.Begin(GetParam(), {At(kLoss), At(kFlow)}).End();
  process.Begin("aten::empty.memory_format").Allocate(kGradient, 64).End({At(kGradient)});
  process.Begin("aten::copy_", {At(kGradient), At(kFlow)}).End({At(kGradient)}).End().Deallocate(kHidden);
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kHidden).rule, "gathered_parameter");
  EXPECT_EQ(told.at(kGradient).rule, "scattered_gradient");
}
INSTANTIATE_TEST_SUITE_P(TorchVersions, FsdpOnOneRankTest,
                         ::testing::Values("fsdp::chunk_cat", "fsdp::chunk_cat_mixed_dtype"));  // the second: 2.15

// A module of a running model has returned, and the model continues. Only kScratch has been read outside of the
// module, so the module keeps kHidden for its next call.
TEST(Evidence, WhatAModuleKeepsWhileItsModelRuns) {
  ProcessBuilder process;
  process.EnterModule("", "Net").EnterModule("attention", "Attention");
  for (const std::uint64_t made : {kHidden, kScratch})
    process.Begin("aten::cat", {At(kInput)}).Allocate(made, 64).End({At(made)}).Begin("aten::mm", {At(made)}).End();
  process.ExitModule("attention", "Attention").EnterModule("mlp", "Linear");
  process.Begin("aten::mm", {At(kScratch)}).End();
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kHidden).rule, "carried_between_calls");
  EXPECT_EQ(told.at(kScratch).rule, "not_saved");
}

}  // namespace
}  // namespace memoir
