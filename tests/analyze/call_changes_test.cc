// Finds changes in the calls of a model, in autograd at these calls, and in the use of gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/analyze/compared_captures.h"

namespace memoir {
namespace {

using ::testing::IsEmpty;
using testing::ProcessBuilder;
using ::testing::SizeIs;
using Kind = ProgramChange::Kind;

constexpr char kCallsModules[] = "/lib/torch/nn/modules/module.py";

// Calls the model at a line of train.py. The operator makes a tensor of 4,000 bytes, which stays.
void CallModel(ProcessBuilder& process, std::uint32_t line, bool autograd, std::uint64_t address) {
  process.Stack({{"/src/train.py", "main", line}, {kCallsModules, "_call_impl", 1}, {"/src/net.py", "forward", 3}});
  process.EnterModule("", "Net", "Net");
  if (autograd) {
    process.BeginForward("aten::linear", 1);
  } else {
    process.Begin("aten::linear");
  }
  process.Allocate(address, 4000).End().ExitModule("", "Net", "Net");
}

void Step(ProcessBuilder& process) { process.BeginUser("Optimizer.step#SGD.step").End(); }

class CallChanges : public testing::ComparedCaptures {
 protected:
  // Returns the only change.
  ProgramChange ChangeOf(ProcessBuilder& a, ProcessBuilder& b) {
    const Comparison comparison = Compare(a, b);
    EXPECT_THAT(comparison.changes, SizeIs(1));
    return comparison.changes.empty() ? ProgramChange() : comparison.changes.front();
  }
  ProcessBuilder a_, b_;
};

TEST_F(CallChanges, AutogradThatIsOnWhereItWasOff) {
  CallModel(a_, 10, true, 0x10000);
  CallModel(a_, 20, false, 0x20000);
  CallModel(b_, 10, true, 0x10000);
  CallModel(b_, 19, true, 0x20000);
  const ProgramChange change = ChangeOf(a_, b_);
  EXPECT_EQ(change.kind, Kind::kAutogradOn);
  EXPECT_EQ(change.where, "Net");
  EXPECT_EQ(change.source.line, 19u);
  EXPECT_EQ(ChangeOf(b_, a_).kind, Kind::kAutogradOff);
}

TEST_F(CallChanges, ALineThatCallsTheModelToo) {
  for (ProcessBuilder* process : {&a_, &b_}) CallModel(*process, 10, true, 0x10000);
  CallModel(b_, 20, true, 0x20000);
  const ProgramChange change = ChangeOf(a_, b_);
  EXPECT_EQ(change.kind, Kind::kNewCall);
  EXPECT_EQ(change.source.line, 20u);
  EXPECT_EQ(ChangeOf(b_, a_).kind, Kind::kGoneCall);
}

TEST_F(CallChanges, MoreCallsInEachStep) {
  for (ProcessBuilder* process : {&a_, &b_}) {
    for (std::uint64_t step = 0; step < 3; ++step) {
      const std::uint64_t calls = process == &a_ ? 1 : 4;
      for (std::uint64_t call = 0; call < calls; ++call)
        CallModel(*process, 10, true, 0x10000 * (1 + step * calls + call));
      Step(*process);
    }
  }
  const ProgramChange change = ChangeOf(a_, b_);
  EXPECT_EQ(change.kind, Kind::kCallsInStep);
  EXPECT_EQ(change.a + " " + change.b, "1 4");
}

// Calls `Net.inner` several times in one call of Net.
void CallInside(ProcessBuilder& process, int times, bool autograd) {
  process.EnterModule("", "Net", "Net");
  for (int i = 0; i < times; ++i) {
    process.EnterModule("inner", "Linear", "Net");
    if (autograd) {
      process.BeginForward("aten::linear", 1).End();
    } else {
      process.Begin("aten::linear").End();
    }
    process.ExitModule("inner", "Linear", "Net");
  }
  process.BeginForward("aten::add", 1).Allocate(0x10000, 4000).End().ExitModule("", "Net", "Net");
}

TEST_F(CallChanges, MoreCallsOfAModuleInEachCallOfTheModel) {
  CallInside(a_, 6, true);
  CallInside(b_, 12, true);
  const ProgramChange change = ChangeOf(a_, b_);
  EXPECT_EQ(change.kind, Kind::kCallsInCall);
  EXPECT_EQ(change.where, "inner");
  EXPECT_EQ(change.a + " " + change.b, "6 12");
}

TEST_F(CallChanges, AutogradInsideOfAModel) {
  CallInside(a_, 1, false);
  CallInside(b_, 1, true);
  const ProgramChange change = ChangeOf(a_, b_);
  EXPECT_EQ(change.kind, Kind::kAutogradOn);
  EXPECT_EQ(change.where, "inner");
}

// Three steps. Frees gradients before or after the model is called, or sets them to zero.
void WriteSteps(ProcessBuilder& process, const std::string& use) {
  const auto free = [&] {
    process.BeginUser("Optimizer.zero_grad#SGD.zero_grad");
    if (use == "zero") process.Begin("aten::_foreach_zero_").End();
    process.End();
  };
  for (std::uint64_t step = 0; step < 3; ++step) {
    if (use == "before" || use == "zero") free();
    CallModel(process, 10, true, 0x10000 * (1 + step));
    if (use == "after") free();
    Step(process);
  }
}

TEST_F(CallChanges, GradientsThatStayUntilAfterForward) {
  WriteSteps(a_, "before");
  WriteSteps(b_, "after");
  const ProgramChange change = ChangeOf(a_, b_);
  EXPECT_EQ(change.kind, Kind::kGradients);
  EXPECT_EQ(change.a, "freed before forward");
  EXPECT_EQ(change.b, "freed after forward");
}

TEST_F(CallChanges, GradientsThatAreSetToZero) {
  WriteSteps(a_, "before");
  WriteSteps(b_, "zero");
  EXPECT_EQ(ChangeOf(a_, b_).b, "set to zero");
  ProcessBuilder never;
  WriteSteps(never, "never");
  EXPECT_EQ(ChangeOf(a_, never).b, "not freed");
}

// The bytes that differ are no gradients, so the change is not named as the cause.
TEST_F(CallChanges, GradientsAreACauseOnlyOfTheirOwnBytes) {
  WriteSteps(a_, "before");
  WriteSteps(b_, "zero");
  b_.Begin("aten::zeros").Allocate(0x900000, 8000).End();
  const Comparison comparison = Compare(a_, b_);
  EXPECT_THAT(comparison.changes, SizeIs(1));
  EXPECT_THAT(comparison.focus()->causes, IsEmpty());
}

// Runs a forward operator of `table`, and its backward. With `makes_graph`, autograd is on in backward.
void RunBackward(ProcessBuilder& process, const std::string& operator_name, bool makes_graph, std::uint64_t bytes) {
  process.EnterModule("", "Net", "Net")
      .EnterModule("table", "Embedding", "Net")
      .BeginForward("aten::embedding", 1)
      .End();
  process.ExitModule("table", "Embedding", "Net").ExitModule("", "Net", "Net");
  process.BeginBackward("EmbeddingBackward0", 1, 1);
  makes_graph ? process.BeginForward(operator_name, 2) : process.Begin(operator_name);
  process.Allocate(0x10000, bytes).End().End();
}

TEST_F(CallChanges, AGraphOfBackward) {
  RunBackward(a_, "aten::embedding_dense_backward", false, 4000);
  RunBackward(b_, "aten::embedding_dense_backward", true, 8000);
  const ProgramChange change = ChangeOf(a_, b_);
  EXPECT_EQ(change.kind, Kind::kAutogradOn);
  EXPECT_EQ(change.where, "backward");
  EXPECT_EQ(ChangeOf(b_, a_).kind, Kind::kAutogradOff);
}

TEST_F(CallChanges, SparseGradients) {
  RunBackward(a_, "aten::embedding_dense_backward", false, 8000);
  RunBackward(b_, "aten::embedding_sparse_backward", false, 4000);
  const ProgramChange change = ChangeOf(a_, b_);
  EXPECT_EQ(change.kind, Kind::kGradients);
  EXPECT_EQ(change.where + " " + change.a + " " + change.b, "table dense sparse");
  EXPECT_EQ(ChangeOf(b_, a_).b, "dense");
}

}  // namespace
}  // namespace memoir
