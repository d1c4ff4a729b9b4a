// The balance of a device: every byte is in one row, and unknown bytes are labelled.
#include <string>

#include "tests/analyze/balance_fixture.h"
#include "tools/analyze/grouping/driver_holdings.h"

namespace memoir {
namespace {

using testing::BalanceTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kMiB;
using testing::kTotal;
using ::testing::Pair;
using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::Rows;
using testing::TemporaryFolder;

TEST_F(BalanceTest, EveryByteIsInOneRow) {
  process_.GiveDriverBlock(cuda_, 0x10, 44 * kMiB, v1::CONTEXT, "libtorch_cuda.so")
      .GiveDriverBlock(cuda_, 0x20, 6 * kMiB, v1::MODULE_LOAD, "libtorch_cuda.so")
      .TakeSegment(cuda_, 0x1000000, 20 * kMiB)
      .AllocateBlock(cuda_, 0x1000000, 12 * kMiB)
      .AllocateBlock(cuda_, 0x1000000 + 12 * kMiB, 2 * kMiB)
      .RequestFree(cuda_, 0x1000000 + 12 * kMiB)
      .GiveDriverBlock(cuda_, 0x9000000, 37 * kMiB, v1::MALLOC, "libforeign.so")
      .GiveDriverBlock(cuda_, 0x100, 300 * kMiB, v1::MEMORY_CREATE, "libnccl.so.2")
      .GiveDriverBlock(cuda_, 0x20000000, 212 * kMiB, v1::MALLOC, "libnccl.so.2")
      .GiveDriverBlock(cuda_, 0x30000000, 32 * kMiB, v1::MALLOC, "libcublas.so.12")
      .GiveDriverBlock(cuda_, 0x40000000, 8 * kMiB, v1::LIBRARY, "libcublasLt.so.12")
      .GiveDriverBlock(cuda_, 0x50000000, 1000 * kMiB, v1::IPC_OPEN, "libc10_cuda.so")
      .GiveDriverBlock(cuda_, 0x60000000, 3 * kMiB, v1::MALLOC_MANAGED, "libforeign.so")
      .Allocate(0x77, 5 * kMiB);
  Read(v1::PEAK, 44 + 6 + 20 + 37 + 512 + 32 + 8 + 100, 100);
  const DeviceBalance device = Only();
  EXPECT_THAT(Rows(device), ElementsAre(Pair("torch: allocated", 12), Pair("torch: freed, waiting (record_stream)", 2),
                                        Pair("torch: cache (reserved, free)", 6), Pair("NCCL", 512),
                                        Pair("other processes", 100), Pair("context", 44), Pair("libforeign.so", 37),
                                        Pair("libcublas", 32), Pair("libcublasLt", 8), Pair("loaded code", 6)));
  EXPECT_EQ(device.used, 759 * kMiB);
  EXPECT_EQ(device.sum, 759 * kMiB);
  EXPECT_EQ(device.unexplained, 0);
  EXPECT_EQ(device.share_explained(), 1);
  EXPECT_FALSE(device.IsFinding());
  EXPECT_EQ(device.torch_reserved, device.torch_driver_bytes);
  ASSERT_EQ(device.beside.size(), 2u);
  EXPECT_EQ(device.beside[0].call, "ipc_open");
  EXPECT_EQ(device.beside[1].call, "malloc_managed");
  EXPECT_EQ(device.host.cpu_bytes, 5 * kMiB);
}

TEST_F(BalanceTest, DevicesOfDifferentKindsHaveEachTheirOwn) {
  constexpr std::uint64_t kSmall = 22 * 1024 * kMiB;
  const std::uint32_t other = process_.AddDevice("cuda", 1, "NVIDIA L4");
  process_.GiveDriverBlock(cuda_, 0x10, 520 * kMiB, v1::CONTEXT, "libc10_cuda.so")
      .GiveDriverBlock(other, 0x10, 260 * kMiB, v1::CONTEXT, "libc10_cuda.so")
      .TakeSegment(other, 0x1000000, 20 * kMiB)
      .AllocateBlock(other, 0x1000000, 12 * kMiB);
  Read(v1::PEAK, 520);
  process_.ReadDevice(other, v1::PEAK,
                      {.free = kSmall - 280 * kMiB, .total = kSmall, .process = 280 * kMiB, .others = 0});
  const absl::StatusOr<Balance> balance = Analyze();
  ASSERT_TRUE(balance.ok()) << balance.status();
  ASSERT_EQ(balance->devices.size(), 2u);
  const DeviceBalance& large = balance->devices[0];
  const DeviceBalance& small = balance->devices[1];
  EXPECT_EQ(large.product, "NVIDIA H100");
  EXPECT_EQ(large.total, kTotal);
  EXPECT_THAT(Rows(large), ElementsAre(Pair("context", 520)));
  EXPECT_EQ(small.product, "NVIDIA L4");
  EXPECT_EQ(small.total, kSmall);
  EXPECT_THAT(Rows(small), ElementsAre(Pair("torch: allocated", 12), Pair("torch: cache (reserved, free)", 8),
                                       Pair("context", 260)));
  EXPECT_EQ(large.unexplained, 0);
  EXPECT_EQ(small.unexplained, 0);
}

TEST_F(BalanceTest, WhatIsNotExplainedIsAFindingEitherWay) {
  Read(v1::START, 0);
  process_.GiveDriverBlock(cuda_, 0x10, 100 * kMiB, v1::MALLOC, "a.so");
  Read(v1::PEAK, 165);
  EXPECT_TRUE(Only().IsFinding());
  EXPECT_EQ(Only().unexplained, 65 * static_cast<std::int64_t>(kMiB));
}

TEST_F(BalanceTest, MoreThanIsUsedIsSaidAsThat) {
  Read(v1::START, 0);
  process_.GiveDriverBlock(cuda_, 0x10, 100 * kMiB, v1::MALLOC, "a.so");
  Read(v1::PEAK, 30);
  EXPECT_EQ(Only().unexplained, -70 * static_cast<std::int64_t>(kMiB));
  EXPECT_TRUE(Only().IsFinding());
  EXPECT_EQ(Only().share_explained(), 0);
}

TEST_F(BalanceTest, ATenthOfAPercentOfALargeDeviceIsNone) {
  process_.GiveDriverBlock(cuda_, 0x10, 20000 * kMiB, v1::MALLOC, "a.so");
  Read(v1::PEAK, 20100);
  EXPECT_FALSE(Only().IsFinding());
}

TEST_F(BalanceTest, AReadingBetweenTheDriversCallAndTorchsBooksWaitsForThem) {
  process_.GiveDriverBlock(cuda_, 0x1000000, 20 * kMiB, v1::MALLOC, "libc10_cuda.so");
  Read(v1::PEAK, 20);
  process_.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda_, 0x1000000, 20 * kMiB);
  EXPECT_THAT(Rows(Only()), ElementsAre(Pair("torch: cache (reserved, free)", 20)));
}

TEST_F(BalanceTest, TheBlockThatASegmentWasTakenForIsInIt) {
  process_.GiveDriverBlock(cuda_, 0x1000000, 20 * kMiB, v1::MALLOC, "libc10_cuda.so");
  Read(v1::PEAK, 20);
  process_.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda_, 0x1000000, 20 * kMiB)
      .AllocateBlock(cuda_, 0x1000000, 16 * kMiB)
      .AllocateBlock(cuda_, 0x1000000 + 16 * kMiB, 4 * kMiB);
  EXPECT_THAT(Rows(Only()), ElementsAre(Pair("torch: allocated", 16), Pair("torch: cache (reserved, free)", 4)));
}

