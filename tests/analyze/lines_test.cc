// Which line of the program a block belongs to: whose code a frame is, what backward gives, what has no line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/analyze/summarised.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/grouping/own_code.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/time/live_block_table.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using testing::ProcessBuilder;
using testing::RowNamed;
using testing::Summarise;
using ::testing::UnorderedElementsAre;
using PythonFrame = ProcessBuilder::PythonFrame;

const PythonFrame kMain = {"/src/me/train.py", "main", 90};
const PythonFrame kForward = {"/src/me/net.py", "Net.forward", 12};
const PythonFrame kLinear = {"/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", "Linear.forward", 134};
constexpr char kForwardRow[] = "/src/me/net.py:12 Net.forward";
constexpr char kMainRow[] = "/src/me/train.py:90 main";

Summary ByLine(ProcessBuilder& process, SummaryOptions options = {}) {
  options.by = GroupBy::kLine;
  return Summarise(process, options);
}

std::map<std::string, std::uint64_t> Allocated(const Summary& summary) {
  std::map<std::string, std::uint64_t> found;
  for (const SummaryRow& row : summary.rows) found[row.name] += row.total.allocated_bytes;
  return found;
}

TEST(OwnCode, IsWhatNoLibraryHas) {
  const OwnCode own;
  for (const char* file : {"/src/me/train.py", "train.py", "<string>", "<stdin>", "<ipython-input-3-aa11>",
                           "/tmp/ipykernel_7/99.py", "/src/me/torch/train.py", "/src/me/python3/x.py", ""})
    EXPECT_EQ(own.OwnerOf(file), CodeOwner::kProgram) << file;
  for (const char* file : {"/v/lib/python3.11/site-packages/x/y.py", "/usr/lib/python3/dist-packages/numpy/a.py",
                           "/usr/lib/python3.11/threading.py", "/opt/lib64/python3.13t/ast.py",
                           "/usr/lib/python311.zip/a.py", "<frozen importlib._bootstrap>", "<eval_with_key>.12",
                           "/src/pytorch/torch/nn/modules/module.py", "/src/pytorch/torch/_tensor.py",
                           "/tmp/torchinductor_me/ab/cabc.py", "/opt/x/lib/memoir/python/_torch_memoir/_a.py"})
    EXPECT_EQ(own.OwnerOf(file), CodeOwner::kLibrary) << file;
}

TEST(OwnCode, NativeCodeIsKnownByItsLibrary) {
  const OwnCode own;
  for (const char* path : {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libm.so.6", "linux-vdso.so.1",
                           "/v/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so", "/opt/conda/lib/libgomp.so.1"})
    EXPECT_EQ(own.OwnerOfNative(path, ""), CodeOwner::kLibrary) << path;
  for (const char* path : {"/src/me/build/train", "/src/me/build/ops.so", "/src/me/build/lib/libmodel.so",
                           "/src/me/ops.cpython-311-x86_64-linux-gnu.so"})
    EXPECT_EQ(own.OwnerOfNative(path, ""), CodeOwner::kProgram) << path;
  EXPECT_EQ(own.OwnerOfNative("/src/me/build/train", "/src/me/net.cc"), CodeOwner::kProgram);
  for (const char* header : {"/usr/include/c++/12/bits/invoke.h", "/src/torch/include/ATen/core/TensorBody.h"})
    EXPECT_EQ(own.OwnerOfNative("/src/me/build/train", header), CodeOwner::kLibrary) << header;
  EXPECT_EQ(OwnCode("libtorch_cpu.so").OwnerOfNative("/t/lib/libtorch_cpu.so", ""), CodeOwner::kNamed);
}

TEST(OwnCode, APathNamesWhatLiesBelowIt) {
  for (const char* path : {"models", "models/", "./models", "me/models", "/src/me/models"})
    EXPECT_EQ(OwnCode(path).OwnerOf("/src/me/models/net.py"), CodeOwner::kNamed) << path;
  EXPECT_EQ(OwnCode("net.py").OwnerOf("/src/me/models/net.py"), CodeOwner::kNamed);
  for (const char* path : {"model", "odels", "/models", "/me/models", "models/net"})
    EXPECT_EQ(OwnCode(path).OwnerOf("/src/me/models/net.py"), CodeOwner::kProgram) << path;
  EXPECT_EQ(OwnCode("site-packages/vit").OwnerOf("/v/site-packages/vit/a.py"), CodeOwner::kNamed);
  EXPECT_EQ(OwnCode("/").OwnerOf("/a.py"), CodeOwner::kNamed);
}

TEST(Lines, TheInnermostFrameOfTheProgramIsTheLine) {
  ProcessBuilder process;
  process.Stack({kMain, kForward, kLinear}).Begin("aten::linear").Allocate(0x1, 10).End();
  process.Stack({kMain}).Allocate(0x2, 20);
  process.Stack({kLinear}).Allocate(0x3, 40);  // a thread of a library's: the innermost of all
  process.Stack({}).Allocate(0x4, 80);
  const Summary summary = ByLine(process);
  EXPECT_THAT(Allocated(summary),
              UnorderedElementsAre(Pair(kForwardRow, 10), Pair(kMainRow, 20),
                                   Pair(kLinear.file + ":134 Linear.forward", 40), Pair("(no Python line)", 80)));
  EXPECT_EQ(RowNamed(summary, kForwardRow).source, (SourceLine{"/src/me/net.py", "Net.forward", 12}));
  EXPECT_EQ(RowNamed(summary, "(no Python line)").kind, SummaryRow::Kind::kNone);
  EXPECT_EQ(summary.devices[0].peak_line, SourceLine());  // the last allocation made the peak
  EXPECT_EQ(summary.missing, "");
  EXPECT_EQ(summary.total().bytes_at_peak, 150u);
}

