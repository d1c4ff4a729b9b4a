// Threads that work for others (docs/event_schema.md): autograd's thread of a GPU, and threads of OpenMP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/analyze/tree/range_tree_analysis.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

// Each allocation: bytes, operator / leaf / user range.
class Allocations : public Visitor {
 public:
  std::vector<std::string> lines;
  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnAllocate(const AllocateEvent& event) override {
    const Block& block = *event.block;
    lines.push_back(std::to_string(block.bytes) + " " + Text(block.operator_name) + "/" + Text(block.leaf_name) + "/" +
                    Text(block.user_name));
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    lines.push_back("-" + std::to_string(event.block->bytes) + (event.temporary ? " temporary" : ""));
  }

 private:
  std::string Text(NameId name) const { return std::string(state_->dictionary().text(name)); }
  const ReplayState* state_ = nullptr;
};

std::vector<std::string> AllocationsOf(ProcessBuilder& process) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  Allocations allocations;
  ReplayOptions options;
  options.modules = true;
  EXPECT_TRUE(capture->Replay(allocations, options).ok());
  return allocations.lines;
}

// "  name calls allocated itself", a line for each node.
std::vector<std::string> TreeOf(ProcessBuilder& process) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<RangeTree> tree = AnalyzeRangeTree(*Capture::Open(folder.path()), {});
  EXPECT_TRUE(tree.ok()) << tree.status();
  std::vector<std::string> lines;
  for (const RangeNode& node : tree->nodes) {
    lines.push_back(std::string(2 * node.depth, ' ') + node.name + " " + std::to_string(node.calls) + " " +
                    std::to_string(node.allocated_bytes) + " " + std::to_string(node.self_bytes));
  }
  return lines;
}

constexpr const char* kEngine = "autograd::engine::evaluate_function: MmBackward0";

// The events of a backward pass on the engine's thread 2, whose forward was on thread 1.
void RunNode(ProcessBuilder& process, std::uint64_t address) {
  process.OnThread(2).BeginText(kEngine).Begin("aten::hook").Allocate(address, 1).End();
  process.BeginBackward("MmBackward0", 7, 1).Begin("aten::mm").Allocate(address + 1, 2).End().End();
  process.Allocate(address + 2, 4).End();
}

TEST(WorkingForOthers, BackwardOnTheEnginesThreadStandsInTheUserRangeOfItsForwardThread) {
  ProcessBuilder process;
  process.BeginUser("step").BeginUser("forward").End().BeginUser("backward").BeginText("inner");
  RunNode(process, 0x100);
  process.OnThread(1).End().End().End();
  RunNode(process, 0x200);  // nothing is open there any more
  EXPECT_THAT(AllocationsOf(process), ElementsAre("1 aten::hook/aten::hook/backward", "2 aten::mm/aten::mm/backward",
                                                  std::string("4 /") + kEngine + "/backward",
                                                  "1 aten::hook/aten::hook/", "2 aten::mm/aten::mm/",
                                                  std::string("4 /") + kEngine + "/"));
}

TEST(WorkingForOthers, SoDoesWhatTheEngineDoesBetweenAndBehindNodes) {
  ProcessBuilder process;
  process.NameThread(2, "pt_autograd_0").BeginUser("step");
  process.OnThread(2).Allocate(0x50, 8);  // before its first node it is unknown whom it works for
  RunNode(process, 0x100);
  process.Allocate(0x60, 16).Begin("aten::copy_").Allocate(0x61, 32).End();
  process.OnThread(1).End().OnThread(2).Allocate(0x70, 64);
  EXPECT_THAT(AllocationsOf(process),
              ElementsAre("8 //", "1 aten::hook/aten::hook/step", "2 aten::mm/aten::mm/step",
                          std::string("4 /") + kEngine + "/step", "16 //step", "32 aten::copy_/aten::copy_/step",
                          "64 //"));
}

TEST(WorkingForOthers, AThreadOfTheProgramsOwnIsItselfAgainBehindItsPass) {
  ProcessBuilder process;
  process.BeginUser("step");
  RunNode(process, 0x100);
  process.Begin("aten::copy_").Allocate(0x61, 32).End().Allocate(0x62, 64);
  EXPECT_THAT(AllocationsOf(process), ElementsAre("1 aten::hook/aten::hook/step", "2 aten::mm/aten::mm/step",
                                                  std::string("4 /") + kEngine + "/step", "32 aten::copy_/aten::copy_/",
                                                  "64 //"));
}

