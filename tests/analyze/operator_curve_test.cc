// Device memory call by call, and the markers of iterations, with numbers computed by hand.
#include "tools/analyze/time/operator_curve.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/lives/explain.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::TemporaryFolder;

constexpr std::uint64_t kMiB = 1 << 20;

absl::StatusOr<OperatorCurve> Analyze(ProcessBuilder& process, const Selection& selection = {}) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const auto capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  return AnalyzeOperatorCurve(*capture, selection);
}

// "fw_start 1, fw_bw_boundary 2, ..." with the calls that came before, one line an iteration.
std::string Markers(const ProcessOperators& process) {
  std::string lines;
  for (const Iteration& iteration : process.iterations) {
    std::string line;
    for (const auto& [name, moment] : MarkersOf(iteration))
      line += (line.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(moment.calls);
    lines += line + "\n";
  }
  return lines;
}

void Forward(ProcessBuilder& process, const std::string& root = "Net") {
  process.EnterModule("", root, root).EnterModule("layer", "Linear", root).BeginForward("aten::mm", 0).End();
  process.ExitModule("layer", "Linear", root).ExitModule("", root, root);
}

void Backward(ProcessBuilder& process) {
  process.OnThread(2);
  for (int i = 0; i < 2; ++i) {
    process.BeginText("autograd::engine::evaluate_function: MmBackward0").BeginBackward("MmBackward0", 0, 1);
    process.Begin("aten::mm").End().End().End();
  }
  process.OnThread(1);
}

void Optimize(ProcessBuilder& process) {
  process.BeginUser("Optimizer.step#SGD.step").Begin("aten::add_").End().End();
  process.BeginUser("Optimizer.zero_grad#SGD.zero_grad").End();
}

// Somewhere to speak of.
void UseDevice(ProcessBuilder& process) {
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, process.AddDevice("cuda", 0), 0x1000000, 2 * kMiB);
}

TEST(OperatorCurve, BytesAfterEachCall) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.Begin("aten::ones").Allocate(0x10, 64).End();
  process.EnterModule("", "Net", "Net").Begin("aten::linear").Begin("aten::addmm");
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 20 * kMiB).AllocateBlock(cuda, 0x1000000, 3 * kMiB);
  process.End().AllocateBlock(cuda, 0x1400000, kMiB).End().ExitModule("", "Net", "Net");
  process.RequestFree(cuda, 0x1000000).Begin("aten::relu").CountDevice(cuda, {kMiB, 4 * kMiB, 20 * kMiB, 1, 0}).End();
  process.CompleteFree(cuda, 0x1000000).Begin("aten::relu").End();
  const auto curve = Analyze(process);
  ASSERT_TRUE(curve.ok()) << curve.status();
  ASSERT_EQ(curve->processes.size(), 1u);
  const ProcessOperators& shown = curve->processes[0];
  ASSERT_EQ(shown.devices.size(), 1u);
  const DeviceOperators& device = shown.devices[0];
  EXPECT_EQ(device.name, "cuda:0");
  ASSERT_EQ(shown.calls.size(), 4u);
  ASSERT_EQ(device.after.size(), 4u);
  EXPECT_EQ(device.after[0].reserved, 0u);
  EXPECT_EQ(device.after[1].allocated, 4 * kMiB);
  EXPECT_EQ(device.after[1].active, 4 * kMiB);
  EXPECT_EQ(device.after[1].reserved, 20 * kMiB);
  EXPECT_EQ(device.after[2].allocated, kMiB);
  EXPECT_EQ(device.after[2].active, 4 * kMiB);
  EXPECT_EQ(device.after[3].active, kMiB);
  EXPECT_EQ(device.AddedBy(0), 0);
  EXPECT_EQ(device.AddedBy(1), static_cast<std::int64_t>(4 * kMiB));
  EXPECT_EQ(device.AddedBy(2), -static_cast<std::int64_t>(3 * kMiB));
  EXPECT_EQ(device.num_alloc_retries, 1u);
  EXPECT_EQ(curve->names[shown.calls[1].name], "aten::linear");
  EXPECT_EQ(curve->modules[shown.calls[1].module].class_name, "Net");
  EXPECT_EQ(shown.calls[1].phase, Phase::kForward);
  EXPECT_EQ(shown.calls[3].module, OperatorCall::kNoModule);
  EXPECT_EQ(shown.calls[2].name, shown.calls[3].name);
}

