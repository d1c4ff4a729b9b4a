// Two recordings compared: what counts as the same module and the same line, and that rows sum to the difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/analyze/compared_captures.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/compare/compare_captures.h"
#include "tools/analyze/compare/comparison.h"
#include "tools/analyze/compare/facts/reserved_book.h"
#include "tools/analyze/compare/match/line_match.h"
#include "tools/analyze/compare/match/module_names.h"
#include "tools/analyze/compare/match/renames.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::ProcessBuilder;
using testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;

TEST(ModuleNames, WrappersAreRemoved) {
  EXPECT_EQ(PathWithoutWrappers("module._orig_mod.layers.3.mlp"), "layers.3.mlp");
  EXPECT_EQ(PathWithoutWrappers("_fsdp_wrapped_module.layers.3._fsdp_wrapped_module.mlp"), "layers.3.mlp");
  EXPECT_EQ(PathWithoutWrappers("layers.3._checkpoint_wrapped_module"), "layers.3");
  EXPECT_EQ(PathWithoutWrappers("_orig_mod.module.fc"), "fc");
  EXPECT_EQ(PathWithoutWrappers("module"), "");
  // The program's own names.
  EXPECT_EQ(PathWithoutWrappers("layers.module.fc"), "layers.module.fc");
  EXPECT_EQ(PathWithoutWrappers("modules.fc"), "modules.fc");
  EXPECT_EQ(PathWithoutWrappers(""), "");
}

TEST(ModuleNames, AModelIsTheSameInsideOfItsWrapper) {
  Renames none;
  const std::vector<Module> plain = {{"Net", "", "Net"}, {"Net", "fc", "Linear"}, {"Teacher", "fc", "Linear"}};
  const std::vector<Module> wrapped = {{"DistributedDataParallel", "", "DistributedDataParallel"},
                                       {"DistributedDataParallel", "module", "Net"},
                                       {"DistributedDataParallel", "module.fc", "Linear"},
                                       {"Teacher", "fc", "Linear"}};
  const ModuleNames names(plain, wrapped, none);
  EXPECT_EQ(names.CommonNameInA(plain[1]), names.CommonNameInB(wrapped[2]));
  EXPECT_EQ(names.CommonNameInA(plain[0]), names.CommonNameInB(wrapped[0]));
  EXPECT_EQ(names.CommonNameInA(plain[2]), names.CommonNameInB(wrapped[3]));
  EXPECT_NE(names.CommonNameInA(plain[1]), names.CommonNameInB(wrapped[3]));
  EXPECT_THAT(names.renamed_roots(), IsEmpty());
}

TEST(ModuleNames, TheOnlyTwoModelsLeftAreOne) {
  Renames renames(std::vector<Rename>{{"encoder", "backbone"}});
  const std::vector<Module> a = {{"Net", "encoder.fc", "Linear"}, {"Same", "", "Same"}};
  const std::vector<Module> b = {{"BetterNet", "backbone.fc", "Linear"}, {"Same", "", "Same"}};
  const ModuleNames names(a, b, renames);
  EXPECT_EQ(names.CommonNameInA(a[0]), names.CommonNameInB(b[0]));
  EXPECT_THAT(names.renamed_roots(), ElementsAre(Pair("Net", "BetterNet")));
  EXPECT_THAT(renames.UnusedRenames(), IsEmpty());
  // Two remaining candidates on a side cannot be assigned.
  const std::vector<Module> more = {{"BetterNet", "x", "X"}, {"Critic", "x", "X"}};
  EXPECT_THAT(ModuleNames(a, more, renames).renamed_roots(), IsEmpty());
}

