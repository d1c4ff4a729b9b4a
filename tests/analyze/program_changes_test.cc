// Finds the changes of an edited program from two recordings: modules, sizes, inputs, optimizers, checkpointing, and
// memory that grew below the peak.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/analyze/compared_captures.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Parameter;
using testing::ProcessBuilder;
using ::testing::SizeIs;
using testing::TensorSpec;
using Kind = ProgramChange::Kind;

// A program whose model has these layers of `width` and is called once.
struct Made {
  std::vector<std::string> layers = {"Linear", "Linear"};
  std::int64_t width = 64, batch = 16;
  std::string optimizer = "SGD";
  bool recomputes = false;
};

void Write(ProcessBuilder& process, const Made& made) {
  const TensorSpec none{.impl = 0, .sizes = {}};
  const TensorSpec input{.impl = 7, .storage = 0x100, .storage_bytes = 64, .sizes = {made.batch, made.width}};
  process.Stack({{"/src/train.py", "main", 5}});
  for (std::size_t i = 0; i < made.layers.size(); ++i) {
    const TensorSpec weight = Parameter(0x100000 * (i + 1), made.width);
    process.Begin("aten::uniform_").Allocate(weight.storage, weight.storage_bytes).End({weight});
  }
  process.EnterModule("", "Net", "Net");
  for (std::size_t i = 0; i < made.layers.size(); ++i) {
    const std::string path = "layers." + std::to_string(i);
    const TensorSpec weight = Parameter(0x100000 * (i + 1), made.width);
    const auto bytes = static_cast<std::uint64_t>(made.batch * made.width * 4);
    const TensorSpec result{
        .impl = 0x77 + i, .storage = 0x10000000 * (i + 1), .storage_bytes = bytes, .sizes = {made.batch, made.width}};
    process.EnterModule(path, made.layers[i], "Net");
    process.ModuleHolds(path, {{weight}, {none}, {}}, {"weight"}, made.layers[i], "Net");
    process.Stack({{"/src/net.py", "Net.forward", 10}}).Begin("aten::linear", {input, weight});
    process.Allocate(result.storage, bytes).End({result}).ExitModule(path, made.layers[i], "Net");
  }
  process.ExitModule("", "Net", "Net");
  if (made.recomputes) {
    process.BeginBackward("CheckpointFunctionBackward", 1, 1).EnterModule("layers.0", made.layers[0], "Net");
    process.ExitModule("layers.0", made.layers[0], "Net").End();
  }
  process.BeginUser("Optimizer.step#" + made.optimizer + ".step").End();
}

class ProgramChanges : public testing::ComparedCaptures {
 protected:
  using ComparedCaptures::Compare;
  Comparison Compare(const Made& a, const Made& b) {
    ProcessBuilder in_a, in_b;
    Write(in_a, a);
    Write(in_b, b);
    return Compare(in_a, in_b);
  }
};

TEST_F(ProgramChanges, TheSameProgramHasNone) {
  const Comparison comparison = Compare(Made(), Made());
  EXPECT_THAT(comparison.changes, IsEmpty());
  EXPECT_THAT(comparison.focus()->below, IsEmpty());
}

TEST_F(ProgramChanges, ALargerBatchIsTheCause) {
  const Comparison comparison = Compare(Made(), {.batch = 48});
  ASSERT_THAT(comparison.focus()->causes, SizeIs(1));
  const ProgramChange& cause = comparison.focus()->causes[0];
  EXPECT_EQ(cause.kind, Kind::kInputs);
  EXPECT_EQ(cause.dimension, "batch");
  EXPECT_EQ(cause.where, "Net");
  EXPECT_EQ(cause.a, "float32[16, 64]");
  EXPECT_EQ(cause.b, "float32[48, 64]");
  EXPECT_NEAR(cause.factor, 3, 1e-9);
}

// Calls a model or a loss once, with an operator that makes no memory.
void Call(ProcessBuilder& process, const std::string& root, const std::vector<std::int64_t>& sizes) {
  const TensorSpec input{.impl = 7, .storage = 0x100, .storage_bytes = 64, .sizes = sizes};
  process.EnterModule("", root, root).Begin("aten::mm", {input}).End().ExitModule("", root, root);
}

TEST_F(ProgramChanges, TheModelIsNamedAndNotItsLoss) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    const std::int64_t batch = process == &a ? 16 : 48;
    Write(*process, {.batch = batch});
    Call(*process, "Loss", {batch * 8, 10});
  }
  const Comparison comparison = Compare(a, b);
  ASSERT_THAT(comparison.changes, SizeIs(1));
  EXPECT_EQ(comparison.changes[0].where, "Net");
  EXPECT_EQ(comparison.changes[0].dimension, "batch");
}

