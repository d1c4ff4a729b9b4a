// Finds causes that only the live bytes of a device show (calls whose tensors are kept, tensors of earlier steps), and
// the first line with another operator or another shape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/analyze/compared_captures.h"

namespace memoir {
namespace {

using ::testing::IsEmpty;
using testing::Parameter;
using testing::ProcessBuilder;
using ::testing::SizeIs;
using testing::TensorSpec;
using Kind = ProgramChange::Kind;

class DeviceCauses : public testing::ComparedCaptures {
 protected:
  // Returns the only cause.
  ProgramChange CauseOf(ProcessBuilder& a, ProcessBuilder& b) {
    const Comparison comparison = Compare(a, b);
    const std::vector<ProgramChange>& causes = comparison.focus()->causes;
    EXPECT_THAT(causes, SizeIs(1));
    return causes.empty() ? ProgramChange() : causes.front();
  }
  ProcessBuilder a_, b_;
};

void Call(ProcessBuilder& process, std::uint64_t address, std::uint64_t bytes) {
  process.EnterModule("", "Net", "Net").Begin("aten::mm").Allocate(address, bytes).End().ExitModule("", "Net", "Net");
}

TEST_F(DeviceCauses, TensorsOfSeveralCalls) {
  for (ProcessBuilder* process : {&a_, &b_}) {
    Call(*process, 0x10000, 4000);
    if (process == &a_) process->Deallocate(0x10000);
    Call(*process, 0x20000, 4000);
  }
  const ProgramChange cause = CauseOf(a_, b_);
  EXPECT_EQ(cause.kind, Kind::kLiveCalls);
  EXPECT_EQ(cause.where, "Net");
  EXPECT_EQ(cause.a + " " + cause.b, "1 2");
}

TEST_F(DeviceCauses, ACallThatKeepsOnlyALossIsNotCounted) {
  for (ProcessBuilder* process : {&a_, &b_}) {
    Call(*process, 0x10000, 100);
    if (process == &a_) process->Deallocate(0x10000);
    Call(*process, 0x20000, 4000);
  }
  EXPECT_THAT(Compare(a_, b_).focus()->causes, IsEmpty());
}

TEST_F(DeviceCauses, TensorsOfEarlierSteps) {
  for (ProcessBuilder* process : {&a_, &b_}) {
    process->Begin("aten::add").Allocate(0x10000, 4000).End({{.storage = 0x10000, .sizes = {1000}}});
    if (process == &a_) process->Deallocate(0x10000);
    process->BeginUser("Optimizer.step#SGD.step").End();
    process->Begin("aten::add").Allocate(0x20000, 6000).End({{.storage = 0x20000, .sizes = {1500}}});
  }
  const ProgramChange cause = CauseOf(a_, b_);
  EXPECT_EQ(cause.kind, Kind::kEarlierSteps);
  EXPECT_EQ(cause.bytes, 4000);
}

// A small tensor has another shape first. The line with most of the difference makes another number of tensors.
TEST_F(DeviceCauses, TheFirstTensorOfAnotherShape) {
  for (ProcessBuilder* process : {&a_, &b_}) {
    const std::int64_t samples = process == &a_ ? 4 : 10;
    process->Stack({{"/src/net.py", "forward", 10}});
    process->Begin("aten::randn")
        .Allocate(0x1000, 400)
        .End({{.storage = 0x1000, .storage_bytes = 400, .sizes = {100}}});
    process->Stack({{"/src/net.py", "forward", 11}}).Begin("aten::randn").Allocate(0x2000, 40);
    process->End({{.storage = 0x2000, .storage_bytes = 40, .sizes = {samples}}});
    process->Stack({{"/src/net.py", "forward", 12}});
    for (std::int64_t i = 0; i < samples; ++i) {
      const auto address = static_cast<std::uint64_t>(0x100000 * (i + 1));
      process->Begin("aten::mm").Allocate(address, 4000).End({{.storage = address, .sizes = {1000}}});
    }
  }
  const ProgramChange cause = CauseOf(a_, b_);
  EXPECT_EQ(cause.kind, Kind::kFirstShape);
  EXPECT_EQ(cause.where, "aten::randn");
  EXPECT_EQ(cause.source.line, 11u);
  EXPECT_EQ(cause.a + " " + cause.b, "float32[4] float32[10]");
}

// Adding skip connections instead of concatenating them halves a small weight, and a large activation.
TEST_F(DeviceCauses, SmallParametersOfAnotherSize) {
  for (ProcessBuilder* process : {&a_, &b_}) {
    const TensorSpec none{.impl = 0, .sizes = {}}, weight = Parameter(0x1000, process == &a_ ? 8 : 4);
    process->Begin("aten::uniform_").Allocate(weight.storage, weight.storage_bytes).End({weight});
    process->EnterModule("", "Net", "Net").ModuleHolds("", {{weight}, {none}, {}}, {"weight"}, "Net", "Net");
    process->Begin("aten::cat").Allocate(0x100000, process == &a_ ? 80000 : 40000).End();
    process->ExitModule("", "Net", "Net");
  }
  EXPECT_EQ(CauseOf(a_, b_).kind, Kind::kSizes);
}

TEST_F(DeviceCauses, AnotherOperatorAtALine) {
  for (ProcessBuilder* process : {&a_, &b_}) {
    process->Stack({{"/src/net.py", "forward", 10}});
    process->Begin("aten::conv2d").Allocate(0x10000, 4000).End({{.storage = 0x10000, .sizes = {1000}}});
    process->Begin(process == &a_ ? "aten::relu" : "aten::gelu").Allocate(0x20000, 4000);
    process->End({{.storage = 0x20000, .sizes = {1000}}});
    if (process == &a_) process->Deallocate(0x10000);
    process->Begin("aten::mm").Allocate(0x30000, 4000).End({{.storage = 0x30000, .sizes = {1000}}});
  }
  const ProgramChange cause = CauseOf(a_, b_);
  EXPECT_EQ(cause.kind, Kind::kOperator);
  EXPECT_EQ(cause.a + " " + cause.b, "aten::relu aten::gelu");
  EXPECT_EQ(cause.source.line, 10u);
}

// The line with most of the difference makes a tensor in the step, and another line makes what is kept.
TEST_F(DeviceCauses, TheMainCauseIsAmongTheKeptTensors) {
  for (ProcessBuilder* process : {&a_, &b_}) {
    process->Stack({{"/src/net.py", "forward", 10}});
    process->Begin("aten::add").Allocate(0x10000, 4000).End({{.storage = 0x10000, .sizes = {1000}}});
    if (process == &a_) process->Deallocate(0x10000);
    process->BeginUser("Optimizer.step#SGD.step").End();
    process->Stack({{"/src/net.py", "forward", 20}}).Begin("aten::add");
    process->Allocate(0x20000, process == &a_ ? 8000 : 4000).End({{.storage = 0x20000, .sizes = {1000}}});
    process->Stack({{"/src/net.py", "forward", 30}}).Begin("aten::add");
    process->Allocate(0x30000, process == &a_ ? 1000 : 6000).End({{.storage = 0x30000, .sizes = {1000}}});
  }
  const Comparison comparison = Compare(a_, b_);
  EXPECT_EQ(comparison.focus()->causes.front().kind, Kind::kEarlierSteps);
  EXPECT_EQ(comparison.focus()->cause.source.line, 10u);
}

}  // namespace
}  // namespace memoir