TEST(Renames, OfPathsNamesAndFiles) {
  Renames renames(std::vector<Rename>{
      {"layers", "blocks"}, {"net.py", "model.py"}, {"old", "new"}, {"outer", ""}, {"absent", "x"}});
  EXPECT_EQ(renames.RenamePath("layers.3.mlp"), "blocks.3.mlp");
  EXPECT_EQ(renames.RenamePath("layers2.3"), "layers2.3");
  EXPECT_EQ(renames.RenamePath("outer.fc"), "fc");
  EXPECT_EQ(renames.RenameFile("/src/net.py"), "/src/model.py");
  EXPECT_EQ(renames.RenameFile("/src/mynet.py"), "/src/mynet.py");
  EXPECT_EQ(renames.RenameFile("/old/deep/train.py"), "/new/deep/train.py");
  EXPECT_EQ(renames.RenameName("layers"), "blocks");
  ASSERT_EQ(renames.UnusedRenames().size(), 1u);
  EXPECT_EQ(renames.UnusedRenames()[0].from, "absent");
  EXPECT_EQ(ParseRename("a=b=c")->to, "b=c");
  EXPECT_FALSE(ParseRename("=b"));
  EXPECT_FALSE(ParseRename("ab"));
}

SeenLine Seen(std::uint32_t number, std::set<std::string> marks, std::string file = "/src/net.py",
              std::string function = "Net.forward", std::uint64_t bytes = 0) {
  return {{std::move(file), std::move(function), number}, std::move(marks), bytes};
}

// By their numbers.
std::vector<std::pair<std::uint32_t, std::uint32_t>> Matched(const std::vector<SeenLine>& a,
                                                             const std::vector<SeenLine>& b) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> numbers;
  for (const auto& [in_a, in_b] : MatchLines(a, b)) numbers.emplace_back(a[in_a].line.line, b[in_b].line.line);
  return numbers;
}

TEST(MatchLines, AMovedLineIsKnownByWhatRuns) {
  EXPECT_THAT(Matched({Seen(10, {"mm fc1"}), Seen(11, {"relu"}), Seen(12, {"mm fc2"})},
                      {Seen(14, {"mm fc1"}), Seen(15, {"relu"}), Seen(17, {"mm fc2"})}),
              UnorderedElementsAre(Pair(10u, 14u), Pair(11u, 15u), Pair(12u, 17u)));
}

SeenLine Allocated(std::uint32_t number, std::uint64_t bytes) {
  return Seen(number, {"mm"}, "/src/net.py", "Net.forward", bytes);
}

TEST(MatchLines, AlikeLinesAreInTheirOrder) {
  const std::vector<SeenLine> a = {Seen(10, {"mm"}), Seen(11, {"mm"})};
  EXPECT_THAT(Matched(a, {Seen(12, {"mm"}), Seen(13, {"mm"})}), UnorderedElementsAre(Pair(10u, 12u), Pair(11u, 13u)));
  EXPECT_THAT(Matched(a, {Seen(11, {"mm"}), Seen(40, {"mm"})}), UnorderedElementsAre(Pair(10u, 11u), Pair(11u, 40u)));
  EXPECT_THAT(Matched(a, {Seen(20, {"mm"}), Seen(21, {"mm"}), Seen(22, {"mm"})}), IsEmpty());
}

// One of two lines is gone, and another is new: bytes tell that from an edit between them.
TEST(MatchLines, BytesTellAlikeLinesApart) {
  const std::vector<SeenLine> a = {Allocated(10, 100), Allocated(11, 200)};
  EXPECT_THAT(Matched(a, {Allocated(12, 100), Allocated(40, 200)}),
              UnorderedElementsAre(Pair(10u, 12u), Pair(11u, 40u)));
  EXPECT_THAT(Matched(a, {Allocated(12, 300), Allocated(40, 600)}),
              UnorderedElementsAre(Pair(10u, 12u), Pair(11u, 40u)));
  EXPECT_THAT(Matched(a, {Allocated(11, 200), Allocated(40, 900)}), UnorderedElementsAre(Pair(11u, 11u)));
}

// A new line of the same kind among others: the lines that did not move match.
TEST(MatchLines, ALineMoreLeavesTheOthers) {
  EXPECT_THAT(Matched({Seen(10, {"mm"}), Seen(11, {"mm"})}, {Seen(10, {"mm"}), Seen(11, {"mm"}), Seen(15, {"mm"})}),
              UnorderedElementsAre(Pair(10u, 10u), Pair(11u, 11u)));
}

