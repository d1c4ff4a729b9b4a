// What the evidence of small recordings leads the rules to say: a step of training, its blocks by address.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/analyze/told.h"
#include "tools/analyze/lives/explain.h"

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
using testing::kMomentum;
using testing::kScratch;
using testing::kWeight;
using testing::ProcessBuilder;
using testing::Tell;
using testing::TemporaryFolder;
using testing::TensorSpec;

void Train(ProcessBuilder& process) {
  for (const std::uint64_t address : {kWeight, kBias, kMean})
    process.Begin("aten::empty.memory_format").Allocate(address, 64).End({At(address)});
  process.Begin("aten::randn").Allocate(kInput, 64).End({At(kInput)});
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.EnterModule("fc", "Linear");
  process.ModuleHolds("fc", {{At(kWeight), At(kBias)}, {none, none}, {At(kMean)}}, {"weight", "bias", "mean"});
  Compute(process, "aten::linear", 7, kHidden);
  Compute(process, "aten::dropout", 8, kScratch).ExitModule("fc", "Linear");
  process.Begin("aten::mse_loss", {At(kHidden)}).Allocate(kLoss, 64).End({At(kLoss)});
  process.Deallocate(kScratch).BeginBackward("NativeDropoutBackward0", 8, 1).End();
  process.BeginBackward("AddmmBackward0", 7, 1).Begin("aten::mm", {At(kHidden), At(kInput)});
  process.Allocate(kGradient, 64).End({At(kGradient)}).Deallocate(kHidden);
  process.Begin("aten::mul", {At(kGradient)}).Allocate(kFlow, 64).End({At(kFlow)}).End();
  process.BeginBackward("torch::autograd::AccumulateGrad", 9, 1);
  process.GradientOf(At(kWeight), At(kGradient)).End();
  process.Deallocate(kFlow);
  process.BeginUser("Optimizer.step#SGD.step");
  process.Begin("aten::clone", {At(kGradient)}).Allocate(kMomentum, 64).End({At(kMomentum)}).End();
  process.OptimizerHolds(1, {{At(kWeight), At(kBias)}, {At(kGradient), none}, {At(kMomentum)}, {}});
}

TEST(Evidence, AStepOfTraining) {
  ProcessBuilder process;
  Train(process);
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kWeight).rule, "parameter_of_module");
  EXPECT_EQ(told.at(kWeight).parameter, "fc.weight");
  EXPECT_EQ(told.at(kBias).parameter, "fc.bias");
  EXPECT_EQ(told.at(kMean).rule, "buffer_of_module");
  EXPECT_EQ(told.at(kMean).parameter, "fc.mean");
  EXPECT_EQ(told.at(kInput).rule, "program_input");
  EXPECT_EQ(told.at(kHidden).rule, "saved_for_backward");
  EXPECT_EQ(told.at(kScratch).rule, "not_saved");
  EXPECT_EQ(told.at(kLoss).rule, "computed_from_model");
  EXPECT_EQ(told.at(kGradient).rule, "gradient_of_parameter");
  EXPECT_EQ(told.at(kGradient).parameter, "fc.weight");
  EXPECT_EQ(told.at(kFlow).rule, "flows_through_backward");
  EXPECT_EQ(told.at(kMomentum).rule, "state_of_optimizer");
  EXPECT_EQ(told.at(kMomentum).parameter, "fc.weight");
}

TEST(Evidence, OneListOfStateBelongsToNobody) {
  ProcessBuilder process;
  Train(process);
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.Begin("aten::zeros").Allocate(0xb000, 64).End({At(0xb000)});
  process.OptimizerHolds(2, {{At(kWeight), At(kBias)}, {none, none}, {At(0xb000)}});
  const auto told = Tell(process);
  EXPECT_EQ(told.at(0xb000).rule, "state_of_optimizer");
  EXPECT_EQ(told.at(0xb000).parameter, "");
}