TEST_F(ProgramChanges, ALossAloneHasInputsAndNoBatch) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    Write(*process, {});
    Call(*process, "Loss", {process == &a ? 16 : 48, 10});
  }
  const Comparison comparison = Compare(a, b);
  ASSERT_THAT(comparison.changes, SizeIs(1));
  EXPECT_EQ(comparison.changes[0].where, "Loss");
  EXPECT_EQ(comparison.changes[0].dimension, "");
}

TEST_F(ProgramChanges, AModuleInsideOfAModelComesAfterAModel) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    const std::int64_t batch = process == &a ? 16 : 48;
    Write(*process, {});
    for (const auto& [path, root] : {std::pair("layers.0", "Net"), std::pair("", "Other")}) {
      const TensorSpec none{.impl = 0, .sizes = {}}, weight = Parameter(0x70000000, 8);
      const TensorSpec input{.impl = 7, .storage = 0x100, .storage_bytes = 64, .sizes = {batch, 8}};
      process->EnterModule(path, "Linear", root).ModuleHolds(path, {{weight}, {none}, {}}, {"weight"}, "Linear", root);
      process->Begin("aten::mm", {input}).End().ExitModule(path, "Linear", root);
    }
  }
  const Comparison comparison = Compare(a, b);
  ASSERT_THAT(comparison.changes, SizeIs(2));
  EXPECT_EQ(comparison.changes[0].where, "Other");
  EXPECT_EQ(comparison.changes[1].where, "Net.layers.0");
}

// Evaluation has the larger batch in both recordings, so B's training has no shape that A lacks.
TEST_F(ProgramChanges, TrainingMayGetTheBatchOfEvaluation) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    const std::int64_t batch = process == &a ? 16 : 48;
    Write(*process, {.batch = batch});
    for (const std::int64_t size : {batch, std::int64_t{48}, std::int64_t{48}}) Call(*process, "Net", {size, 64});
  }
  const Comparison comparison = Compare(a, b);
  ASSERT_THAT(comparison.changes, SizeIs(1));
  EXPECT_EQ(comparison.changes[0].dimension, "batch");
  EXPECT_EQ(comparison.changes[0].a, "float32[16, 64]");
  EXPECT_EQ(comparison.changes[0].b, "float32[48, 64]");
}

// Half of B's calls have a smaller batch. A has an odd last batch, which B lacks.
TEST_F(ProgramChanges, AnOddBatchOfOneRecordingIsNoReasonToFail) {
  ProcessBuilder a, b;
  Write(a, {});
  for (const std::int64_t batch : {16, 16, 16, 16, 3}) Call(a, "Net", {batch, 64});
  Write(b, {});
  for (const std::int64_t batch : {16, 16, 8, 8, 8}) Call(b, "Net", {batch, 64});
  const Comparison comparison = Compare(a, b);
  ASSERT_THAT(comparison.changes, SizeIs(1));
  EXPECT_EQ(comparison.changes[0].a, "float32[16, 64]");
  EXPECT_EQ(comparison.changes[0].b, "float32[8, 64]");
}

TEST_F(ProgramChanges, AWiderModelIsTheCause) {
  const Comparison comparison = Compare(Made(), {.width = 96});
  ASSERT_THAT(comparison.focus()->causes, ::testing::Not(IsEmpty()));
  const ProgramChange& cause = comparison.focus()->causes[0];
  EXPECT_EQ(cause.kind, Kind::kSizes);
  EXPECT_EQ(cause.a, "64");
  EXPECT_EQ(cause.b, "96");
  EXPECT_EQ(cause.count, 2u);
  EXPECT_EQ(cause.where, "layers.*.weight");
}

// A base width of 64 channels, and its double.
TEST_F(ProgramChanges, SizesOfOneFactorAreOneChange) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    const std::int64_t width = process == &a ? 64 : 96;
    const TensorSpec none{.impl = 0, .sizes = {}};
    const TensorSpec first = Parameter(0x100000, width), second = Parameter(0x200000, 2 * width);
    process->EnterModule("", "Net", "Net").ModuleHolds("fc1", {{first}, {none}, {}}, {"weight"}, "Linear", "Net");
    process->ModuleHolds("fc2", {{second}, {none}, {}}, {"weight"}, "Linear", "Net").ExitModule("", "Net", "Net");
  }
  const Comparison comparison = Compare(a, b);
  ASSERT_THAT(comparison.changes, SizeIs(1));
  EXPECT_EQ(comparison.changes[0].kind, Kind::kSizes);
  EXPECT_EQ(comparison.changes[0].count, 2u);
  EXPECT_NEAR(comparison.changes[0].factor, 1.5, 1e-9);
  EXPECT_THAT(comparison.changes[0].sizes, ElementsAre(std::pair(64, 96), std::pair(128, 192)));
}

