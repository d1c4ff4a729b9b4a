// Libraries' workspaces: a row of their own where rows are operators or modules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/analyze/summarised.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/categories/library_workspaces.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/lives/block_lives.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/oom/out_of_memory_analysis.h"
#include "tools/analyze/time/live_block_table.h"

namespace memoir {
namespace {

using testing::BytesAtPeak;
using ::testing::Pair;
using testing::ProcessBuilder;
using testing::RowNamed;
using testing::Summarise;
using testing::TemporaryFolder;
using testing::TensorSpec;
using ::testing::UnorderedElementsAre;

constexpr char kRow[] = "(library workspace)";
constexpr std::uint64_t kWorkspace = 0x100000, kFirst = 0x200000, kSecond = 0x300000;

TensorSpec On(std::uint32_t device, std::uint64_t address) {
  return {.impl = address + 1, .storage = address, .storage_bytes = 64, .sizes = {16}, .device = device};
}

// Two layers: in the first, cuBLAS takes 32 bytes for itself.
std::uint32_t FillLayers(ProcessBuilder& process) {
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.EnterModule("", "Net").EnterModule("a", "Linear").Begin("aten::mm");
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, kWorkspace, 2048).AllocateBlock(cuda, kWorkspace, 32);
  process.AllocateBlock(cuda, kFirst, 100).End({On(cuda, kFirst)}).ExitModule("a", "Linear");
  process.EnterModule("b", "Linear").Begin("aten::mm", {On(cuda, kFirst)}).AllocateBlock(cuda, kSecond, 200);
  process.End({On(cuda, kSecond)}).ExitModule("b", "Linear").ExitModule("", "Net");
  return cuda;
}

SummaryOptions By(GroupBy by) {
  SummaryOptions options;
  options.by = by;
  return options;
}

TEST(Workspaces, AreOfNoModuleAndOfNoOperator) {
  ProcessBuilder process;
  FillLayers(process);
  const Summary modules = Summarise(process, By(GroupBy::kModule));
  EXPECT_THAT(BytesAtPeak(modules),
              UnorderedElementsAre(Pair("Model", 0), Pair("a", 100), Pair("b", 200), Pair(kRow, 32)));
  const SummaryRow& row = RowNamed(modules, kRow);
  EXPECT_EQ(row.kind, SummaryRow::Kind::kWorkspace);
  EXPECT_EQ(row.total.reserved_bytes, 2048u) << "the segment that was taken for it";
  EXPECT_EQ(row.module.by_phase[static_cast<std::size_t>(Phase::kForward)].bytes_at_peak, 32u);
  EXPECT_EQ(modules.phases[static_cast<std::size_t>(Phase::kForward)].bytes_at_peak, 332u);
  EXPECT_EQ(modules.total().bytes_at_peak, modules.devices[0].peak_allocated_bytes);
  const Summary operators = Summarise(process, By(GroupBy::kOperator));
  EXPECT_THAT(BytesAtPeak(operators), UnorderedElementsAre(Pair("aten::mm", 300), Pair(kRow, 32)));
  EXPECT_EQ(RowNamed(operators, "aten::mm").count, 2u);
  EXPECT_THAT(BytesAtPeak(Summarise(process, By(GroupBy::kLeaf))), UnorderedElementsAre(Pair("aten::mm", 332)));
}

TEST(Workspaces, AreOfNoModuleAmongCategoriesToo) {
  ProcessBuilder process;
  FillLayers(process);
  const auto rows = BytesAtPeak(Summarise(process, By(GroupBy::kCategoryModule)));
  ASSERT_TRUE(rows.contains("temporary (workspace)")) << "without a module before it";
  EXPECT_EQ(rows.at("temporary (workspace)"), 32u);
}

TEST(Workspaces, FromBeforeAWindow) {
  ProcessBuilder process;
  const std::uint32_t cuda = FillLayers(process);
  process.BeginUser("window").Begin("aten::add").AllocateBlock(cuda, 0x400000, 8).End({On(cuda, 0x400000)}).End();
  SummaryOptions options = By(GroupBy::kModule);
  options.window = SelectionWindow::Range("window");
  const Summary summary = Summarise(process, options);
  const SummaryRow& row = RowNamed(summary, std::string(kRow) + " (before the window)");
  EXPECT_EQ(row.kind, SummaryRow::Kind::kBefore);
  EXPECT_EQ(row.total.bytes_at_peak, 32u);
  EXPECT_EQ(RowNamed(summary, "(before the window)").total.bytes_at_peak, 300u);
}

TEST(Workspaces, AtTheEndAndAtAnError) {
  ProcessBuilder process;
  const std::uint32_t cuda = FillLayers(process);
  process.Begin("aten::add", {On(cuda, kFirst)}).RunOutOfMemory(cuda, 4096, 512).End();
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = *Capture::Open(folder.path());
  LiveBlockTableOptions options;
  options.by = GroupBy::kModule;
  const auto live = AnalyzeLiveBlockTable(capture, options);
  ASSERT_TRUE(live.ok()) << live.status();
  std::map<std::string, std::uint64_t> rows;
  for (const LiveRow& row : live->devices.at(0).rows) rows[row.name] = row.bytes;
  EXPECT_THAT(rows, UnorderedElementsAre(Pair("a", 100), Pair("b", 200), Pair(kRow, 32)));
  const auto errors = AnalyzeOutOfMemory(capture, {});
  ASSERT_TRUE(errors.ok()) << errors.status();
  std::map<std::string, std::uint64_t> modules, operators;
  for (const HoldingRow& holder : errors->at(0).by_module) modules[holder.name] = holder.bytes;
  for (const HoldingRow& holder : errors->at(0).by_operator) operators[holder.name] = holder.bytes;
  EXPECT_THAT(modules, UnorderedElementsAre(Pair("a", 100), Pair("b", 200), Pair(kRow, 32)));
  EXPECT_THAT(operators, UnorderedElementsAre(Pair("aten::mm", 300), Pair(kRow, 32)));
}

// The first part stays, the second is missing: its sums are the next keyframe's, less the visited ones.
TEST(Workspaces, OfPartsBetweenWhichOneIsGone) {
  ProcessBuilder process;
  const std::uint32_t cuda = FillLayers(process);
  process.EndPart().Begin("aten::mm").AllocateBlock(cuda, 0x400000, 8).End({On(cuda, 0x400000)}).EndPart();
  process.FoldPart(1).Begin("aten::mm").AllocateBlock(cuda, 0x500000, 4).End({On(cuda, 0x500000)});
  const Summary summary = Summarise(process);
  EXPECT_EQ(RowNamed(summary, kRow).total.allocated_bytes, 32u);
  EXPECT_EQ(RowNamed(summary, "aten::mm").total.allocated_bytes, 312u);
  EXPECT_EQ(RowNamed(summary, "aten::mm").count, 4u);
  EXPECT_EQ(summary.total().allocated_bytes, summary.devices[0].allocated_bytes);
}

// Devices whose memory torch does not cache have no workspaces: their libraries get no memory from torch.
TEST(Workspaces, NoneOnTheHost) {
  ProcessBuilder process;
  process.Begin("aten::mm").Allocate(kWorkspace, 32).Allocate(kFirst, 100).End({On(0, kFirst)});
  FillLayers(process);
  EXPECT_THAT(BytesAtPeak(Summarise(process)), UnorderedElementsAre(Pair("aten::mm", 432), Pair(kRow, 32)));
}

// The result of one short pass equals the rule's with all evidence.
class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    cuda_ = process_.AddDevice("cuda", 0);
    process_.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda_, 0x100000, std::uint64_t{1} << 30);
  }

  ProcessBuilder& Run(int events) {
    for (int i = 0; i < events; ++i) Act(random_() % 12);
    return process_;
  }

 private:
  std::uint64_t Any() { return live_[random_() % live_.size()]; }
  void Allocate() {
    const std::uint32_t device = random_() % 8 == 0 ? 0 : cuda_;
    device == 0 ? process_.Allocate(next_, 64) : process_.AllocateBlock(device, next_, 64);
    devices_[next_] = device;
    live_.push_back(next_);
    next_ += 4096;
  }
  std::vector<TensorSpec> Some() {
    if (live_.empty() || random_() % 2 == 0) return {};
    const std::uint64_t address = Any();
    return {On(devices_[address], address)};
  }
  void Free() {
    if (live_.empty()) return;
    const std::size_t at = random_() % live_.size();
    process_.Deallocate(live_[at], devices_[live_[at]]);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void Begin(std::uint64_t what) {
    constexpr int kDeepest = 6;
    if (depth_ == kDeepest) return;
    ++depth_;
    if (what == 0) {
      process_.BeginBackward("MmBackward0", 7, 1);
    } else if (what == 1) {
      process_.BeginUser(random_() % 2 == 0 ? "Optimizer.step#SGD.step" : "enumerate(DataLoader)#_Iter.__next__");
    } else {
      process_.Begin("aten::mm", Some());
    }
  }
  void Act(std::uint64_t action) {
    if (action < 4) return Allocate();
    if (action < 6) return Free();
    if (action < 9) return Begin(random_() % 6);
    if (depth_ == 0) return;
    --depth_;
    process_.End(Some());
  }

  std::mt19937_64 random_;
  ProcessBuilder process_;
  std::uint32_t cuda_ = 0;
  std::uint64_t next_ = 0x100000;
  int depth_ = 0;
  std::vector<std::uint64_t> live_;
  std::map<std::uint64_t, std::uint32_t> devices_;
};