TEST(MatchLines, TheOnlyLinesLeftAreTheSameWhereNothingElseIsLikeThem) {
  EXPECT_THAT(Matched({Seen(10, {"mm"}), Seen(11, {"relu"})}, {Seen(30, {"mm", "to"}), Seen(40, {"relu"})}),
              UnorderedElementsAre(Pair(10u, 30u), Pair(11u, 40u)));
  EXPECT_THAT(Matched({Seen(10, {"mm"}), Seen(11, {"relu", "mm"})}, {Seen(41, {"mm", "to"}), Seen(40, {"relu", "mm"})}),
              UnorderedElementsAre(Pair(11u, 40u)));
}

// As of compiled code, which runs other operators at a line where it is compiled than where that was cached.
TEST(MatchLines, BetweenTheSameLinesTheOrderCounts) {
  EXPECT_THAT(Matched({Seen(10, {"mm"}), Seen(11, {"relu", "mm"})}, {Seen(30, {"mm", "to"}), Seen(40, {"relu", "mm"})}),
              UnorderedElementsAre(Pair(10u, 30u), Pair(11u, 40u)));
  EXPECT_THAT(Matched({Seen(10, {"compiled", "empty"}), Seen(11, {"compiled", "empty", "clone"})},
                      {Seen(25, {"compiled"}), Seen(27, {"compiled", "to"})}),
              UnorderedElementsAre(Pair(10u, 25u), Pair(11u, 27u)));
  EXPECT_THAT(Matched({Seen(10, {"compiled", "empty"}), Seen(11, {"compiled", "clone"})},
                      {Seen(25, {"compiled"}), Seen(27, {"compiled", "to"}), Seen(28, {"compiled", "sum"})}),
              IsEmpty());
}

// If the operators of a line changed, its neighbours determine its match.
TEST(MatchLines, NeighboursSayWhereALineIs) {
  EXPECT_THAT(Matched({Seen(10, {"mm fc1"}), Seen(11, {"relu"}), Seen(12, {"mm fc2"})},
                      {Seen(13, {"mm fc1"}), Seen(14, {"relu", "to"}), Seen(15, {"mm fc2"})}),
              UnorderedElementsAre(Pair(10u, 13u), Pair(11u, 14u), Pair(12u, 15u)));
  // Something else altogether is not the same line because of its place, where lines have moved.
  EXPECT_THAT(Matched({Seen(10, {"mm fc1"}), Seen(11, {"relu"})}, {Seen(13, {"mm fc1"}), Seen(14, {"gelu"})}),
              UnorderedElementsAre(Pair(10u, 13u)));
  // If no line moved, it matches.
  EXPECT_THAT(Matched({Seen(10, {"mm fc1"}), Seen(11, {"relu"})}, {Seen(10, {"mm fc1"}), Seen(11, {"gelu"})}),
              UnorderedElementsAre(Pair(10u, 10u), Pair(11u, 11u)));
}

TEST(MatchLines, FunctionsAndFilesAreApart) {
  EXPECT_THAT(Matched({Seen(10, {"mm"})}, {Seen(10, {"mm"}, "/src/net.py", "Other.forward")}), IsEmpty());
  EXPECT_THAT(Matched({Seen(10, {"mm"}, "/a/net.py")}, {Seen(10, {"mm"}, "/b/net.py")}), ElementsAre(Pair(10u, 10u)));
  // A copy of a script under another name, if no other file is left.
  EXPECT_THAT(Matched({Seen(10, {"mm"}, "/a/old.py")}, {Seen(10, {"mm"}, "/b/new.py")}), ElementsAre(Pair(10u, 10u)));
  EXPECT_THAT(Matched({Seen(10, {"mm"}, "/a/old.py")}, {Seen(10, {"mm"}, "/b/x.py"), Seen(10, {"mm"}, "/b/y.py")}),
              IsEmpty());
  // Two files of one name: by the folders that they have in common, or not at all.
  EXPECT_THAT(Matched({Seen(10, {"mm"}, "/a/x/net.py"), Seen(20, {"mm"}, "/a/y/net.py")},
                      {Seen(10, {"mm"}, "/b/x/net.py"), Seen(20, {"mm"}, "/b/y/net.py")}),
              UnorderedElementsAre(Pair(10u, 10u), Pair(20u, 20u)));
  EXPECT_THAT(
      Matched({Seen(10, {"mm"}, "/a/net.py")}, {Seen(10, {"mm"}, "/b/x/net.py"), Seen(10, {"mm"}, "/b/y/net.py")}),
      IsEmpty());
}