// A model reads more patches, so its small table of positions is longer.
TEST_F(ProgramChanges, ASizeThatAnInputHasTooComesFirst) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    const std::int64_t patches = process == &a ? 101 : 401;
    const TensorSpec none{.impl = 0, .sizes = {}};
    const auto bytes = static_cast<std::uint64_t>(patches * 4);
    const TensorSpec positions{.impl = 0x9001, .storage = 0x9000, .storage_bytes = bytes, .sizes = {patches}};
    const TensorSpec input{.impl = 7, .storage = 0x100, .storage_bytes = 64, .sizes = {8, patches, 16}};
    process->EnterModule("", "Net", "Net").ModuleHolds("", {{positions}, {none}, {}}, {"pos"}, "Net", "Net");
    process->Begin("aten::add", {input}).Allocate(0x8000000, bytes * 2500).End();
    process->ExitModule("", "Net", "Net");
  }
  const Comparison comparison = Compare(a, b);
  ASSERT_THAT(comparison.focus()->causes, SizeIs(2));
  EXPECT_EQ(comparison.focus()->causes[0].kind, Kind::kSizes);
  EXPECT_EQ(comparison.focus()->causes[0].where, "pos");
  EXPECT_EQ(comparison.focus()->causes[1].kind, Kind::kInputs);
}

// One of two linear layers is frozen in A.
TEST_F(ProgramChanges, ParametersThatAreNotFrozenAnyMoreAreNamed) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    const TensorSpec none{.impl = 0, .sizes = {}};
    TensorSpec frozen = Parameter(0x100000, 8);
    const TensorSpec trained = Parameter(0x200000, 8);
    frozen.wants_gradient = process == &b;
    process->Stack({{"/src/net.py", "Net.forward", 10}}).EnterModule("", "Net", "Net");
    process->ModuleHolds("fc1", {{frozen}, {none}, {}}, {"weight"}, "Linear", "Net");
    process->ModuleHolds("fc2", {{trained}, {none}, {}}, {"weight"}, "Linear", "Net").ExitModule("", "Net", "Net");
    process->Begin("aten::zeros_like").Allocate(0x8000000, process == &a ? 1000 : 2000).End();
  }
  const Comparison comparison = Compare(a, b);
  ASSERT_THAT(comparison.focus()->causes, SizeIs(1));
  EXPECT_EQ(comparison.focus()->causes[0].kind, Kind::kTrained);
  EXPECT_EQ(comparison.focus()->causes[0].count, 1u);
  EXPECT_EQ(comparison.focus()->causes[0].where, "fc1.weight");
}

// With autocast, layers compute in bfloat16. Most other operators do not.
TEST_F(ProgramChanges, AutocastIsSeenByTheOperatorsThatItCasts) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    std::uint64_t address = 0x100000;
    const auto run = [&](std::uint32_t line, const std::string& operator_name, const std::string& dtype) {
      const std::uint64_t bytes = dtype == "float32" ? 4000 : 2000;
      process->Stack({{"/src/net.py", "Net.forward", line}}).Begin(operator_name).Allocate(address, bytes);
      process->End({{.storage = address, .storage_bytes = bytes, .sizes = {1000}, .dtype_name = dtype}});
      address += 0x100000;
    };
    const std::string dtype = process == &a ? "float32" : "bfloat16";
    run(10, "aten::conv2d", dtype);
    run(11, "aten::linear", dtype);
    run(12, "aten::scaled_dot_product_attention", dtype);
    for (std::uint32_t line = 20; line < 30; ++line) run(line, "aten::softmax.int", "float32");
  }
  const Comparison comparison = Compare(a, b);
  ASSERT_THAT(comparison.focus()->causes, SizeIs(1));
  EXPECT_EQ(comparison.focus()->causes[0].kind, Kind::kResultType);
  EXPECT_EQ(comparison.focus()->causes[0].count, 3u);
  EXPECT_EQ(comparison.focus()->causes[0].b, "bfloat16");
}

// Makes `blocks` tensors of one shape, at one line.
void MakeAtOneLine(ProcessBuilder& process, std::vector<std::int64_t> sizes, std::uint64_t blocks) {
  process.Stack({{"/src/train.py", "train", 10}});
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const TensorSpec made{.impl = 0x77 + i,
                          .storage = 0x100000 * (i + 1),
                          .storage_bytes = static_cast<std::uint64_t>(sizes.front()) * 4,
                          .sizes = sizes};
    process.Begin("aten::zeros_like").Allocate(made.storage, made.storage_bytes).End({made});
  }
}

TEST_F(ProgramChanges, ShapesOfALineAreComparedWithAsManyBlocks) {
  ProcessBuilder a, b;
  MakeAtOneLine(a, {100}, 1);
  MakeAtOneLine(b, {300}, 1);
  EXPECT_EQ(Compare(a, b).focus()->cause.shape_b, "float32[300]");
}

