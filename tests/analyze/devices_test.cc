// Summaries of a device with a caching allocator, with numbers computed by hand.
#include <gtest/gtest.h>

#include "tests/analyze/summarised.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/device_focus.h"
#include "tools/analyze/summary/summary.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::RowNamed;
using testing::Summarise;

constexpr std::uint64_t kMiB = 1 << 20;

const DeviceRow& Device(const Summary& summary, const std::string& name) {
  for (const DeviceRow& device : summary.devices) {
    if (device.name == name) return device;
  }
  static const DeviceRow none;
  ADD_FAILURE() << "no device " << name;
  return none;
}

testing::TensorSpec On(std::uint32_t device, std::uint64_t address) {
  return {.impl = address + 1, .storage = address, .storage_bytes = kMiB, .sizes = {512, 512}, .device = device};
}

// 3 MiB and 1 MiB live together once; the first waits for its free while 2 MiB more come.
void Fill(ProcessBuilder& process, std::uint32_t cuda) {
  process.Begin("aten::mm").ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 20 * kMiB);
  process.CountDevice(cuda, {0, 0, 20 * kMiB, 0, 0});
  process.AllocateBlock(cuda, 0x1000000, 3 * kMiB, 3 * kMiB - 100).End({On(cuda, 0x1000000)});
  process.Begin("aten::add").AllocateBlock(cuda, 0x1400000, kMiB).Allocate(0x10, 64).End({On(cuda, 0x1400000)});
  process.RequestFree(cuda, 0x1000000);
  process.BeginUser("later").Begin("aten::mm").ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x3000000, 2 * kMiB);
  process.CountDevice(cuda, {kMiB, 4 * kMiB, 22 * kMiB, 2, 0});
  process.AllocateBlock(cuda, 0x1800000, 2 * kMiB).RunOutOfMemory(cuda, 80 * kMiB, 512).End().End();
  process.CompleteFree(cuda, 0x1000000).FreeBlock(cuda, 0x1800000);
  process.ChangeSegment(v1::SEGMENT_FREE, cuda, 0x3000000, 2 * kMiB);
}

TEST(Devices, PeaksOfAllocatedActiveAndReserved) {
  ProcessBuilder process;
  Fill(process, process.AddDevice("cuda", 0));
  const Summary summary = Summarise(process);
  const DeviceRow& device = Device(summary, "cuda:0");
  EXPECT_TRUE(device.caching);
  EXPECT_EQ(device.peak_allocated_bytes, 4 * kMiB);
  EXPECT_EQ(device.requested_bytes_at_peak, 4 * kMiB - 100);
  EXPECT_EQ(device.reserved_bytes_at_peak, 20 * kMiB);
  EXPECT_EQ(device.peak_active_bytes, 6 * kMiB);
  EXPECT_EQ(device.peak_reserved_bytes, 22 * kMiB);
  EXPECT_EQ(device.live_bytes_at_end, kMiB);
  EXPECT_EQ(device.active_bytes_at_end, kMiB);
  EXPECT_EQ(device.reserved_bytes_at_end, 20 * kMiB);
  EXPECT_EQ(device.num_alloc_retries, 2u);
  EXPECT_EQ(device.num_ooms, 1u);
  EXPECT_EQ(summary.report.statistics_mismatches, 0u);
  EXPECT_FALSE(Device(summary, "cpu").caching);
  EXPECT_EQ(RowNamed(summary, "aten::mm").total.reserved_bytes, 22 * kMiB);
  EXPECT_EQ(RowNamed(summary, "aten::add").total.reserved_bytes, 0u);
}