TEST(Workspaces, AreThoseOfTheRule) {
  std::size_t found_in_all = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Program program(seed);
    const TemporaryFolder folder;
    program.Run(400).WriteTo(folder.path());
    const Capture capture = *Capture::Open(folder.path());
    const Selection all;
    JointReplays replays(capture, all);
    SharedCategories shared(replays);
    const BlockCategories& categories = **replays.Finish(shared.Find());
    std::set<std::uint64_t> wanted;
    const auto show = [&](const BlockLife& life, const ReplayState& state) {
      const bool is = IsOfLibrary(life.rule) && !categories.IsExpected(*life.block);
      if (is && state.memory(life.block->device).caching()) wanted.insert(life.block->ordinal);
    };
    const auto lives = replays.Finish(ForEachBlockLife(replays, all, categories, show));
    ASSERT_TRUE(lives.ok()) << lives.status();
    const LibraryWorkspaces found = *replays.Finish(FindLibraryWorkspaces(replays));
    ASSERT_EQ(std::set<std::uint64_t>(found.begin(), found.end()), wanted) << "seed " << seed;
    ASSERT_EQ(categories.workspaces, found) << "seed " << seed;
    found_in_all += wanted.size();
  }
  EXPECT_GT(found_in_all, 1000u);
}

// A block of a repeated step has no recorded operator. It counts as a workspace if its matching block is a workspace.
TEST(Workspaces, OfARepeatedStepAreInTheSameRow) {
  Grouping operators = Grouping::Of(GroupBy::kOperator, "");
  operators.SeparateWorkspaces({7});
  Block recorded, inferred, other;
  recorded.ordinal = 7;
  inferred.ordinal = 20;
  inferred.matching_ordinal = 7;
  other.ordinal = 20;
  EXPECT_TRUE(operators.IsSeparate(recorded));
  EXPECT_TRUE(operators.IsSeparate(inferred));
  EXPECT_FALSE(operators.IsSeparate(other));
}

}  // namespace
}  // namespace memoir