TEST_F(ProgramChanges, WithMoreBlocksTheShapesOfALineSayNothing) {
  ProcessBuilder a, b;
  MakeAtOneLine(a, {100}, 1);
  MakeAtOneLine(b, {300}, 2);
  EXPECT_EQ(Compare(a, b).focus()->cause.more_blocks, 1);
  EXPECT_EQ(Compare(a, b).focus()->cause.shape_b, "");
}

TEST_F(ProgramChanges, AModuleInTheMiddleIsNamed) {
  const Comparison comparison =
      Compare({.layers = {"Linear", "ReLU", "Linear"}}, {.layers = {"Linear", "Norm", "ReLU", "Linear"}});
  ASSERT_THAT(comparison.focus()->causes, SizeIs(1));
  EXPECT_EQ(comparison.focus()->causes[0].kind, Kind::kNewModules);
  EXPECT_EQ(comparison.focus()->causes[0].where, "layers.1 (Norm)");
}

TEST_F(ProgramChanges, MoreAlikeLayersAreCounted) {
  const Comparison comparison = Compare(Made(), {.layers = {"Linear", "Linear", "Linear"}});
  ASSERT_THAT(comparison.focus()->causes, SizeIs(1));
  const ProgramChange& cause = comparison.focus()->causes[0];
  EXPECT_EQ(cause.kind, Kind::kLayers);
  EXPECT_THAT(std::vector<std::string>({cause.where, cause.a, cause.b}), ElementsAre("layers", "2", "3"));
  for (const RecordingDifference& unlike : comparison.unlike) EXPECT_NE(unlike.what, "modules");
}

// The optimizer changes, too, but the difference in memory has other causes.
TEST_F(ProgramChanges, AChangeThatTakesNothingIsNoCause) {
  const Comparison comparison = Compare(Made(), {.batch = 32, .optimizer = "Adam", .recomputes = true});
  std::vector<Kind> changes, causes;
  for (const ProgramChange& change : comparison.changes) changes.push_back(change.kind);
  for (const ProgramChange& change : comparison.focus()->causes) causes.push_back(change.kind);
  EXPECT_THAT(changes, ElementsAre(Kind::kInputs, Kind::kOptimizer, Kind::kCheckpointed));
  EXPECT_THAT(causes, ElementsAre(Kind::kInputs, Kind::kCheckpointed));
}

TEST_F(ProgramChanges, WhatGrewBelowThePeakIsNamed) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    process->Stack({{"/src/train.py", "train", 10}}).Begin("aten::mm").Allocate(0x1000, 10000).End().Deallocate(0x1000);
    process->Stack({{"/src/train.py", "evaluate", 20}}).Begin("aten::mm");
    process->Allocate(0x8000, process == &a ? 1000 : 4000).End().Deallocate(0x8000);
  }
  const Comparison comparison = Compare(a, b);
  EXPECT_TRUE(comparison.focus()->is_same());
  ASSERT_THAT(comparison.focus()->below, SizeIs(1));
  EXPECT_EQ(comparison.focus()->below[0].source.line, 20u);
  EXPECT_EQ(comparison.focus()->below[0].difference(), 3000);
}

// The line has 5,000 bytes of another category in both recordings, before the weight.
TEST_F(ProgramChanges, BelowThePeakEachCategoryOfALineCounts) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    const std::int64_t elements = process == &a ? 250 : 1000;
    const auto bytes = static_cast<std::uint64_t>(elements * 4);
    const TensorSpec none{.impl = 0, .sizes = {}};
    const TensorSpec weight{
        .impl = 0x9001, .storage = 0x9000, .storage_bytes = bytes, .sizes = {elements}, .wants_gradient = true};
    process->Stack({{"/src/train.py", "train", 10}}).Begin("aten::mm").Allocate(0x1000, 10000).End().Deallocate(0x1000);
    process->Stack({{"/src/train.py", "make", 20}});
    process->Begin("aten::mm").Allocate(0x8000, 5000).End().Deallocate(0x8000);
    process->Begin("aten::uniform_").Allocate(0x9000, bytes).End({weight});
    process->EnterModule("", "Net", "Net").ModuleHolds("", {{weight}, {none}, {}}, {"weight"}, "Net", "Net");
    process->ExitModule("", "Net", "Net");
  }
  const Comparison comparison = Compare(a, b);
  EXPECT_TRUE(comparison.focus()->is_same());
  ASSERT_THAT(comparison.focus()->below, SizeIs(1));
  EXPECT_EQ(comparison.focus()->below[0].source.line, 20u);
  EXPECT_EQ(comparison.focus()->below[0].category, "parameter");
  EXPECT_EQ(comparison.focus()->below[0].difference(), 3000);
}

}  // namespace
}  // namespace memoir
