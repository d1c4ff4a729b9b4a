// The first line of the summary of a program that failed, and the text about a program that ran out of memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tests/view/shown_run.h"
#include "tools/view/oom/out_of_memory_text.h"
#include "tools/view/summary/ending_text.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::ProcessBuilder;
using testing::ShownRun;

const ProcessBuilder::PythonFrame kLoop = {"/src/me/train.py", "main", 90};
const ProcessBuilder::PythonFrame kForward = {"/src/me/net.py", "Net.forward", 12};
const testing::TensorSpec kResult = {.impl = 1, .storage = 0x1000, .storage_bytes = 64, .sizes = {16}};

std::string FirstLine(ProcessBuilder& process, const CommandEnd& command = {}) {
  const std::string shown = ShownRun(process, command);
  return shown.substr(0, shown.find('\n'));
}

void AddFrame(const ProcessBuilder::PythonFrame& frame, ProcessBuilder& process) {
  v1::TracebackFrame& added = *process.end().add_traceback();
  added.set_file(frame.file);
  added.set_function(frame.function);
  added.set_line(frame.line);
}

// Adds the frames of an exception that torch raised in a call by Net.forward.
void RaiseInForward(ProcessBuilder& process) {
  AddFrame({"/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", "Linear.forward", 134}, process);
  AddFrame(kForward, process);
  AddFrame(kLoop, process);
}

// Records three steps, then a call of the module "fc" in which the operator `operator_name` returns no result.
ProcessBuilder& FailInStepTwo(ProcessBuilder& process, const std::string& operator_name) {
  for (std::uint64_t step = 0; step < 3; ++step)
    process.Step(step).Stack({kLoop}).Begin("aten::mul").Allocate(0x1000, 64).End({kResult}).Deallocate(0x1000);
  process.EnterModule("fc", "Linear", "Net").Stack({kLoop, kForward}).BeginForward(operator_name, 7).End();
  return process.ExitModule("fc", "Linear", "Net");
}

TEST(Endings, AnExceptionIsFirstWithItsOperatorLineAndStep) {
  ProcessBuilder process;
  FailInStepTwo(process, "aten::linear").set_end(v1::End::EXITED, "RuntimeError: shapes cannot be multiplied");
  RaiseInForward(process);
  EXPECT_EQ(FirstLine(process),
            "train.py FAILED: RuntimeError: shapes cannot be multiplied; in step 2, aten::linear of fc, at net.py:12 "
            "Net.forward");
}

TEST(Endings, AnOperatorThatFailedElsewhereAndWasCaughtIsNotNamed) {
  ProcessBuilder process;
  FailInStepTwo(process, "aten::linear").Stack({kLoop}).Begin("aten::mul").End({kResult});
  process.set_end(v1::End::EXITED, "KeyError: 'lr'");
  AddFrame(kLoop, process);
  EXPECT_EQ(FirstLine(process), "train.py FAILED: KeyError: 'lr'; in step 2, at train.py:90 main");
}

TEST(Endings, OperatorsAfterTheExceptionDoNotHideTheOneThatRaisedIt) {
  ProcessBuilder process;
  FailInStepTwo(process, "aten::linear").Stack({kLoop}).Begin("aten::to").End({kResult}).Step(3);
  process.set_end(v1::End::EXITED, "RuntimeError: no");
  RaiseInForward(process);
  EXPECT_THAT(FirstLine(process), HasSubstr("in step 2, aten::linear of fc, at net.py:12"));
}

TEST(Endings, CtrlCIsNoFailure) {
  ProcessBuilder process;
  process.Step(4).set_end(v1::End::EXITED, "KeyboardInterrupt");
  AddFrame(kLoop, process);
  EXPECT_EQ(FirstLine(process),
            "train.py was INTERRUPTED by Ctrl-C: KeyboardInterrupt; in step 4, at train.py:90 main");
}

ProcessBuilder& DieInAnOperator(ProcessBuilder& process) {
  return process.Step(5)
      .Stack({kLoop, kForward})
      .BeginForward("aten::mm", 3)
      .Allocate(0x1000, 64)
      .set_end(v1::End::MERGED);
}

TEST(Endings, ASignalIsNamedOnceWhereItIsKnown) {
  ProcessBuilder kept;
  DieInAnOperator(kept).end().set_signal(9);
  const std::string text = ShownRun(kept);
  EXPECT_THAT(text,
              StartsWith("train.py was KILLED by signal 9 (SIGKILL); in step 5, aten::mm, at net.py:12 Net.forward"));
  EXPECT_THAT(text, Not(HasSubstr("os._exit or exec")));

  ProcessBuilder seen;
  EXPECT_THAT(FirstLine(DieInAnOperator(seen), {.pid = 100, .exit_code = 139, .signal = 11}),
              StartsWith("train.py was KILLED by signal 11 (SIGSEGV); in step 5"));
  ProcessBuilder in_shell;
  EXPECT_THAT(FirstLine(DieInAnOperator(in_shell), {.pid = 7, .exit_code = 137}),
              StartsWith("train.py was KILLED by signal 9 (SIGKILL); in step 5"));
}

