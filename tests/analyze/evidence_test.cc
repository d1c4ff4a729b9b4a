// Checks which rule the evidence in small recordings leads to. Tests name each block by its address.
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

// `aten::to` copies a parameter, and then a module holds the copy. The copy has the parameter's name, and its source is
// a parameter, too.
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

// Addresses of tensors are reused. A tensor's address that appears with another block, after its first block was freed,
// belongs to another tensor.
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

// No backward pass runs, and no module holds the leaf.
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

// A moving average of a model's weights: a copy that is made before an event shows that its source is a parameter, and
// a copy of this copy.
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

// Makes four tensors; `last` is the size of the fourth. A model's parameters have the sizes 16, 8, 16 and 4.
void MakeLikeParameters(ProcessBuilder& process, std::uint64_t at, const std::string& operator_name,
                        std::int64_t last) {
  std::uint64_t address = at;
  for (const std::int64_t size : std::vector<std::int64_t>{16, 8, 16, last}) {
    TensorSpec tensor = At(address);
    tensor.sizes = {size};
    process.Begin(operator_name).Allocate(address, 64).End({tensor});
    address += 0x100;
  }
}

TEST(Evidence, ASecondCopyOfAllParameters) {
  constexpr std::uint64_t kModel = 0x10000, kLoaded = 0x20000, kZeros = 0x30000, kLike = 0x40000, kBytes = 0x50000;
  ProcessBuilder process;
  MakeLikeParameters(process, kModel, "aten::empty", 4);
  MakeLikeParameters(process, kZeros, "aten::zeros", 4);
  process.EnterModule("fc").ExitModule("fc");
  MakeLikeParameters(process, kLike, "aten::_to_copy", 5);
  process.EnterModule("fc").ExitModule("fc");
  MakeLikeParameters(process, kLoaded, "aten::_to_copy", 4);
  process.Begin("aten::randn").Allocate(kInput, 64).End({At(kInput)});
  process.EnterModule("fc").ExitModule("fc");
  MakeLikeParameters(process, kBytes, "aten::empty", 7);  // torch.load, too, allocates plain bytes first
  std::vector<TensorSpec> parameters;
  std::uint64_t address = kModel, bytes = kBytes;
  for (const std::int64_t size : {16, 8, 16, 4}) {
    parameters.push_back(At(address));
    parameters.back().sizes = {size};
    TensorSpec loaded = At(bytes);
    loaded.sizes = {size};
    process.Begin("aten::set_").End({loaded});
    address += 0x100;
    bytes += 0x100;
  }
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.ModuleHolds("fc", {parameters, {none, none, none, none}, {}}, {"a", "b", "c", "d"});
  const auto told = Tell(process);
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(told.at(kModel + i * 0x100).rule, "parameter_of_module");
    EXPECT_EQ(told.at(kLoaded + i * 0x100).rule, "second_copy");
    EXPECT_EQ(told.at(kBytes + i * 0x100).rule, "second_copy");
    EXPECT_EQ(told.at(kLike + i * 0x100).rule, "program_input") << "one has another shape";
    EXPECT_EQ(told.at(kZeros + i * 0x100).rule, "program_input") << "filled with a value";
  }
  EXPECT_EQ(told.at(kInput).rule, "program_input") << "beside the copy, whose shapes are all there without it";
}

// An operator that makes no autograd node leaves its sequence number to the next operator that makes one.
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

// The recording ends in a forward pass, as after an out-of-memory error: a backward pass would have read the
// activations that are still live.
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

// Validation without torch.no_grad: an autograd graph keeps activations, but no backward pass reads them.
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

// A step of a training loop. Backward does not need the model's result, as with logits.
ProcessBuilder& StepWithLogits(ProcessBuilder& process, std::int64_t step, std::uint64_t logits) {
  process.EnterModule("", "Net").BeginForward("aten::linear", step).Allocate(logits, 64).End({At(logits)});
  process.ExitModule("", "Net").Begin("aten::sum", {At(logits)}).End();
  return process.BeginBackward("AddmmBackward0", step, 1).End();
}

TEST(Evidence, ResultsThatAListKeepsAreNotTemporary) {
  ProcessBuilder process;
  for (std::int64_t step = 0; step < 8; ++step)
    StepWithLogits(process, step, 0x10000 + static_cast<std::uint64_t>(step) * 0x1000);
  const auto told = Tell(process);
  EXPECT_EQ(told.at(0x10000).rule, "kept_by_program");
  EXPECT_EQ(told.at(0x14000).rule, "kept_by_program");

  ProcessBuilder replaced;  // each result replaces the result before, as in a variable
  for (std::int64_t step = 0; step < 8; ++step) {
    StepWithLogits(replaced, step, 0x10000 + static_cast<std::uint64_t>(step % 2) * 0x1000);
    if (step > 0) replaced.Deallocate(0x10000 + static_cast<std::uint64_t>((step - 1) % 2) * 0x1000);
  }
  EXPECT_EQ(Tell(replaced).at(0x10000).rule, "not_saved");
}

TEST(Evidence, GradientsOnTheirWayBetweenRanks) {
  ProcessBuilder process;
  for (const std::uint64_t address : {kWeight, kBias, kMean, kInput})
    process.Begin("aten::empty").Allocate(address, 64).End({At(address)});
  process.Begin("c10d::allreduce_", {At(kInput)}).End();  // a metric, outside of backward
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
  const absl::StatusOr<ExplainSubject> parsed = ParseSubject(subject);
  if (!parsed.ok()) return parsed.status();
  return ExplainBlocks(*capture, {}, *parsed);
}

TEST(ExplainTest, AParameterWithWhatBelongsToIt) {
  ProcessBuilder process;
  Train(process);
  const auto explained = ExplainIn(process, "fc.weight");
  ASSERT_TRUE(explained.ok()) << explained.status();
  ASSERT_EQ(explained->stories.size(), 3u);
  EXPECT_EQ(explained->stories[0].address, kWeight);
  EXPECT_EQ(explained->stories[1].address, kMomentum);
  EXPECT_EQ(Rules()[explained->stories[1].rule].holder, HolderKind::kOptimizer);
  EXPECT_EQ(Rules()[explained->stories[2].rule].holder, HolderKind::kGradient);
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
