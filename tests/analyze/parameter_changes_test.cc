// Finds edits that leave the modules as they are: tied weights, biases, smaller inputs; and new modules without memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/analyze/compared_captures.h"

namespace memoir {
namespace {

using ::testing::IsEmpty;
using testing::Parameter;
using testing::ProcessBuilder;
using ::testing::SizeIs;
using testing::TensorSpec;
using Kind = ProgramChange::Kind;

using ParameterChanges = testing::ComparedCaptures;

// Calls a model of two layers. If `tied`, both have the same weight. The second layer may have a bias.
void CallPair(ProcessBuilder& process, bool tied, bool has_bias, std::uint64_t bytes) {
  const TensorSpec none{.impl = 0, .sizes = {}}, first = Parameter(0x100000, 8);
  const TensorSpec second = tied ? first : Parameter(0x200000, 8), bias = Parameter(0x300000, 8);
  process.Stack({{"/src/net.py", "Net.forward", 10}}).EnterModule("", "Net", "Net");
  process.ModuleHolds("embed", {{first}, {none}, {}}, {"weight"}, "Embedding", "Net");
  if (has_bias)
    process.ModuleHolds("head", {{second, bias}, {none, none}, {}}, {"weight", "bias"}, "Linear", "Net");
  else
    process.ModuleHolds("head", {{second}, {none}, {}}, {"weight"}, "Linear", "Net");
  process.ExitModule("", "Net", "Net").Begin("aten::zeros_like").Allocate(0x8000000, bytes).End();
}

TEST_F(ParameterChanges, WeightsThatAreNotTiedAnyMoreAreTheCause) {
  ProcessBuilder a, b;
  CallPair(a, true, false, 1000);
  CallPair(b, false, false, 2000);
  const Comparison more = Compare(a, b);
  ASSERT_THAT(more.focus()->causes, SizeIs(1));
  EXPECT_EQ(more.focus()->causes[0].kind, Kind::kUnshared);
  EXPECT_EQ(more.focus()->causes[0].where, "embed.weight and head.weight");
}

TEST_F(ParameterChanges, ParametersOfAModuleThatBothHave) {
  ProcessBuilder a, b;
  CallPair(a, false, false, 1000);
  CallPair(b, false, true, 2000);
  const Comparison more = Compare(a, b);
  ASSERT_THAT(more.focus()->causes, SizeIs(1));
  EXPECT_EQ(more.focus()->causes[0].kind, Kind::kNewParameters);
  EXPECT_EQ(more.focus()->causes[0].where, "head.bias");
  const Comparison less = Compare(b, a);
  ASSERT_THAT(less.focus()->causes, SizeIs(1));
  EXPECT_EQ(less.focus()->causes[0].kind, Kind::kGoneParameters);
}

// With a cache of keys and values, each call reads one token, and the memory grows.
TEST_F(ParameterChanges, SmallerInputsAreNotTheCauseOfMoreMemory) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    const TensorSpec input{.impl = 7, .storage = 0x100, .storage_bytes = 64, .sizes = {16, process == &a ? 135 : 1}};
    process->EnterModule("", "Net", "Net").Begin("aten::mm", {input}).End().ExitModule("", "Net", "Net");
    process->Stack({{"/src/net.py", "Net.forward", 10}}).Begin("aten::linear");
    process->Allocate(0x8000000, process == &a ? 1000 : 2000).End();
  }
  const Comparison comparison = Compare(a, b);
  EXPECT_THAT(comparison.changes, SizeIs(1));
  EXPECT_THAT(comparison.focus()->causes, IsEmpty());
}

// A new module may save its input, which another module makes.
TEST_F(ParameterChanges, ANewModuleIsTheCauseIfNothingElseIs) {
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    process->Stack({{"/src/net.py", "Net.forward", 10}}).EnterModule("", "Net", "Net");
    process->EnterModule("fc", "Linear", "Net").Begin("aten::linear");
    process->Allocate(0x8000000, process == &a ? 1000 : 2000).End().ExitModule("fc", "Linear", "Net");
    if (process == &b) process->EnterModule("scale", "Scale", "Net").ExitModule("scale", "Scale", "Net");
    process->ExitModule("", "Net", "Net");
  }
  const Comparison comparison = Compare(a, b);
  ASSERT_THAT(comparison.focus()->causes, SizeIs(1));
  EXPECT_EQ(comparison.focus()->causes[0].kind, Kind::kNewModules);
  EXPECT_EQ(comparison.focus()->causes[0].where, "scale (Scale)");
}

}  // namespace
}  // namespace memoir