class Compared : public testing::ComparedCaptures {
 protected:
  static std::map<std::string, std::pair<std::int64_t, std::string>> Rows(const Comparison& comparison) {
    std::map<std::string, std::pair<std::int64_t, std::string>> rows;
    for (const ComparedRow& row : comparison.focus()->rows)
      rows[row.name] = {row.difference(), std::string(ToString(row.state()))};
    return rows;
  }
};

void Forward(ProcessBuilder& process, const std::string& path, std::uint32_t line, std::uint64_t address,
             std::uint64_t bytes, const std::string& root = "Net") {
  process.EnterModule(path, "Linear", root)
      .Stack({{"/src/net.py", "Net.forward", line}})
      .Begin("aten::linear")
      .Allocate(address, bytes)
      .End()
      .ExitModule(path, "Linear", root);
}

TEST_F(Compared, RowsHaveStatesAndSumToTheDifference) {
  ProcessBuilder a, b;
  Forward(a, "fc1", 10, 0x1000, 1000);
  Forward(a, "fc2", 11, 0x10000, 500);
  Forward(a, "fc3", 12, 0x20000, 300);
  Forward(a, "fc4", 13, 0x30000, 30);
  Forward(b, "fc1", 10, 0x1000, 4000);
  Forward(b, "fc2", 11, 0x10000, 400);
  Forward(b, "fc4", 13, 0x30000, 30);
  Forward(b, "fc5", 14, 0x40000, 70);
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.by, GroupBy::kLine);
  EXPECT_EQ(comparison.focus()->peak_difference(), 2670);
  EXPECT_EQ(comparison.focus()->difference(), 2670);
  EXPECT_THAT(Rows(comparison), UnorderedElementsAre(Pair("/src/net.py:10 Net.forward", Pair(3000, "grown")),
                                                     Pair("/src/net.py:11 Net.forward", Pair(-100, "shrunk")),
                                                     Pair("/src/net.py:12 Net.forward", Pair(-300, "gone")),
                                                     Pair("/src/net.py:13 Net.forward", Pair(0, "same")),
                                                     Pair("/src/net.py:14 Net.forward", Pair(70, "new"))));
  const MainCause& cause = comparison.focus()->cause;
  EXPECT_EQ(cause.source.line, 10u);
  EXPECT_EQ(cause.module, "fc1");
  EXPECT_EQ(cause.operator_name, "aten::linear");
  EXPECT_EQ(cause.bytes, 3000);
}

TEST_F(Compared, AWrapperAndAnEditAreNoDifference) {
  ProcessBuilder a, b;
  Forward(a, "fc1", 10, 0x1000, 1000);
  Forward(a, "fc2", 11, 0x10000, 500);
  Forward(b, "module.fc1", 22, 0x1000, 1000, "DistributedDataParallel");
  Forward(b, "module.fc2", 27, 0x10000, 500, "DistributedDataParallel");
  for (const GroupBy by : {GroupBy::kLine, GroupBy::kModule, GroupBy::kCategoryModule, GroupBy::kCategoryLine}) {
    CompareOptions options;
    options.by = by;
    const Comparison comparison = Compare(a, b, options);
    EXPECT_TRUE(comparison.focus()->is_same());
    // A block without a tensor counts as a library's workspace, which has no module in a table by category.
    EXPECT_EQ(comparison.focus()->rows.size(), by == GroupBy::kCategoryModule ? 1u : 2u);
  }
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.focus()->rows[0].name, "/src/net.py:22 Net.forward");
  EXPECT_EQ(comparison.focus()->rows[0].name_a, "/src/net.py:10 Net.forward");
}