TEST(Lines, OwnNamesOtherCode) {
  ProcessBuilder process;
  process.Stack({kMain, kForward, kLinear}).Allocate(0x1, 10).Stack({kForward}).Allocate(0x2, 20);
  SummaryOptions options;
  options.own = "train.py";
  EXPECT_THAT(Allocated(ByLine(process, options)), UnorderedElementsAre(Pair(kMainRow, 10), Pair(kForwardRow, 20)));
}

TEST(Lines, OwnThatIsNowhereIsSaid) {
  ProcessBuilder process;
  process.Stack({kMain}).Allocate(0x1, 10);
  SummaryOptions options;
  options.own = "nowhere";
  EXPECT_THAT(ByLine(process, options).missing, HasSubstr("--own nowhere"));
}

TEST(Lines, BackwardIsOfTheForwardOperatorsLine) {
  ProcessBuilder process;
  process.Stack({kMain, kForward}).BeginForward("aten::mm", 7).End();
  process.Stack({kMain}).BeginBackward("MmBackward0", 7, 1).Allocate(0x1, 10).End();
  process.BeginBackward("MmBackward0", 8, 1).Allocate(0x2, 20).End();  // its forward was not recorded
  EXPECT_THAT(Allocated(ByLine(process)), UnorderedElementsAre(Pair(kForwardRow, 10), Pair(kMainRow, 20)));
}

TEST(Lines, CompiledCodeWithoutFramesHasARow) {
  ProcessBuilder process;
  process.Stack({kMain}).BeginText("Torch-Compiled Region: 0/0").Allocate(0x1, 10).End();
  process.OnThread(2).BeginText("Torch-Compiled Region: 0/0").Allocate(0x2, 20).End();
  EXPECT_THAT(Allocated(ByLine(process)), UnorderedElementsAre(Pair(kMainRow, 10), Pair("(compiled code)", 20)));
}

TEST(Lines, BlocksFromBeforeAWindowKeepTheirLine) {
  ProcessBuilder process;
  process.Stack({kMain}).Allocate(0x1, 10).BeginUser("w").Stack({kForward}).Allocate(0x2, 20).End();
  SummaryOptions options;
  options.window = SelectionWindow::Range("w");
  const Summary summary = ByLine(process, options);
  EXPECT_EQ(RowNamed(summary, std::string(kMainRow) + " (before the window)").total.bytes_at_peak, 10u);
  EXPECT_EQ(RowNamed(summary, kForwardRow).total.bytes_at_peak, 20u);
}

TEST(Lines, ARecordingWithoutStacksSaysSo) {
  ProcessBuilder process;
  process.Begin("aten::mm").Allocate(0x1, 10).End();
  const Summary summary = ByLine(process);
  EXPECT_THAT(summary.missing, HasSubstr("--stacks python"));
  EXPECT_THAT(Allocated(summary), UnorderedElementsAre(Pair("(no Python line)", 10)));
}

TEST(Lines, CategoriesStandBesideThem) {
  ProcessBuilder process;
  process.Stack({kMain}).Begin("aten::mm").Allocate(0x1, 10).Deallocate(0x1).End().Stack({}).Allocate(0x2, 20);
  SummaryOptions options;
  options.by = GroupBy::kCategoryLine;
  const Summary summary = Summarise(process, options);
  EXPECT_EQ(summary.total().allocated_bytes, 30u);
  bool found = false;
  for (const SummaryRow& row : summary.rows) found = found || (row.source.line == 90 && row.name.starts_with(kMainRow));
  EXPECT_TRUE(found);
}

TEST(Lines, TheLineOfThePeakAndOfTheLargestBlocksIsKnown) {
  ProcessBuilder process;
  process.Stack({kMain, kForward, kLinear}).Allocate(0x1, 10).Deallocate(0x1);
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const auto capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const auto summary = AnalyzeSummary(*capture, {});
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(ToString(summary->devices[0].peak_line), kForwardRow);
  LiveBlockTableOptions options;
  options.by = GroupBy::kLine;
  const auto live = AnalyzeLiveBlockTable(*capture, options);
  ASSERT_TRUE(live.ok()) << live.status();
  ASSERT_EQ(live->devices.size(), 1u);
  EXPECT_EQ(live->devices[0].rows.at(0).name, kForwardRow);
  EXPECT_EQ(ToString(live->devices[0].largest.at(0).line), kForwardRow);
}

TEST(Lines, AnOutOfMemoryErrorNamesTheLineThatAsked) {
  ProcessBuilder process;
  const std::uint32_t gpu = process.AddDevice("cuda", 0);
  process.Stack({kMain, kForward}).BeginForward("aten::mm", 7).End();
  process.Stack({kMain}).BeginBackward("MmBackward0", 7, 1).RunOutOfMemory(gpu, 100, 10).End();
  const auto errors = Summarise(process).out_of_memory;
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(ToString(errors[0].line), kForwardRow);
  EXPECT_EQ(ToString(errors[0].backward_line), kMainRow);
}

}  // namespace
}  // namespace memoir