TEST(Evidence, TiedWeightsHaveBothNames) {
  ProcessBuilder process;
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.Begin("aten::empty").Allocate(kWeight, 64).End({At(kWeight)});
  process.ModuleHolds("embed", {{At(kWeight)}, {none}, {}}, {"weight"});
  process.ModuleHolds("head", {{At(kWeight)}, {none}, {}}, {"weight"});
  EXPECT_EQ(Tell(process).at(kWeight).parameter, "embed.weight = head.weight");
}

// A parameter that a module has in another's place keeps the name; what was moved was one, too.
TEST(Evidence, AModelThatIsMoved) {
  ProcessBuilder process;
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.Begin("aten::empty").Allocate(kWeight, 64).End({At(kWeight)});
  process.Begin("aten::to.dtype", {At(kWeight)}).Allocate(kBias, 64).End({At(kBias)}).Deallocate(kWeight);
  process.ModuleHolds("fc", {{At(kBias)}, {none}, {}}, {"weight"});
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kWeight).rule, "moved_parameter");
  EXPECT_EQ(told.at(kBias).parameter, "fc.weight");
}

// Addresses come again: what stands on another block since its own ended is another tensor.
TEST(Evidence, ASecondModelAtTheAddressesOfTheFirst) {
  ProcessBuilder process;
  const TensorSpec none{.impl = 0, .sizes = {}};
  const auto on = [](std::uint64_t impl, std::uint64_t storage) {
    return TensorSpec{.impl = impl, .storage = storage, .storage_bytes = 64, .sizes = {16}};
  };
  for (const std::uint64_t address : {kWeight, kBias})
    process.Begin("aten::empty").Allocate(address, 64).End({At(address)});
  process.ModuleHolds("first", {{on(1, kWeight), on(2, kBias)}, {none, none}, {}}, {"weight", "bias"});
  process.Deallocate(kWeight).Deallocate(kBias);
  for (const std::uint64_t address : {kWeight, kBias})
    process.Begin("aten::empty").Allocate(address, 64).End({At(address)});
  process.ModuleHolds("second", {{on(2, kWeight), on(1, kBias)}, {none, none}, {}}, {"weight", "bias"});
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kWeight).parameter, "second.weight");
  EXPECT_EQ(told.at(kBias).parameter, "second.bias");
}

TEST(Evidence, ALeafIsAParameterWhenItsGradientComesAgain) {
  ProcessBuilder process;
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.Begin("aten::empty").Allocate(kWeight, 64).End({At(kWeight)});
  process.ModuleHolds("fc", {{At(kWeight)}, {none}, {}}, {"weight"});
  for (const std::uint64_t leaf : {kInput, kHidden}) process.Begin("aten::randn").Allocate(leaf, 64).End({At(leaf)});
  for (const std::uint64_t leaf : {kInput, kHidden, kHidden})
    process.BeginBackward("torch::autograd::AccumulateGrad", 9, 1).GradientOf(At(leaf), none).End();
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kInput).rule, "leaf_input");
  EXPECT_EQ(told.at(kHidden).rule, "leaf_with_gradients");
}

// No backward ever came, no module holds it.
TEST(Evidence, ALeafThatOnlyWantsAGradient) {
  ProcessBuilder process;
  TensorSpec leaf = At(kWeight);
  leaf.wants_gradient = true;
  process.Begin("aten::randn").Allocate(kWeight, 64).End({At(kWeight)});
  process.Begin("aten::randn").Allocate(kInput, 64).End({At(kInput)});
  process.Begin("aten::mul", {leaf, At(kInput)}).Allocate(kHidden, 64).End({At(kHidden)});
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kWeight).rule, "leaf_with_gradients");
  EXPECT_EQ(told.at(kInput).rule, "program_input");
}