TEST_F(Compared, RenamesOfMapMatch) {
  ProcessBuilder a, b;
  Forward(a, "encoder.fc1", 10, 0x1000, 1000);
  Forward(b, "backbone.fc1", 10, 0x1000, 1000);
  CompareOptions options;
  options.by = GroupBy::kModule;
  EXPECT_FALSE(Compare(a, b, options).focus()->is_same());
  options.renames = {{"encoder", "backbone"}, {"nothing", "x"}};
  const Comparison comparison = Compare(a, b, options);
  EXPECT_TRUE(comparison.focus()->is_same());
  ASSERT_EQ(comparison.unused_renames.size(), 1u);
  EXPECT_EQ(comparison.unused_renames[0].from, "nothing");
}

// The same bytes, of something else: that is a difference.
TEST_F(Compared, AsManyBytesOfSomethingElse) {
  ProcessBuilder a, b;
  Forward(a, "fc1", 10, 0x1000, 1000);
  Forward(b, "fc2", 40, 0x1000, 1000);
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.focus()->peak_difference(), 0);
  EXPECT_FALSE(comparison.focus()->is_same());
  EXPECT_NE(comparison.focus()->cause.bytes, 0);
}

// The allocator gives a block of 2 MiB to a request of 1 MiB if no smaller one is free.
// A program that allocates a block at line 10 and a block at line 20.
void MakeTwoBlocks(ProcessBuilder& process, std::uint64_t bytes_10, std::uint64_t requested_10, std::uint64_t bytes_20,
                   std::uint64_t requested_20) {
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  const auto make = [&](std::uint32_t line, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested) {
    process.Stack({{"/src/train.py", "train", line}}).Begin("aten::empty");
    process.AllocateBlock(cuda, address, bytes, requested);
    process.End({{.storage = address,
                  .storage_bytes = requested,
                  .sizes = {static_cast<std::int64_t>(requested / 4)},
                  .device = cuda}});
  };
  process.TakeSegment(cuda, 0x10000000, 16 << 20);
  make(10, 0x10000000, bytes_10, requested_10);
  make(20, 0x10800000, bytes_20, requested_20);
}

TEST_F(Compared, TheRoundingOfTheAllocatorIsNoCause) {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  ProcessBuilder a, b;
  MakeTwoBlocks(a, kMebibyte, kMebibyte, kMebibyte / 4, kMebibyte / 4);
  MakeTwoBlocks(b, 2 * kMebibyte, kMebibyte, kMebibyte / 2, kMebibyte / 2);
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.focus()->difference(), static_cast<std::int64_t>(kMebibyte + kMebibyte / 4));
  EXPECT_EQ(comparison.focus()->cause.source.line, 20u);
  EXPECT_EQ(comparison.focus()->cause.bytes, static_cast<std::int64_t>(kMebibyte / 4));
}

// Line 20 requests 16 bytes more in a block of the same size.
TEST_F(Compared, ALineWhoseBlocksAreEqualIsNoCause) {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  ProcessBuilder a, b;
  MakeTwoBlocks(a, kMebibyte, kMebibyte, 1024, 1000);
  MakeTwoBlocks(b, 2 * kMebibyte, kMebibyte, 1024, 1016);
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.focus()->cause.source.line, 10u);
  EXPECT_EQ(comparison.focus()->cause.bytes, static_cast<std::int64_t>(kMebibyte));
}

TEST_F(Compared, IfTheDifferenceIsSmallTheLineThatGrewIsTheCause) {
  ProcessBuilder a, b;
  Forward(a, "fc1", 10, 0x1000, 10000);
  Forward(b, "fc2", 40, 0x1000, 9900);
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.focus()->difference(), -100);
  EXPECT_EQ(comparison.focus()->cause.source.line, 40u);
  EXPECT_EQ(comparison.focus()->cause.bytes, 9900);
}