// Retries, errors and segments before and after a selection do not count for it.
TEST(Devices, CountsOfAWindowAreItsOwn) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  const auto grow = [&](std::uint64_t address, std::uint64_t mebibytes, const ProcessBuilder::Statistics& statistics) {
    process.Begin("aten::mm").ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, address, mebibytes * kMiB);
    process.CountDevice(cuda, statistics).AllocateBlock(cuda, address, mebibytes * kMiB);
    process.RunOutOfMemory(cuda, 80 * kMiB, 512).End({On(cuda, address)});
  };
  grow(0x1000000, 20, {0, 0, 20 * kMiB, 3, 0});
  process.FreeBlock(cuda, 0x1000000).BeginUser("window");
  grow(0x4000000, 2, {0, 0, 22 * kMiB, 5, 1});
  process.End();
  grow(0x6000000, 4, {2 * kMiB, 2 * kMiB, 26 * kMiB, 9, 2});
  const DeviceRow whole = Device(Summarise(process), "cuda:0");
  EXPECT_EQ(whole.num_alloc_retries, 9u);
  EXPECT_EQ(whole.num_ooms, 3u);
  SummaryOptions options;
  options.window = SelectionWindow::Range("window");
  const Summary summary = Summarise(process, options);
  const DeviceRow& device = Device(summary, "cuda:0");
  EXPECT_EQ(device.num_alloc_retries, 2u);
  EXPECT_EQ(device.num_ooms, 1u);
  EXPECT_EQ(summary.out_of_memory.size(), 1u);
  EXPECT_EQ(device.peak_active_bytes, 2 * kMiB);
  EXPECT_EQ(device.active_bytes_at_end, 2 * kMiB);
  EXPECT_EQ(device.peak_reserved_bytes, 22 * kMiB);
  EXPECT_EQ(device.reserved_bytes_at_end, 22 * kMiB);
  EXPECT_EQ(RowNamed(summary, "aten::mm").total.reserved_bytes, 2 * kMiB);
}

// A segment has the category of the block for which it was reserved. A segment without blocks has no category.
TEST(Devices, ReservedBytesByCategoryAndShape) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  const testing::TensorSpec none{.impl = 0, .sizes = {}},
      weight{.impl = 1, .storage = 0x1000000, .storage_bytes = 4 * kMiB, .sizes = {1024, 1024}, .device = cuda};
  process.Begin("aten::randn").ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 20 * kMiB);
  process.AllocateBlock(cuda, 0x1000000, 4 * kMiB).End({weight});
  process.EnterModule("fc", "Linear", "Net").ModuleHolds("fc", {{weight}, {none}, {}}, {"weight"}, "Linear", "Net");
  process.ExitModule("fc", "Linear", "Net").ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x4000000, 2 * kMiB);
  SummaryOptions options;
  options.by = GroupBy::kCategory;
  const Summary summary = Summarise(process, options);
  EXPECT_EQ(RowNamed(summary, "parameter").total.reserved_bytes, 20 * kMiB);
  EXPECT_EQ(summary.total().reserved_bytes, 22 * kMiB);
  options.by = GroupBy::kShape;
  EXPECT_EQ(RowNamed(Summarise(process, options), "float32[1024, 1024]").total.reserved_bytes, 20 * kMiB);
}

// Its first state is its maximum.
TEST(Devices, AWindowThatAllocatesNothing) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.Begin("aten::mm").ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 20 * kMiB);
  process.AllocateBlock(cuda, 0x1000000, 3 * kMiB, 3 * kMiB - 100).End();
  process.BeginUser("idle").Begin("aten::add_").End().End();
  process.BeginUser("frees").FreeBlock(cuda, 0x1000000).End();
  for (const char* name : {"idle", "frees"}) {
    SummaryOptions options;
    options.window = SelectionWindow::Range(name);
    const Summary summary = Summarise(process, options);
    const DeviceRow& device = Device(summary, "cuda:0");
    EXPECT_EQ(device.peak_allocated_bytes, 3 * kMiB) << name;
    EXPECT_EQ(device.peak_active_bytes, 3 * kMiB) << name;
    EXPECT_EQ(device.peak_reserved_bytes, 20 * kMiB) << name;
    EXPECT_EQ(device.reserved_bytes_at_peak, 20 * kMiB) << name;
    EXPECT_EQ(device.requested_bytes_at_peak, 3 * kMiB - 100) << name;
    EXPECT_EQ(device.reserved_bytes_at_end, 20 * kMiB) << name;
  }
}

TEST(Devices, TheFocusIsOnTheGpu) {
  ProcessBuilder process;
  Fill(process, process.AddDevice("cuda", 0));
  const Summary summary = Summarise(process);
  EXPECT_EQ(RowNamed(summary, "aten::add").total.allocated_bytes, kMiB + 64);
  const Summary focused = FocusSummary(summary);
  EXPECT_EQ(RowNamed(focused, "aten::add").total.allocated_bytes, kMiB);
  EXPECT_EQ(focused.total().bytes_at_peak, 4 * kMiB);
  EXPECT_EQ(focused.devices.size(), 2u);
  EXPECT_TRUE(IsInFocus(summary, Device(summary, "cuda:0")));
  EXPECT_FALSE(IsInFocus(summary, Device(summary, "cpu")));
}