// The average of a model's past: copied before anybody said that the source is a parameter, and a copy of a copy.
TEST(Evidence, CopiesOfAParameter) {
  ProcessBuilder process;
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.Begin("aten::empty").Allocate(kWeight, 64).End({At(kWeight)});
  process.Begin("aten::randn").Allocate(kInput, 64).End({At(kInput)});
  process.Begin("aten::clone", {At(kWeight)}).Allocate(kMean, 64).End({At(kMean)});
  process.Begin("aten::clone", {At(kMean)}).Allocate(kBias, 64).End({At(kBias)});
  process.Begin("aten::clone", {At(kInput)}).Allocate(kHidden, 64).End({At(kHidden)});
  process.ModuleHolds("fc", {{At(kWeight)}, {none}, {}}, {"weight"});
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kMean).rule, "copy_of_parameter");
  EXPECT_EQ(told.at(kBias).rule, "copy_of_parameter");
  EXPECT_EQ(told.at(kHidden).rule, "program_input");
}

// Operators that make no node leave autograd's number to the next that does.
TEST(Evidence, ANumberThatAnotherOperatorTook) {
  ProcessBuilder process;
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.Begin("aten::empty").Allocate(kWeight, 64).End({At(kWeight)});
  process.ModuleHolds("fc", {{At(kWeight)}, {none}, {}}, {"weight"});
  Compute(process, "aten::ne", 7, kInput);
  process.EnterModule("fc", "Linear");
  Compute(process, "aten::linear", 7, kHidden);
  process.ExitModule("fc", "Linear");
  process.Begin("aten::any", {At(kInput)}).End().Deallocate(kInput);
  process.BeginBackward("AddmmBackward0", 7, 1).Begin("aten::mm", {At(kHidden)}).End().End();
  EXPECT_EQ(Tell(process).at(kInput).rule, "program_input");
}

// Memory ran out in forward: what was there would have been read.
TEST(Evidence, ActivationsThatNoBackwardCameFor) {
  ProcessBuilder process;
  process.EnterModule("fc", "Linear");
  Compute(process, "aten::linear", 7, kHidden);
  process.BeginForward("aten::linear", -1).Allocate(kLoss, 64).End({At(kLoss)});
  process.ExitModule("fc", "Linear");
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kHidden).rule, "awaits_backward");
  EXPECT_EQ(told.at(kLoss).rule, "not_saved");
}

// Validation without torch.no_grad: what is kept is kept by a graph that nobody asks for.
TEST(Evidence, AGraphThatIsDroppedUnused) {
  ProcessBuilder process;
  process.EnterModule("", "Net").EnterModule("fc", "Linear");
  Compute(process, "aten::linear", 7, kHidden);
  Compute(process, "aten::relu", 8, kScratch).ExitModule("fc", "Linear").Deallocate(kScratch).ExitModule("", "Net");
  process.Deallocate(kHidden);
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kHidden).rule, "graph_dropped");
  EXPECT_EQ(told.at(kScratch).rule, "not_saved");
}

TEST(Evidence, GradientsOnTheirWayBetweenRanks) {
  ProcessBuilder process;
  for (const std::uint64_t address : {kWeight, kBias, kMean, kInput})
    process.Begin("aten::empty").Allocate(address, 64).End({At(address)});
  process.Begin("c10d::allreduce_", {At(kInput)}).End();  // of a metric, outside of backward
  process.Begin("c10d::_reduce_scatter_base_", {At(kBias), At(kInput)}).End();
  process.BeginBackward("torch::autograd::AccumulateGrad", 9, 1).Begin("c10d::allreduce_", {At(kWeight)}).End();
  process.Begin("c10d::_reduce_scatter_base_", {At(kMean), At(kWeight)}).End().End();
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kWeight).rule, "reduced_bucket");
  EXPECT_EQ(told.at(kMean).rule, "scattered_gradient");
  EXPECT_EQ(told.at(kInput).rule, "program_input");
  EXPECT_EQ(told.at(kBias).rule, "program_input");
}