// As torch.nn.DataParallel: copies of a model run forward on threads of their own, which end.
TEST(WorkingForOthers, ANodeWhoseForwardThreadIsGoneIsOfThePassAroundIt) {
  ProcessBuilder process;
  process.BeginUser("step");
  RunNode(process, 0x100);
  process.BeginText(kEngine).BeginBackward("MmBackward0", 3, 9).Allocate(0x200, 8).End().End();
  EXPECT_THAT(AllocationsOf(process),
              ElementsAre("1 aten::hook/aten::hook/step", "2 aten::mm/aten::mm/step",
                          std::string("4 /") + kEngine + "/step", "8 /MmBackward0/step"));
}

TEST(WorkingForOthers, ANodeInTheNextChunkIsFoundToo) {
  ProcessBuilder process;
  process.BeginUser("step").OnThread(2).BeginText(kEngine).EndChunk().Allocate(0x10, 1).EndChunk();
  process.BeginBackward("MmBackward0", 7, 1).Allocate(0x11, 2).EndChunk().End().End();
  process.OnThread(1).Allocate(0x12, 4).End();
  EXPECT_THAT(AllocationsOf(process),
              ElementsAre(std::string("1 /") + kEngine + "/step", "2 /MmBackward0/step", "4 /step/step"));
}

TEST(WorkingForOthers, ANodeThatNoChunkHasIsNotWaitedForWithoutEnd) {
  ProcessBuilder process;
  process.BeginUser("step").OnThread(2).BeginText(kEngine);
  for (std::uint64_t i = 0; i < 20; ++i) process.Allocate(0x10 + i, 1).EndChunk();
  process.OnThread(1).Allocate(0x40, 4).End();
  std::vector<std::string> expected(20, std::string("1 /") + kEngine + "/");
  expected.push_back("4 /step/step");
  EXPECT_EQ(AllocationsOf(process), expected);
}

TEST(WorkingForOthers, TheTreeHasThemThere) {
  ProcessBuilder process;
  process.BeginUser("backward");
  RunNode(process, 0x100);
  RunNode(process, 0x200);
  process.OnThread(1).End();
  const std::string engine = kEngine;
  EXPECT_THAT(TreeOf(process),
              ElementsAre(" 0 14 0", "  backward 1 14 0", "    " + engine + " 2 14 8", "      MmBackward0 2 4 0",
                          "        aten::mm 2 4 4", "      aten::hook 2 2 2"));
}

TEST(WorkingForOthers, AThreadOfOpenMpWorksInTheRegionOfAnother) {
  ProcessBuilder process;
  process.WorksFor(2, 1).BeginUser("step").Begin("aten::sdpa_backward").Begin("aten::inner");
  process.OnThread(2).Allocate(0x10, 1).Deallocate(0x10);
  process.Begin("aten::empty").Allocate(0x20, 2).End();
  process.OnThread(1).End().End().OnThread(2).Deallocate(0x20).Allocate(0x30, 4);
  process.OnThread(1).End().OnThread(2).Begin("aten::empty").Allocate(0x40, 8).End();
  EXPECT_THAT(AllocationsOf(process),
              ElementsAre("1 aten::sdpa_backward/aten::inner/step", "-1 temporary",
                          "2 aten::sdpa_backward/aten::empty/step", "-2", "4 /step/step",
                          "8 aten::empty/aten::empty/"));
}

TEST(WorkingForOthers, TheTreeHasParallelWorkInItsRegion) {
  ProcessBuilder process;
  process.WorksFor(2, 1).BeginUser("step").Begin("aten::sdpa_backward");
  process.OnThread(2).Allocate(0x10, 1).Begin("aten::empty").Allocate(0x20, 2).End();
  process.OnThread(1).End().End();
  EXPECT_THAT(TreeOf(process), ElementsAre(" 0 3 0", "  step 1 3 0", "    aten::sdpa_backward 1 3 1",
                                           "      aten::empty 1 2 2"));
}

TEST(WorkingForOthers, WhoSaysThatItWorksForItselfOrInACircleWorksForNobody) {
  ProcessBuilder process;
  process.WorksFor(1, 1).WorksFor(2, 3).WorksFor(3, 4).WorksFor(4, 2).Begin("aten::a").Allocate(0x10, 1).End();
  for (std::uint32_t thread = 2; thread <= 4; ++thread) process.OnThread(thread).Begin("aten::b");
  for (std::uint32_t thread = 2; thread <= 4; ++thread) process.OnThread(thread).Allocate(0x10 * thread, thread);
  EXPECT_THAT(AllocationsOf(process), ElementsAre("1 aten::a/aten::a/", "2 aten::b/aten::b/", "3 aten::b/aten::b/",
                                                  "4 aten::b/aten::b/"));
}

}  // namespace
}  // namespace memoir