TEST(Endings, WithoutASignalTheExitCodeSaysThatNoneCame) {
  ProcessBuilder process;
  EXPECT_THAT(FirstLine(DieInAnOperator(process), {.pid = 100, .exit_code = 5}),
              StartsWith("train.py left without stopping (os._exit or exec), exit code 5; in step 5"));
  ProcessBuilder unknown;
  const std::string text = ShownRun(DieInAnOperator(unknown));
  EXPECT_THAT(text, StartsWith("train.py ended without stopping (killed, os._exit or exec); in step 5"));
  EXPECT_EQ(text.find("os._exit"), text.rfind("os._exit")) << text;
}

TEST(Endings, AnExitCodeIsSaidAndAGoodEndIsNot) {
  ProcessBuilder failed;
  failed.Step(1).set_end(v1::End::EXITED);
  EXPECT_EQ(FirstLine(failed, {.pid = 100, .exit_code = 3}), "train.py ended with exit code 3");
  ProcessBuilder interrupted;
  interrupted.Step(1).set_end(v1::End::EXITED);
  EXPECT_EQ(FirstLine(interrupted, {.pid = 100, .exit_code = 1, .interrupts = 1}),
            "train.py was INTERRUPTED by Ctrl-C: it ended with exit code 1");
  ProcessBuilder good;
  good.Step(1).set_end(v1::End::EXITED);
  EXPECT_THAT(FirstLine(good, {.pid = 100}), StartsWith("train.py, torch"));
}

// The error is inside of the optimizer's step, because Lightning calls the model there.
TEST(Endings, AStepThatAnOutOfMemoryErrorLeftDoesNotComeAfterIt) {
  ProcessBuilder process;
  const std::uint32_t device = process.AddDevice("cuda", 0, "NVIDIA L4");
  process.BeginUser("Optimizer.step#AdamW.step").Begin("aten::mm").End({kResult}).End();
  process.BeginUser("Optimizer.step#AdamW.step").Begin("aten::mm").RunOutOfMemory(device, 1 << 20, 0).End().End();
  process.set_end(v1::End::EXITED, "OutOfMemoryError: CUDA out of memory");
  EXPECT_THAT(ShownRun(process), Not(HasSubstr("went on")));

  ProcessBuilder caught;
  const std::uint32_t other = caught.AddDevice("cuda", 0, "NVIDIA L4");
  caught.BeginUser("Optimizer.step#AdamW.step").Begin("aten::mm").RunOutOfMemory(other, 1 << 20, 0).End().End();
  caught.BeginUser("Optimizer.step#AdamW.step").Begin("aten::mm").End({kResult}).End();
  EXPECT_THAT(ShownRun(caught), HasSubstr("the program went on: 1 optimizer step came after it"));
}

// A program can change what is live, even if the request failed because of holes.
TEST(Endings, AnErrorOfFragmentationKeepsItsCategoriesWhereOtherFactsLeave) {
  const testing::TemporaryFolder folder;
  ProcessBuilder().Allocate(0x1000, 64).WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  OutOfMemory error;
  error.device = "cuda:0";
  error.process = ProcessId{0};
  error.asked_bytes = 300 << 20;
  error.reserved_bytes = 2000 << 20;
  error.allocated_bytes = 1600 << 20;
  error.room.cause = OutOfMemoryCause::kFragmentation;
  error.room.own_free = 400 << 20;
  error.room.largest_hole = 200 << 20;
  error.room.own_holes = 2;
  error.by_operator = {{"aten::mm", 1600 << 20, 8}};
  error.by_category = {{"activation", 1200 << 20, 6}, {"parameter", 400 << 20, 2}};
  Summary summary;
  summary.out_of_memory = {error};
  const Terminal terminal = {.width = 200};
  const std::string whole = RenderOutOfMemory(*capture, summary, kLinesOfOutOfMemory, "more", terminal);
  EXPECT_THAT(whole, HasSubstr("by operator      aten::mm"));
  const std::string cut = RenderOutOfMemory(*capture, summary, 1, "more", terminal);
  EXPECT_THAT(cut, HasSubstr("why              FRAGMENTATION: "));
  EXPECT_THAT(cut, HasSubstr("by category      activation 1.17 GiB, others 400.0 MiB\n"));
  EXPECT_THAT(cut, Not(HasSubstr("by operator")));
}

}  // namespace
}  // namespace memoir