TEST(OperatorCurve, BackwardCallsHaveTheModuleOfTheForwardOperator) {
  ProcessBuilder process;
  UseDevice(process);
  process.NameThread(1, "main").NameThread(2, "autograd");
  Forward(process);
  Backward(process);
  const auto curve = Analyze(process);
  ASSERT_TRUE(curve.ok()) << curve.status();
  const OperatorCall& call = curve->processes[0].calls.back();
  EXPECT_EQ(call.phase, Phase::kBackward);
  ASSERT_NE(call.module, OperatorCall::kNoModule);
  EXPECT_EQ(curve->modules[call.module].path, "layer");
}

TEST(OperatorCurve, MarkersOfEveryIteration) {
  ProcessBuilder process;
  UseDevice(process);
  process.Begin("aten::randn").End();
  for (int i = 0; i < 2; ++i) {
    Forward(process);
    process.Begin("aten::sum").End();
    Backward(process);
    Optimize(process);
  }
  const auto curve = Analyze(process);
  ASSERT_TRUE(curve.ok()) << curve.status();
  EXPECT_EQ(Markers(curve->processes[0]),
            "fw_start 1, fw_bw_boundary 2, backward_end 5, optimizer_step 5\n"
            "fw_start 6, fw_bw_boundary 7, backward_end 10, optimizer_step 10\n");
}

TEST(OperatorCurve, AccumulatedAndEvaluatedPassesAreIterationsOfTheirOwn) {
  ProcessBuilder process;
  UseDevice(process);
  for (int i = 0; i < 2; ++i) {
    Forward(process);
    Backward(process);
  }
  Optimize(process);
  Forward(process);
  Forward(process);
  const auto curve = Analyze(process);
  ASSERT_TRUE(curve.ok()) << curve.status();
  EXPECT_EQ(Markers(curve->processes[0]),
            "fw_start 0, fw_bw_boundary 1, backward_end 3\n"
            "fw_start 3, fw_bw_boundary 4, backward_end 6, optimizer_step 6\n"
            "fw_start 7, fw_bw_boundary 8\n"
            "fw_start 8, fw_bw_boundary 9\n");
}

TEST(OperatorCurve, SeveralModelsAreOnePassUpToTheLast) {
  ProcessBuilder process;
  UseDevice(process);
  Forward(process, "Encoder");
  Forward(process, "Decoder");
  Backward(process);
  const auto curve = Analyze(process);
  ASSERT_TRUE(curve.ok()) << curve.status();
  EXPECT_EQ(Markers(curve->processes[0]), "fw_start 0, fw_bw_boundary 2, backward_end 4\n");
}

TEST(OperatorCurve, WithoutModulesTheBackwardPassIsSeen) {
  ProcessBuilder process;
  UseDevice(process);
  process.BeginForward("aten::mm", 0).End();
  Backward(process);
  Optimize(process);
  Backward(process);
  const auto curve = Analyze(process);
  ASSERT_TRUE(curve.ok()) << curve.status();
  EXPECT_EQ(Markers(curve->processes[0]),
            "fw_bw_boundary 1, backward_end 3, optimizer_step 3\nfw_bw_boundary 4, backward_end 6\n");
  const std::vector<Iteration>& iterations = curve->processes[0].iterations;
  ASSERT_TRUE(iterations[0].optimizer_end.has_value());
  EXPECT_EQ(iterations[0].optimizer_end->calls, 4u) << "before zero_grad and what follows";
  EXPECT_FALSE(iterations[1].optimizer_end.has_value());
}