TEST_F(BalanceTest, WhatTorchTookAndHasInNoSegmentIsARow) {
  process_.TakeSegment(cuda_, 0x1000000, 20 * kMiB)
      .GiveDriverBlock(cuda_, 0x9000000, 5 * kMiB, v1::MALLOC, "libc10_cuda.so");
  Read(v1::PEAK, 25);
  process_.GiveDriverBlock(cuda_, 0xA000000, 5 * kMiB, v1::MALLOC, "libc10_cuda.so");
  EXPECT_THAT(Rows(Only()),
              ElementsAre(Pair("torch: cache (reserved, free)", 20), Pair("torch: taken, in no segment", 5)));
}

TEST_F(BalanceTest, SegmentsFromBeforeTheRecordingCountWithoutTheirCalls) {
  process_.ChangeSegment(v1::SEGMENT_FOUND, cuda_, 0x1000000, 20 * kMiB).FindBlock(cuda_, 0x1000000, 4 * kMiB);
  Read(v1::PEAK, 20);
  EXPECT_THAT(Rows(Only()), ElementsAre(Pair("torch: allocated", 4), Pair("torch: cache (reserved, free)", 16)));
  EXPECT_EQ(Only().torch_driver_bytes, 0u);
  EXPECT_EQ(Only().unexplained, 0);
}

