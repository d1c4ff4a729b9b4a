// Sentences of the summary that `memoir run` prints at its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tests/view/shown_run.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessBuilder;
using testing::ShownRun;
using testing::TensorSpec;

constexpr std::uint64_t kModel = 0x10000000, kLoaded = 0x20000000, kPeak = 0x30000000;
constexpr std::uint64_t kMebibyte = 1 << 20;

// Makes four blocks of 1 MiB from `first` on, with the shapes of a model's parameters. Returns their tensors.
std::vector<TensorSpec> MakeWeights(ProcessBuilder& process, const std::string& operator_name, std::uint64_t first) {
  std::vector<TensorSpec> weights;
  for (const std::int64_t size : {16, 8, 16, 4}) {
    const std::uint64_t address = first + weights.size() * kMebibyte;
    weights.push_back({.impl = address + 1, .storage = address, .storage_bytes = kMebibyte, .sizes = {size}});
    process.Begin(operator_name).Allocate(address, kMebibyte).End({weights.back()});
  }
  return weights;
}

// Records a model that is called, and weights that serve.py:59 loads for it and keeps.
void LoadWeightsTwice(ProcessBuilder& process) {
  process.Stack({{"/src/me/serve.py", "build", 12}});
  const std::vector<TensorSpec> model = MakeWeights(process, "aten::empty", kModel);
  process.EnterModule("fc").ExitModule("fc").Stack({{"/src/me/serve.py", "load", 59}});
  MakeWeights(process, "aten::_to_copy", kLoaded);
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.EnterModule("fc").ExitModule("fc");
  process.ModuleHolds("fc", {model, {none, none, none, none}, {}}, {"a", "b", "c", "d"});
}

TEST(RunSummary, NamesTheLineThatMadeASecondCopyOfTheParameters) {
  ProcessBuilder process;
  LoadWeightsTwice(process);
  EXPECT_THAT(ShownRun(process), HasSubstr("! a second copy of the parameters, 4.0 MiB, made at serve.py:59\n"));
}

TEST(RunSummary, ASecondCopyThatWasFreedBeforeThePeakIsNotNamed) {
  ProcessBuilder process;
  LoadWeightsTwice(process);
  for (std::uint64_t i = 0; i < 4; ++i) process.Deallocate(kLoaded + i * kMebibyte);
  process.Begin("aten::mm").Allocate(kPeak, 64 * kMebibyte).End();
  EXPECT_THAT(ShownRun(process), HasSubstr("peak      68.0 MiB"));
  EXPECT_THAT(ShownRun(process), Not(HasSubstr("second copy")));
}

// Lightning passes a closure that calls the model to the optimizer's step.
TEST(RunSummary, APeakInTheClosureOfAnOptimizerNamesTheModulesForward) {
  ProcessBuilder process;
  process.BeginUser("Optimizer.step#AdamW.step").EnterModule("fc", "Linear", "Net");
  process.BeginForward("aten::linear", 7).Allocate(kPeak, kMebibyte).End().ExitModule("fc", "Linear", "Net").End();
  EXPECT_THAT(ShownRun(process), HasSubstr(", forward of fc, in aten::linear\n"));
  EXPECT_THAT(ShownRun(process), Not(HasSubstr("range Optimizer.step")));
}

// A closure may also compute the loss outside of the model.
TEST(RunSummary, APeakInAClosureOutsideOfModulesIsNotTheOptimizers) {
  ProcessBuilder process;
  process.BeginUser("Optimizer.step#AdamW.step").EnterModule("fc").ExitModule("fc");
  process.BeginForward("aten::cross_entropy_loss", 7).Allocate(kPeak, kMebibyte).End().End();
  EXPECT_THAT(ShownRun(process), HasSubstr(", in aten::cross_entropy_loss\n"));
  EXPECT_THAT(ShownRun(process), Not(HasSubstr("range Optimizer.step")));
}

TEST(RunSummary, APeakInTheOptimizersOwnOperatorsNamesItsRange) {
  ProcessBuilder process;
  process.BeginUser("Optimizer.step#AdamW.step").EnterModule("fc").ExitModule("fc");
  process.Begin("aten::_foreach_mul").Allocate(kPeak, kMebibyte).End().End();
  EXPECT_THAT(ShownRun(process), HasSubstr(", range Optimizer.step#AdamW.step, in aten::_foreach_mul\n"));
}

}  // namespace
}  // namespace memoir