TEST(OperatorCurve, AnOptimizerInsideOfTheBackwardPassDoesNotEndIt) {
  ProcessBuilder process;
  UseDevice(process);
  Forward(process);
  process.OnThread(2);
  for (int i = 0; i < 2; ++i) {
    process.BeginBackward("torch::autograd::AccumulateGrad", 7, 0);
    Optimize(process);
    process.End();
  }
  const auto curve = Analyze(process);
  ASSERT_TRUE(curve.ok()) << curve.status();
  EXPECT_EQ(Markers(curve->processes[0]), "fw_start 0, fw_bw_boundary 1, backward_end 3, optimizer_step 1\n");
}

TEST(OperatorCurve, AWindowHasItsOwnCalls) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.Begin("aten::a").ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0, kMiB).AllocateBlock(cuda, 0x10, 512).End();
  process.BeginUser("here").Begin("aten::b").AllocateBlock(cuda, 0x1000, 1024).End().End().Begin("aten::c").End();
  Selection selection;
  selection.window = SelectionWindow::Range("here");
  const auto curve = Analyze(process, selection);
  ASSERT_TRUE(curve.ok()) << curve.status();
  ASSERT_EQ(curve->processes[0].calls.size(), 1u);
  EXPECT_EQ(curve->names[curve->processes[0].calls[0].name], "aten::b");
  EXPECT_EQ(curve->processes[0].devices[0].after[0].allocated, 1536u);
}

// A call's name and number, given to ExplainBlocks, are that call.
TEST(OperatorCurve, NumbersAreThoseThatExplainTakes) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 2 * kMiB);
  std::uint64_t address = 0x1000000;
  const auto call = [&](const std::string& name) -> ProcessBuilder& {
    return process.Begin(name).AllocateBlock(cuda, address += 512, 512);
  };
  call("aten::mm").End();
  process.BeginUser("here");
  process.Begin("aten::linear");
  call("aten::mm").End().End();
  call("aten::mm.out").End();
  call("aten::mm").End();
  process.OnThread(2);
  call("aten::add.Tensor").End();
  process.OnThread(1);
  call("aten::add.Scalar").End();
  call("aten::mm").End();
  call("aten::add.Tensor").End().End();
  process.WriteTo(folder.path());
  const Capture capture = *Capture::Open(folder.path());
  Selection selection;
  selection.window = SelectionWindow::Range("here");
  const auto curve = AnalyzeOperatorCurve(capture, selection);
  ASSERT_TRUE(curve.ok()) << curve.status();
  const ProcessOperators& found = curve->processes.at(0);
  std::vector<std::string> names;
  for (const OperatorCall& shown : found.calls) {
    names.push_back(curve->names[shown.name] + "#" + std::to_string(shown.number));
    const auto explained = ExplainBlocks(capture, selection, *ParseSubject(names.back()));
    ASSERT_TRUE(explained.ok()) << explained.status();
    ASSERT_EQ(explained->stories.size(), 1u) << names.back();
    const std::uint64_t made = explained->stories[0].made_ns;
    EXPECT_TRUE(made < shown.end_ns && made + 40 > shown.end_ns) << names.back();
  }
  EXPECT_EQ(names, (std::vector<std::string>{"aten::linear#0", "aten::mm.out#0", "aten::mm#2", "aten::add.Tensor#0",
                                             "aten::add.Scalar#0", "aten::mm#3", "aten::add.Tensor#1"}));
}

TEST(OperatorCurve, WithoutAGpuItSaysSo) {
  ProcessBuilder process;
  process.Begin("aten::ones").Allocate(0x10, 64).End();
  const auto curve = Analyze(process);
  EXPECT_EQ(curve.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(curve.status().message()).find("no memory of a CUDA device was recorded"), std::string::npos);
}

}  // namespace
}  // namespace memoir