TEST_F(BalanceTest, WhatALibraryTookForAMemPoolIsCountedOnce) {
  process_.GiveDriverBlock(cuda_, 0x1000000, 20 * kMiB, v1::MALLOC, "libnccl.so.2")
      .ChangeSegment(v1::SEGMENT_ALLOCATE, cuda_, 0x1000000, 20 * kMiB);
  Read(v1::PEAK, 20);
  EXPECT_THAT(Rows(Only()), ElementsAre(Pair("torch: cache (reserved, free)", 20)));
  EXPECT_EQ(Only().in_mem_pools, 20 * kMiB);
}

TEST_F(BalanceTest, PoolsOfCudaMallocAsyncCountWithWhatTheyKeep) {
  process_.Allocate(0x1000000, 20 * kMiB, cuda_).GiveDriverBlock(cuda_, 0x9000000, 5 * kMiB, v1::MALLOC_ASYNC, "a.so");
  process_.ReadDevice(cuda_, v1::PEAK, {.free = kTotal - 64 * kMiB, .total = kTotal, .pools = 64 * kMiB});
  const DeviceBalance device = Only();
  EXPECT_THAT(Rows(device), ElementsAre(Pair("cudaMallocAsync pools", 64)));
  EXPECT_EQ(device.torch_in_pools, 20 * kMiB);
  EXPECT_EQ(device.unexplained, 0);
}

TEST_F(BalanceTest, WithoutACacheTorchsBlocksAreOneRow) {
  process_.Allocate(0x1000000, 20 * kMiB, cuda_).Allocate(0x9000000, 3 * kMiB, cuda_);
  Read(v1::PEAK, 23);
  EXPECT_THAT(Rows(Only()), ElementsAre(Pair("torch, without its caching allocator", 23)));
}

TEST_F(BalanceTest, WithoutAReadingTheRowsAreThereAndTheSumIsNotKnown) {
  process_.TakeSegment(cuda_, 0x1000000, 20 * kMiB)
      .AllocateBlock(cuda_, 0x1000000, 12 * kMiB)
      .FreeBlock(cuda_, 0x1000000)
      .ChangeSegment(v1::SEGMENT_FREE, cuda_, 0x1000000, 20 * kMiB);
  const DeviceBalance device = Only();
  EXPECT_FALSE(device.used.has_value());
  EXPECT_FALSE(device.unexplained.has_value());
  EXPECT_FALSE(device.IsFinding());
  EXPECT_EQ(device.sum, 20 * kMiB);
}

TEST_F(BalanceTest, AReadingWithoutNumbersIsNone) {
  process_.GiveDriverBlock(cuda_, 0x10, 100 * kMiB, v1::MALLOC, "a.so").ReadDevice(cuda_, v1::PEAK, {});
  EXPECT_FALSE(Only().used.has_value());
  EXPECT_THAT(Rows(Only()), ElementsAre(Pair("a.so", 100)));
}

