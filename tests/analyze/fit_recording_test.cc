// The additions of a recording to the answer of a simulated run: torch's figures, the owners, the place of an
// out-of-memory error.
#include "tools/analyze/fit/fit_recording.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/captures/capture_builder.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kPid = 100;

std::optional<FitRecording> Recorded(ProcessBuilder& process, std::uint64_t pid = kPid, std::uint64_t ordinal = 0) {
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const auto capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  const auto recording = AnalyzeFitRecording(*capture, pid, ordinal, nullptr);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return *recording;
}

std::uint64_t Sum(const std::vector<FitRow>& rows) {
  std::uint64_t sum = 0;
  for (const FitRow& row : rows) sum += row.bytes;
  return sum;
}

TEST(FitRecording, FiguresAndHoldersOfTheDeviceAlone) {
  ProcessBuilder process;
  const std::uint32_t first = process.AddDevice("cuda", 0), second = process.AddDevice("cuda", 1);
  process.EnterModule("").EnterModule("mlp").Begin("aten::linear");
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, second, 0x1000000, 20 * kMiB).AllocateBlock(second, 0x1000000, 3 * kMiB);
  const auto tensor = [&](std::uint64_t address) {
    return testing::TensorSpec{.storage = address, .storage_bytes = kMiB, .sizes = {512, 512}, .device = second};
  };
  process.End({tensor(0x1000000)}).ExitModule("mlp").ExitModule("");
  process.Begin("aten::zeros").AllocateBlock(second, 0x1400000, kMiB).End({tensor(0x1400000)});
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, first, 0x9000000, 2 * kMiB).AllocateBlock(first, 0x9000000, kMiB);
  process.Allocate(0x10, 900 * kMiB);  // of the host
  const auto recording = Recorded(process, kPid, 1);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->peak_allocated, 4 * kMiB);
  EXPECT_EQ(recording->peak_reserved, 20 * kMiB);
  for (const auto* rows : {&recording->by_operator, &recording->by_module, &recording->by_phase})
    EXPECT_EQ(Sum(*rows), 4 * kMiB);
  EXPECT_EQ(recording->by_operator.front().name, "aten::linear");
  EXPECT_EQ(recording->by_module.front().name, "mlp");
  EXPECT_EQ(recording->by_phase.front().name, "forward");
  EXPECT_FALSE(recording->out_of_memory);
  EXPECT_FALSE(recording->holds_back);
}

TEST(FitRecording, TheFirstErrorIsTheOneThatCounts) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.EnterModule("").EnterModule("head").Begin("aten::mm").RunOutOfMemory(cuda, 80 * kMiB, 512);
  process.End().ExitModule("head").ExitModule("");
  process.Begin("aten::add").RunOutOfMemory(cuda, 8 * kMiB, 512).End();
  const auto recording = Recorded(process);
  ASSERT_TRUE(recording && recording->out_of_memory);
  EXPECT_EQ(recording->out_of_memory->operator_name, "aten::mm");
  EXPECT_EQ(recording->out_of_memory->module, "head");
  EXPECT_EQ(recording->out_of_memory->phase, Phase::kForward);
  EXPECT_EQ(recording->out_of_memory->asked, 80 * kMiB);
}

TEST(FitRecording, BlocksThatAnotherStreamHoldsBack) {
  ProcessBuilder at_once, late;
  for (ProcessBuilder* process : {&at_once, &late}) {
    const std::uint32_t cuda = process->AddDevice("cuda", 0);
    process->ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 20 * kMiB).AllocateBlock(cuda, 0x1000000, kMiB);
    process->RequestFree(cuda, 0x1000000);
    if (process == &at_once) process->CompleteFree(cuda, 0x1000000);
    process->AllocateBlock(cuda, 0x1400000, kMiB);
    if (process == &late) process->CompleteFree(cuda, 0x1000000);
  }
  EXPECT_FALSE(Recorded(at_once)->holds_back);
  EXPECT_TRUE(Recorded(late)->holds_back);
}

TEST(FitRecording, NothingOfAnotherProcessOrDevice) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 2 * kMiB).AllocateBlock(cuda, 0x1000000, kMiB);
  EXPECT_FALSE(Recorded(process, kPid + 1));
}

}  // namespace
}  // namespace memoir
