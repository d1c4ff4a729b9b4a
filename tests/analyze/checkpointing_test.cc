// The effect of checkpointing on the peak of small captures, to the byte.
#include "tools/analyze/checkpointing/checkpointing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/checkpointing/peak_history.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::TensorSpec;

TensorSpec At(std::uint64_t storage) {
  return {.impl = storage + 1, .storage = storage, .storage_bytes = 64, .sizes = {16}};
}

ProcessBuilder Process() {
  ProcessBuilder process;
  process.info().add_sources("modules");
  return process;
}

// Two layers. Each allocates 100 bytes that only it saves, 40 in the same operator that backward does not use, and 10
// that the next layer receives and saves; then backward, which allocates 5 bytes before it reads the 100. `workspace`:
// bytes that a library allocates in the first layer, and keeps.
ProcessBuilder TwoLayers(std::uint64_t workspace = 0) {
  ProcessBuilder process = Process();
  process.Begin("aten::randn").Allocate(0x10, 10).End({At(0x10)}).EnterModule("", "Net", "Net");
  const auto saved = [](std::uint64_t layer) { return 0x1000 + 0x100 * layer; };
  const auto given = [](std::uint64_t layer) { return layer == 0 ? 0x10 : 0x2000 + 0x100 * layer; };
  for (std::uint64_t layer = 0; layer < 2; ++layer) {
    const std::string path = "layers." + std::to_string(layer);
    const auto sequence = static_cast<std::int64_t>(2 * layer);
    process.EnterModule(path, "Block", "Net").BeginForward("aten::exp", sequence);
    if (workspace != 0 && layer == 0) process.Allocate(0x9000, workspace);
    process.Allocate(saved(layer), 100).Allocate(0x3000, 40).End({At(saved(layer))}).Deallocate(0x3000);
    process.BeginForward("aten::sum", sequence + 1);
    process.Allocate(given(layer + 1), 10).End({At(given(layer + 1))}).ExitModule(path, "Block", "Net");
    // The next operator reads its input.
    process.Begin("aten::mul", {At(given(layer + 1))}).End();
  }
  process.ExitModule("", "Net", "Net").BeginForward("aten::mean", 4).End();
  for (std::uint64_t layer = 2; layer-- > 0;) {
    process.BeginBackward("SumBackward0", static_cast<std::int64_t>(2 * layer + 2), 1);
    process.Begin("aten::mul", {At(given(layer + 1))}).End().Deallocate(given(layer + 1)).End();
    process.BeginBackward("ExpBackward0", static_cast<std::int64_t>(2 * layer), 1);
    process.Begin("aten::mul").Allocate(0x4000, 5).End({At(0x4000)}).Begin("aten::mul", {At(saved(layer))}).End();
    process.Deallocate(saved(layer)).End().Deallocate(0x4000);
  }
  return process;
}

Checkpointing Analyzed(ProcessBuilder process, const Selection& selection = {}) {
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  return *AnalyzeCheckpointing(*Capture::Open(folder.path()), selection);
}

const CheckpointRow& RowOf(const Checkpointing& checkpointing, const std::string& name) {
  static const CheckpointRow kNone;
  for (const CheckpointRow& row : checkpointing.devices.at(0).rows) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return kNone;
}

TEST(CheckpointingTest, LayersAreMadeAgainOneAtATime) {
  const Checkpointing checkpointing = Analyzed(TwoLayers());
  EXPECT_EQ(checkpointing.devices.at(0).peak_bytes, 10 + 110 + 100 + 40u);  // in the second layer's operator
  const CheckpointRow& layers = RowOf(checkpointing, "layers.*");
  EXPECT_EQ(layers.modules, 2u);
  EXPECT_EQ(layers.calls, 2u);
  EXPECT_EQ(layers.again_bytes, 100u);
  EXPECT_EQ(layers.kept_bytes, 200u);
  // The first's 100 are gone by then; when the second's are made again, its 40 come with them, but not yet the 5.
  EXPECT_EQ(layers.peak_bytes, 10 + 10 + 100 + 40u);
  EXPECT_EQ(layers.freed_bytes, 100);
  EXPECT_EQ(checkpointing.devices[0].best(), &checkpointing.devices[0].rows[0]);
  EXPECT_EQ(checkpointing.devices[0].rows[0].name, "layers.*");
}

TEST(CheckpointingTest, AWorkspaceIsNotMadeAgain) {
  const Checkpointing checkpointing = Analyzed(TwoLayers(1000));
  EXPECT_EQ(checkpointing.devices.at(0).peak_bytes, 1000 + 10 + 110 + 100 + 40u);
  EXPECT_EQ(RowOf(checkpointing, "layers.*").again_bytes, 100u);
  EXPECT_EQ(RowOf(checkpointing, "layers.*").freed_bytes, 100);
}

TEST(CheckpointingTest, TheWholeModelIsMadeAgainAtOnce) {
  const CheckpointRow net = RowOf(Analyzed(TwoLayers()), "Net");
  EXPECT_EQ(net.freed_bytes, 0);
  EXPECT_GE(net.again_bytes, 200u);
}

