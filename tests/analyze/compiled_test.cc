// Results of torch.compile: lines of the program for generated code, modules, regions, frames and graph breaks, by
// hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/analyze/summarised.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/compiled/compiled_frames.h"
#include "tools/analyze/summary/summary.h"

namespace memoir {
namespace {

using ::testing::Pair;
using testing::ProcessBuilder;
using testing::RowNamed;
using testing::Summarise;
using testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;
using PythonFrame = ProcessBuilder::PythonFrame;

constexpr char kRegion[] = "Torch-Compiled Region: 0/0";
const PythonFrame kMain = {"/src/train.py", "main", 90};

PythonFrame Generated(std::uint32_t line) { return {"/cache/ab/cab.py", "Runner.call", line}; }

// Line 20 belongs to two operations of layers.0, line 30 to an operation of a module without a known root, line 40 to
// no operation.
constexpr char kCode[] =
    "torch.compile: code\t/cache/ab/cab.py\n"
    "t\tNet\tlayers.0\tBlock\taten.gelu\t/src/net.py\tNet.forward\tBlock.forward\taten.mul\tinner\n"
    "o\t1\t2\t3\t4\t5\t6\t7\t5\t7\t12\n"
    "o\t1\t2\t3\t8\t5\t7\t13\n"
    "o\t0\t9\t3\t4\t5\t7\t14\n"
    "l\t20\t0\t1\nl\t30\t2\nl\t40";

ProcessBuilder& Note(ProcessBuilder& process, const std::string& text) { return process.BeginUser(text).End(); }

std::map<std::string, std::uint64_t> Allocated(ProcessBuilder& process, GroupBy by) {
  SummaryOptions options;
  options.by = by;
  std::map<std::string, std::uint64_t> found;
  for (const SummaryRow& row : Summarise(process, options).rows) {
    if (row.total.allocated_bytes > 0) found[row.name] += row.total.allocated_bytes;
  }
  return found;
}

void RunGenerated(ProcessBuilder& process) {
  Note(process, kCode).EnterModule("", "Net", "Net").BeginText(kRegion);
  process.Stack({kMain, Generated(20)}).Allocate(0x1, 1).Stack({kMain, Generated(25)}).Allocate(0x2, 2);
  process.Stack({kMain, Generated(30)}).Allocate(0x3, 4).Stack({kMain, Generated(41)}).Allocate(0x4, 8);
  process.Stack({kMain, Generated(10)}).Allocate(0x5, 16).End().Stack({kMain}).Allocate(0x6, 32);
  process.ExitModule("", "Net", "Net");
}

TEST(Compiled, BuffersOfGeneratedCodeAreOfTheLineThatTheyAreFor) {
  ProcessBuilder process;
  RunGenerated(process);
  EXPECT_THAT(Allocated(process, GroupBy::kLine),
              UnorderedElementsAre(Pair("/src/net.py:12 Block.forward", 3), Pair("/src/net.py:14 Block.forward", 4),
                                   Pair("/src/train.py:90 main", 56)));
}

TEST(Compiled, TheGeneratedLinesAndAllTheirOperationsAreKnown) {
  ProcessBuilder process;
  RunGenerated(process);
  SummaryOptions options;
  options.by = GroupBy::kLine;
  const Summary summary = Summarise(process, options);
  const SummaryRow& row = RowNamed(summary, "/src/net.py:12 Block.forward");
  ASSERT_EQ(row.via.size(), 2u);
  EXPECT_EQ(row.via[0].line, (SourceLine{"/cache/ab/cab.py", "Runner.call", 20}));
  ASSERT_EQ(row.via[0].origins.size(), 2u);
  EXPECT_EQ(row.via[0].origins[0].frames.size(), 2u);
  EXPECT_EQ(row.via[0].origins[1].operation, "aten.mul");
  EXPECT_EQ(row.via[0].origins[1].frames.back().line, 13u);
  EXPECT_EQ(row.via[1].line.line, 25u);
}

TEST(Compiled, TheyAreOfItsModule) {
  ProcessBuilder process;
  RunGenerated(process);
  EXPECT_THAT(Allocated(process, GroupBy::kModule),
              UnorderedElementsAre(Pair("layers.0", 3), Pair("inner", 4), Pair("Net", 56)));
}

TEST(Compiled, ModulesWithoutARootLieInTheOneAround) {
  ProcessBuilder process;
  Note(process, kCode).EnterModule("part", "Part", "Model").BeginText(kRegion);
  process.Stack({kMain, Generated(30)}).Allocate(0x3, 4).End().ExitModule("part", "Part", "Model");
  process.Stack({kMain, Generated(30)}).Allocate(0x4, 8);
  EXPECT_THAT(Allocated(process, GroupBy::kModule),
              UnorderedElementsAre(Pair("part.inner", 4), Pair("(no module)", 8)));
}

TEST(Compiled, BackwardIsOfTheRegionOfItsForward) {
  ProcessBuilder process;
  process.BeginText(kRegion).BeginForward("aten::mm", 7).Allocate(0x1, 1).End().End();
  process.BeginBackward("MmBackward0", 7, 1).Allocate(0x2, 2).End().Allocate(0x3, 4);
  EXPECT_THAT(Allocated(process, GroupBy::kRegion),
              UnorderedElementsAre(Pair(kRegion, 3), Pair("(no compiled region)", 4)));
}

TEST(Compiled, DamagedNotesAreNames) {
  for (const std::string text :
       {"torch.compile: code\t/a.py\nl\tx", "torch.compile: code\t/a.py\nl\t1\t0",
        "torch.compile: code\t/a.py\no\t1\t0\t0\t0", "torch.compile: code\t/a.py\no\t0\t0\t0\t0\t0",
        "torch.compile: code\t/a.py\n?", "torch.compile: code\ta\tb", "torch.compile: forward\t0/0",
        "torch.compile: code\t/a.py\n", "torch.compile: code\t/a.py\nl\t99999999999"})
    EXPECT_FALSE(ParseCompilerNote(text)) << text;
  EXPECT_FALSE(ParseCompilerNote("forward\t0/0\tf\tx.py\t1\t\t"));
  EXPECT_TRUE(ParseCompilerNote("torch.compile: forward\t0/0\tf\tx.py\t1\t\t"));
}

CompiledFrames Frames(ProcessBuilder& process) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const auto capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  const auto frames = AnalyzeCompiledFrames(*capture, {});
  EXPECT_TRUE(frames.ok()) << frames.status();
  return *frames;
}

// Compiled twice, 30 bytes live at most and 5; the first time it breaks. Each version is called.
void CompileTwice(ProcessBuilder& process) {
  process.BeginUser("torch.compile: _compile").Allocate(0x1, 10).BeginUser("torch.compile: inner").Allocate(0x2, 20);
  process.End().Deallocate(0x1).Deallocate(0x2).Allocate(0x3, 15);
  Note(process, "torch.compile: break\t0/0\tNet.forward\t/src/net.py\t8\tcall to print\t");
  Note(process, "torch.compile: forward\t0/0\tNet.forward\t/src/net.py\t7\t\t").End();
  process.BeginText(kRegion).Allocate(0x4, 100).Deallocate(0x4).End();
  process.BeginUser("torch.compile: _compile").Allocate(0x5, 5);
  Note(process, "torch.compile: forward\t0/1\tNet.forward\t/src/net.py\t7\tsize mismatch\t").End();
  for (int i = 0; i < 2; ++i) process.BeginText("Torch-Compiled Region: 0/1").Allocate(0x6 + i, 1000).End();
}

TEST(Compiled, EachCompilationHasItsFactsAndBytes) {
  ProcessBuilder process;
  CompileTwice(process);
  const CompiledFrames frames = Frames(process);
  ASSERT_EQ(frames.frames.size(), 2u);
  const CompiledFrame &again = frames.frames[0], &first = frames.frames[1];
  EXPECT_EQ(first.id, "0/0");
  EXPECT_EQ(first.forward->function, "Net.forward");
  EXPECT_EQ(first.forward->line, 7u);
  EXPECT_EQ(first.calls, 1u);
  ASSERT_EQ(first.by_device.size(), 1u);
  EXPECT_EQ(first.by_device[0].compile_peak_bytes, 30u);
  EXPECT_EQ(first.by_device[0].allocated_bytes, 100u);
  EXPECT_EQ(first.by_device[0].bytes_at_peak, 0u);
  EXPECT_EQ(again.id, "0/1");
  EXPECT_EQ(again.forward->reason, "size mismatch");
  EXPECT_EQ(again.calls, 2u);
  EXPECT_EQ(again.by_device[0].compile_peak_bytes, 5u);
  EXPECT_EQ(again.by_device[0].allocated_bytes, 2000u);
  EXPECT_EQ(again.by_device[0].bytes_at_peak, 2000u);
  ASSERT_EQ(frames.breaks.size(), 1u);
  EXPECT_EQ(frames.breaks[0].at.line, 8u);
  EXPECT_EQ(frames.breaks[0].count, 1u);
}

TEST(Compiled, TenThousandRecompilesAreBounded) {
  ProcessBuilder process;
  const std::size_t made = CompiledFrames::kMost + 10;
  for (std::size_t i = 0; i < made; ++i)
    Note(process, "torch.compile: forward\t0/" + std::to_string(i) + "\tf\t/src/net.py\t7\tagain\t");
  process.Allocate(0x1, 1);
  const CompiledFrames frames = Frames(process);
  EXPECT_EQ(frames.frames.size(), CompiledFrames::kMost);
  EXPECT_EQ(frames.left_out, made - CompiledFrames::kMost);
}

}  // namespace
}  // namespace memoir