TEST_F(BalanceTest, PinnedMemoryIsAskedForAndTaken) {
  const std::uint32_t pinned = process_.AddDevice("pinned", 0);
  process_.Allocate(0x1000, 3 * kMiB, pinned)
      .GiveDriverBlock(0, 0x1000, 4 * kMiB, v1::HOST_ALLOCATE, "libtorch_cuda.so")
      .GiveDriverBlock(0, 0x9000, 1 * kMiB, v1::HOST_REGISTER, "libforeign.so");
  Read(v1::PEAK, 0);
  const HostBalance host = Only().host;
  EXPECT_EQ(host.pinned_asked, 3 * kMiB);
  EXPECT_EQ(host.pinned_taken, 5 * kMiB);
  ASSERT_EQ(host.pinned.size(), 2u);
  EXPECT_EQ(host.pinned[0].name, "libtorch_cuda.so");
  EXPECT_EQ(host.pinned[1].call, "host_register");
}

TEST_F(BalanceTest, AFullerReadingOfFoldedPartsIsNamed) {
  process_.GiveDriverBlock(cuda_, 0x10, 10 * kMiB, v1::MALLOC, "a.so");
  Read(v1::START, 10);
  Read(v1::PEAK, 900);
  process_.EndPart().RemovePart(0);
  Read(v1::REGULAR, 10);
  const DeviceBalance device = Only();
  EXPECT_EQ(device.used, 10 * kMiB);
  EXPECT_EQ(device.unexplained, 0);
  EXPECT_EQ(device.evicted_used, 900 * kMiB);
}

TEST_F(BalanceTest, WhatWasThereWhileRecordingWasOffIsNotKnown) {
  process_.GiveDriverBlock(cuda_, 0x10, 10 * kMiB, v1::MALLOC, "a.so").SwitchTo(v1::LEVEL_OFF).SwitchTo(v1::LEVEL_ALL);
  Read(v1::PEAK, 10);
  EXPECT_EQ(Only().forgotten_bytes, 10 * kMiB);
  EXPECT_THAT(Rows(Only()), IsEmpty());
}

TEST(BalanceOfRanksTest, TheWorstComesFirst) {
  const TemporaryFolder folder;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ProcessOptions options;
    options.rank = rank;
    options.world_size = 3;
    options.pid = 100 + rank;
    ProcessBuilder process(options);
    const std::uint32_t cuda = process.AddDevice("cuda", rank, "NVIDIA H100");
    const std::uint64_t unknown = rank == 1 ? 200 * kMiB : rank * kMiB;
    process.ReadDevice(cuda, v1::START, {.free = kTotal, .total = kTotal})
        .GiveDriverBlock(cuda, 0x10, 500 * kMiB, v1::MALLOC, "a.so")
        .ReadDevice(cuda, v1::PEAK, {.free = kTotal - 500 * kMiB - unknown, .total = kTotal});
    process.WriteTo(folder.path());
  }
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  const absl::StatusOr<Balance> balance = AnalyzeBalance(*capture, {}, *ParseInstantChoice("peak"));
  ASSERT_TRUE(balance.ok());
  ASSERT_EQ(balance->devices.size(), 3u);
  EXPECT_EQ(balance->devices[0].rank, 1u);
  EXPECT_EQ(balance->devices[1].rank, 2u);
  EXPECT_EQ(balance->devices[2].rank, 0u);
  EXPECT_TRUE(balance->devices[0].IsFinding());
  EXPECT_FALSE(balance->devices[1].IsFinding());
}

TEST(HolderNameTest, LibrariesAreNamedAsPeopleKnowThem) {
  const auto name = [](v1::DriverCall call, const char* library) { return HolderName(RoleOf(call, library), library); };
  EXPECT_EQ(name(v1::MALLOC, "libnccl.so.2"), "NCCL");
  EXPECT_EQ(name(v1::MALLOC, "libcublasLt.so.12"), "libcublasLt");
  EXPECT_EQ(name(v1::LIBRARY, "libcudnn_graph.so.9"), "libcudnn_graph");
  EXPECT_EQ(name(v1::MALLOC, "libforeign.so.3"), "libforeign.so.3");
  EXPECT_EQ(name(v1::MALLOC, ""), "(unknown caller)");
  EXPECT_EQ(name(v1::CONTEXT, "libtorch_cuda.so"), "context");
  EXPECT_EQ(RoleOf(v1::MALLOC, "libc10_cuda.so"), DriverRole::kTorchAllocator);
}

}  // namespace
}  // namespace memoir