TEST_F(Compared, ALargerInputIsACommonFactor) {
  ProcessBuilder a, b;
  for (std::uint32_t i = 0; i < 4; ++i) {
    Forward(a, "fc" + std::to_string(i), 10 + i, 0x10000 * (i + 1), 1000 + i);
    Forward(b, "fc" + std::to_string(i), 10 + i, 0x10000 * (i + 1), 3000 + 3 * i);
  }
  const Comparison comparison = Compare(a, b);
  EXPECT_EQ(comparison.focus()->factor.rows, 4u);
  EXPECT_NEAR(comparison.focus()->factor.factor, 3, 1e-9);
  EXPECT_EQ(comparison.focus()->factor.bytes, comparison.focus()->difference());
}

TEST_F(Compared, DevicesThatOneAloneHasHaveNoRows) {
  ProcessBuilder a, b;
  Forward(a, "fc1", 10, 0x1000, 1000);
  Forward(b, "fc1", 10, 0x1000, 1000);
  const std::uint32_t cuda = b.AddDevice("cuda", 0);
  b.TakeSegment(cuda, 0x7000000, 2 << 20).AllocateBlock(cuda, 0x7000000, 4096);
  const Comparison comparison = Compare(a, b);
  ASSERT_EQ(comparison.devices.size(), 2u);
  EXPECT_EQ(comparison.devices[0].name, "cpu");
  EXPECT_FALSE(comparison.devices[1].has_both());
  EXPECT_THAT(comparison.devices[1].rows, IsEmpty());
  EXPECT_EQ(comparison.devices[1].cause.bytes, 4096);
}

// Blocks of one size, one after another: B needs a segment more for the second, which is too large for what is free.
TEST_F(Compared, ReservedBytesHaveACauseOfTheirOwn) {
  constexpr std::uint64_t kSegment = 2 << 20;
  ProcessBuilder a, b;
  for (ProcessBuilder* process : {&a, &b}) {
    const std::uint32_t cuda = process->AddDevice("cuda", 0);
    process->TakeSegment(cuda, 0x10000000, kSegment).AllocateBlock(cuda, 0x10000000, 4096).FreeBlock(cuda, 0x10000000);
    const std::uint64_t second = process == &a ? 0x10000000 : 0x20000000;
    process->Begin("aten::mm");
    if (process == &b) process->TakeSegment(cuda, second, kSegment);
    process->AllocateBlock(cuda, second, 4096)
        .End({{.storage = second, .storage_bytes = 4096, .sizes = {1024}, .device = cuda}});
    process->FreeBlock(cuda, second);
  }
  const Comparison comparison = Compare(a, b);
  const ComparedDevice& device = *comparison.focus();
  EXPECT_EQ(device.difference(), 0);
  EXPECT_EQ(device.reserved_difference(), static_cast<std::int64_t>(kSegment));
  EXPECT_EQ(device.reserved_cause.bytes, static_cast<std::int64_t>(kSegment));
  EXPECT_EQ(device.reserved_cause.operator_name, "aten::mm");
}

TEST(ReservedBook, SumsToWhatWasReserved) {
  ReservedBook book;
  Block segment;
  segment.address = 0x1000;
  segment.bytes = 0x4000;
  const ReservedKey early = {3, 4, 5, 0}, late = {6, 7, 8, 0};
  book.Grow(segment, early);
  book.NoteReserved(0x4000);
  Block block;
  block.address = 0x800;
  block.bytes = 0x1000;  // begins in a piece before
  book.TakeFor(block, late);
  EXPECT_FALSE(book.awaits_block());
  book.Shrink(0x2000, 0x1000);  // out of its middle
  book.NoteReserved(0x3000);
  segment.address = 0x9000;
  book.Grow(segment, early);
  book.NoteReserved(0x7000);
  book.Shrink(0, 0x100000);
  book.NoteReserved(0);
  EXPECT_EQ(book.peak(), 0x7000u);
  EXPECT_THAT(book.AtPeak(), UnorderedElementsAre(Pair(late, 0x3000u), Pair(early, 0x4000u)));
}

}  // namespace
}  // namespace memoir