TEST(Evidence, ParametersThatAreGathered) {
  ProcessBuilder process;
  const TensorSpec none{.impl = 0, .sizes = {}};
  for (const std::uint64_t address : {kWeight, kBias, kMean, kInput, kHidden, kLoss, kScratch})
    process.Begin("aten::empty").Allocate(address, 64).End({At(address)});
  process.ModuleHolds("fc", {{At(kWeight)}, {none}, {}}, {"weight"});
  process.Begin("c10d::_allgather_base_", {At(kBias), At(kWeight)}).End();
  process.Begin("c10d::_allgather_base_", {At(kMean), At(kInput)}).End();  // a metric
  process.Begin("fsdp::all_gather_copy_in", {At(kWeight), At(kHidden)}).End();
  process.Begin("fsdp::split_with_sizes_copy", {At(kHidden), At(kLoss)}).End();
  process.Begin("fsdp::chunk_cat", {At(kInput), At(kScratch)}).End();
  const auto told = Tell(process);
  EXPECT_EQ(told.at(kBias).rule, "gathered_parameter");
  EXPECT_EQ(told.at(kMean).rule, "program_input");
  EXPECT_EQ(told.at(kHidden).rule, "gathered_parameter");
  EXPECT_EQ(told.at(kLoss).rule, "gathered_parameter");
  EXPECT_EQ(told.at(kScratch).rule, "scattered_gradient");
}

absl::StatusOr<Explanation> ExplainIn(ProcessBuilder& process, const std::string& subject) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  const absl::StatusOr<Subject> parsed = ParseSubject(subject);
  if (!parsed.ok()) return parsed.status();
  return Explain(*capture, {}, *parsed);
}

TEST(ExplainTest, AParameterWithWhatBelongsToIt) {
  ProcessBuilder process;
  Train(process);
  const auto explained = ExplainIn(process, "fc.weight");
  ASSERT_TRUE(explained.ok()) << explained.status();
  ASSERT_EQ(explained->stories.size(), 3u);
  EXPECT_EQ(explained->stories[0].address, kWeight);
  EXPECT_EQ(explained->stories[1].address, kMomentum);
  EXPECT_EQ(Rules()[explained->stories[1].rule].keeper, Keeper::kOptimizer);
  EXPECT_EQ(Rules()[explained->stories[2].rule].keeper, Keeper::kGradient);
  EXPECT_EQ(explained->stories[2].parameter, "fc.weight");
}

TEST(ExplainTest, WhatAnOperatorMadeAndWhoKeepsIt) {
  ProcessBuilder process;
  Train(process);
  for (const std::string subject : {"aten::linear", "aten::linear#0", "0x5010"}) {
    const auto explained = ExplainIn(process, subject);
    ASSERT_TRUE(explained.ok()) << explained.status();
    ASSERT_EQ(explained->stories.size(), 1u) << subject;
    const BlockStory& story = explained->stories[0];
    EXPECT_EQ(story.address, kHidden);
    EXPECT_EQ(story.module, "fc");
    EXPECT_EQ(story.saved_for, "AddmmBackward0 of fc");
    EXPECT_EQ(story.readings, 2u);
    EXPECT_EQ(story.freed_inside, "AddmmBackward0");
  }
}

TEST(ExplainTest, WhatIsNotThere) {
  ProcessBuilder process;
  Train(process);
  for (const std::string subject : {"fc.nothing", "aten::linear#5", "0xdead", "#3", "aten::"})
    EXPECT_EQ(ExplainIn(process, subject).status().code(), absl::StatusCode::kNotFound) << subject;
  for (const std::string subject : {"0xfffffffffffffffffff", "0x", "aten::mm#-1", "aten::mm#"})
    EXPECT_EQ(ExplainIn(process, subject).status().code(), absl::StatusCode::kInvalidArgument) << subject;
}

}  // namespace
}  // namespace memoir