TEST(Devices, BlocksThatWereFoundAreNobodys) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.ChangeSegment(v1::SEGMENT_FOUND, cuda, 0x1000000, 20 * kMiB).FindBlock(cuda, 0x1000000, 5 * kMiB);
  process.Begin("aten::mm").AllocateBlock(cuda, 0x1800000, kMiB).End();
  const Summary summary = Summarise(process);
  const DeviceRow& device = Device(summary, "cuda:0");
  EXPECT_EQ(device.peak_allocated_bytes, 6 * kMiB);
  EXPECT_EQ(device.allocated_bytes, kMiB);
  EXPECT_EQ(device.unattributed_bytes, 0u);
  EXPECT_EQ(device.peak_reserved_bytes, 20 * kMiB);
  EXPECT_EQ(RowNamed(summary, "(before the window)").total.bytes_at_peak, 5 * kMiB);
  EXPECT_EQ(summary.total().net_bytes, device.live_bytes_at_end);
}

TEST(Devices, ABlockFoundWhileAnOperatorRunsIsItsOwn) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.Begin("aten::empty").ChangeSegment(v1::SEGMENT_FOUND, cuda, 0x1000000, 2 * kMiB);
  process.FindBlock(cuda, 0x1000000, 512).End({On(cuda, 0x1000000)});
  const Summary summary = Summarise(process);
  const SummaryColumns& own = RowNamed(summary, "aten::empty").total;
  EXPECT_EQ(own.bytes_at_peak, 512u);
  EXPECT_EQ(own.net_bytes, 512u);
  EXPECT_EQ(Device(summary, "cuda:0").peak_operator, "aten::empty");
  EXPECT_EQ(own.allocations + own.allocated_bytes, 0u) << "that were found are in no count of allocations";
  EXPECT_EQ(Device(summary, "cuda:0").allocations, 0u);
}

TEST(Devices, APartlyUnmappedRangeStaysPartlyReserved) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.ChangeSegment(v1::SEGMENT_MAP, cuda, 0x1000000, 2 * kMiB)
      .ChangeSegment(v1::SEGMENT_MAP, cuda, 0x1200000, 2 * kMiB);
  process.ChangeSegment(v1::SEGMENT_MAP, cuda, 0x1400000, 20 * kMiB);
  process.ChangeSegment(v1::SEGMENT_UNMAP, cuda, 0x1000000, 4 * kMiB);
  process.ChangeSegment(v1::SEGMENT_UNMAP, cuda, 0x1600000, 2 * kMiB);
  const Summary summary = Summarise(process);
  EXPECT_EQ(Device(summary, "cuda:0").peak_reserved_bytes, 24 * kMiB);
  EXPECT_EQ(Device(summary, "cuda:0").reserved_bytes_at_end, 18 * kMiB);
}

TEST(Devices, StatisticsThatDifferAreSaid) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 2 * kMiB).CountDevice(cuda, {512, 512, 2 * kMiB, 0, 0});
  EXPECT_EQ(Summarise(process).report.statistics_mismatches, 1u);
}

TEST(Devices, AFreeWhoseRequestWasLostEndsWithItsCompletion) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 2 * kMiB).AllocateBlock(cuda, 0x1000000, 512);
  process.CompleteFree(cuda, 0x1000000);
  const Summary summary = Summarise(process);
  EXPECT_EQ(Device(summary, "cuda:0").live_bytes_at_end, 0u);
  EXPECT_EQ(Device(summary, "cuda:0").active_bytes_at_end, 0u);
}

// A library took memory from the driver before the window, and keeps it.
TEST(Devices, MemoryOutsideOfTorchFromBeforeTheWindow) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.GiveDriverBlock(cuda, 0x7000000, 3 * kMiB, v1::MALLOC, "libnccl.so.2");
  process.BeginUser("window").Begin("aten::mm").End().End();
  SummaryOptions options;
  options.window = SelectionWindow::Range("window");
  const Summary summary = Summarise(process, options);
  ASSERT_EQ(summary.devices.size(), 1u);
  EXPECT_EQ(summary.devices[0].outside_bytes, 3 * kMiB);
}

}  // namespace
}  // namespace memoir