// One whole step, then one whose second layer runs out of memory; `larger`: and one that needs more and ends well.
ProcessBuilder RanOut(bool larger) {
  ProcessBuilder process = TwoLayers();
  process.EnterModule("", "Net", "Net");
  for (std::uint64_t layer = 0; layer < 2; ++layer) {
    const std::string path = "layers." + std::to_string(layer);
    process.EnterModule(path, "Block", "Net").BeginForward("aten::exp", static_cast<std::int64_t>(10 + layer));
    process.Allocate(0x5000 + 0x100 * layer, 500).End({At(0x5000 + 0x100 * layer)});
    if (layer == 1) process.BeginForward("aten::sum", 20).RunOutOfMemory(0, 4000, 100).End();
    process.ExitModule(path, "Block", "Net");
  }
  process.ExitModule("", "Net", "Net").Deallocate(0x5000).Deallocate(0x5100);
  if (larger) process.Begin("aten::ones").Allocate(0x6000, 5000).End().Deallocate(0x6000);
  return process;
}

TEST(CheckpointingTest, WhatACallThatRanOutHadMadeIsMadeAgain) {
  const Checkpointing checkpointing = Analyzed(RanOut(false));
  EXPECT_EQ(checkpointing.devices.at(0).peak_bytes, 10 + 500 + 500u);
  EXPECT_EQ(RowOf(checkpointing, "Net").freed_bytes, 0) << "its call had made all of it";
  const CheckpointRow& layers = RowOf(checkpointing, "layers.*");
  EXPECT_EQ(layers.freed_bytes, 500);
  EXPECT_EQ(layers.again_bytes, 500u);
  EXPECT_TRUE(layers.cut_off);
  ASSERT_NE(checkpointing.devices[0].best(), nullptr);
  EXPECT_EQ(checkpointing.devices[0].best()->name, "layers.*");
  EXPECT_FALSE(RowOf(Analyzed(RanOut(true)), "layers.*").cut_off) << "the peak is of another step";
}

// The layer saves nothing that it made, but would keep what it is given, which the program frees.
TEST(CheckpointingTest, InputsAreHeld) {
  ProcessBuilder process = Process();
  process.EnterModule("", "Net", "Net").BeginForward("aten::exp", 0).Allocate(0x100, 100).End({At(0x100)});
  process.EnterModule("drop", "Dropout", "Net").BeginForward("aten::dropout", 1);
  process.Begin("aten::mul", {At(0x100)}).Allocate(0x200, 8).End({At(0x200)}).End();
  process.ExitModule("drop", "Dropout", "Net").Deallocate(0x100).ExitModule("", "Net", "Net");
  process.Begin("aten::ones").Allocate(0x300, 500).End({At(0x300)});
  process.BeginBackward("DropoutBackward0", 1, 1).Begin("aten::mul", {At(0x200)}).End().Deallocate(0x200).End();
  const Checkpointing checkpointing = Analyzed(process);
  EXPECT_EQ(checkpointing.devices.at(0).peak_bytes, 508u);
  // 8 are made again; 100 are held all the time.
  EXPECT_EQ(RowOf(checkpointing, "drop").peak_bytes, 608u);
  EXPECT_EQ(RowOf(checkpointing, "drop").freed_bytes, -100);
}

TEST(CheckpointingTest, WhatBackwardCallsIsCheckpointedAlready) {
  ProcessBuilder process = Process();
  process.EnterModule("fc", "Linear", "Net").Begin("aten::mm").Allocate(0x100, 100).End().Deallocate(0x100);
  process.ExitModule("fc", "Linear", "Net").BeginBackward("Checkpoint", 0, 1).EnterModule("fc", "Linear", "Net");
  process.Begin("aten::mm").Allocate(0x100, 100).End({At(0x100)}).ExitModule("fc", "Linear", "Net");
  process.Begin("aten::mm", {At(0x100)}).End().Deallocate(0x100).End();
  const CheckpointRow fc = RowOf(Analyzed(process), "fc");
  EXPECT_EQ(fc.calls, 1u);
  EXPECT_EQ(fc.already, 1u);
  EXPECT_EQ(fc.freed_bytes, 0);
}

TEST(CheckpointingTest, ADeviceThatIsNotThere) {
  const testing::TemporaryFolder folder;
  TwoLayers().WriteTo(folder.path());
  Selection selection;
  selection.device = "cuda:7";
  EXPECT_EQ(AnalyzeCheckpointing(*Capture::Open(folder.path()), selection).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(PeakHistoryTest, MostSinceAnyInstant) {
  PeakHistory history;
  std::vector<std::uint64_t> curve = {0};
  for (std::uint64_t i = 1; i < 500; ++i) {
    curve.push_back(i * 7919 % 101);
    history.Change(curve.back());
    for (std::size_t begin = 0; begin <= i; ++begin)
      ASSERT_EQ(history.MostSince(begin),
                *std::max_element(curve.begin() + static_cast<std::ptrdiff_t>(begin), curve.end()));
    ASSERT_EQ(history.MostSince(i + 1), 0u);
  }
}

}  // namespace
}  // namespace memoir
