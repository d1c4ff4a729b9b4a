// The tool's blocks equal the allocator's after every change; the tool is a list here.
#include "tracker/torch/publication/nvtx_heaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "tracker/torch/hooks.h"
#include "tracker/torch/publication/memory_publication.h"

namespace memoir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Ranges = std::map<std::uint64_t, std::uint64_t>;  // bytes by address
struct TestHeap {
  AddressRange range;
  Ranges regions;
};

struct Tool {
  std::map<std::uintptr_t, TestHeap> heaps;
  std::uintptr_t next = 1;
  int calls = 0;
  int wrong = 0;
  bool refuses = false;
  const char* problem = nullptr;

  Ranges Heaps() const {
    Ranges all;
    for (const auto& [handle, heap] : heaps) all[heap.range.address] = heap.range.bytes;
    return all;
  }
  Ranges Regions() const {
    Ranges all;
    for (const auto& [handle, heap] : heaps) all.insert(heap.regions.begin(), heap.regions.end());
    return all;
  }
};
Tool tool;

}  // namespace

const char* ListenerProblem() { return tool.problem; }
const char* ListenToMemory() { return tool.problem; }
HeapHandle RegisterHeap(AddressRange heap) {
  ++tool.calls;
  if (tool.refuses) return nullptr;
  for (const auto& [handle, other] : tool.heaps)
    tool.wrong += heap.address < other.range.end() && other.range.address < heap.end() ? 1 : 0;
  tool.heaps[tool.next] = {heap, {}};
  return reinterpret_cast<HeapHandle>(tool.next++);
}
void UnregisterHeap(HeapHandle heap) {
  ++tool.calls;
  tool.wrong += tool.heaps.erase(reinterpret_cast<std::uintptr_t>(heap)) == 1 ? 0 : 1;
}
void RegisterRegions(HeapHandle heap, const AddressRange* regions, std::size_t count) {
  ++tool.calls;
  TestHeap& of = tool.heaps.at(reinterpret_cast<std::uintptr_t>(heap));
  for (std::size_t i = 0; i < count; ++i) {
    tool.wrong += regions[i].address >= of.range.address && regions[i].end() <= of.range.end() ? 0 : 1;
    tool.wrong += of.regions.emplace(regions[i].address, regions[i].bytes).second ? 0 : 1;
  }
}
void UnregisterRegion(std::uint64_t address) {
  ++tool.calls;
  std::size_t known = 0;
  for (auto& [handle, heap] : tool.heaps) known += heap.regions.erase(address);
  tool.wrong += known == 1 ? 0 : 1;
}

namespace {

constexpr std::uint64_t kMiB = 1u << 20, kBase = 0x7f0000000000;

class NvtxHeapsTest : public testing::Test {
 protected:
  NvtxHeapsTest() : memory_(new NvtxHeaps{}) { tool = Tool{}; }
  ~NvtxHeapsTest() override { EXPECT_EQ(tool.wrong, 0); }

  std::unique_ptr<NvtxHeaps> memory_;
};

TEST_F(NvtxHeapsTest, SegmentsAreHeapsAndBlocksRegions) {
  memory_->AddSegment({kBase, 2 * kMiB});
  memory_->AddSegment({kBase + 2 * kMiB, 2 * kMiB});
  memory_->AddBlock({kBase, 512});
  memory_->AddBlock({kBase + 512, 1024});
  memory_->AddBlock({kBase + 2 * kMiB, 2 * kMiB});
  EXPECT_THAT(tool.Heaps(), ElementsAre(Pair(kBase, 2 * kMiB), Pair(kBase + 2 * kMiB, 2 * kMiB)));
  memory_->RemoveBlock(kBase);
  EXPECT_THAT(tool.Regions(), ElementsAre(Pair(kBase + 512, 1024u), Pair(kBase + 2 * kMiB, 2 * kMiB)));
  memory_->RemoveBlock(kBase + 2 * kMiB);
  memory_->RemoveSegment({kBase + 2 * kMiB, 2 * kMiB});
  EXPECT_THAT(tool.Heaps(), ElementsAre(Pair(kBase, 2 * kMiB)));
  memory_->Withdraw();
  EXPECT_THAT(tool.Heaps(), IsEmpty());
  EXPECT_EQ(memory_->unpublished(), 0u);
}

TEST_F(NvtxHeapsTest, AnExpandableSegmentGrowsAndIsCut) {
  memory_->MapSegment({kBase, 2 * kMiB});
  memory_->AddBlock({kBase, 512});
  memory_->MapSegment({kBase + 4 * kMiB, 2 * kMiB});
  memory_->AddBlock({kBase + 5 * kMiB, kMiB});
  EXPECT_EQ(tool.heaps.size(), 2u);
  memory_->MapSegment({kBase + 2 * kMiB, 2 * kMiB});
  EXPECT_THAT(tool.Heaps(), ElementsAre(Pair(kBase, 6 * kMiB)));
  memory_->AddBlock({kBase + kMiB, 4 * kMiB});
  const Ranges regions = tool.Regions();
  EXPECT_THAT(regions, ElementsAre(Pair(kBase, 512u), Pair(kBase + kMiB, 4 * kMiB), Pair(kBase + 5 * kMiB, kMiB)));
  memory_->RemoveBlock(kBase + kMiB);
  memory_->UnmapSegment({kBase + 2 * kMiB, 2 * kMiB});
  EXPECT_THAT(tool.Heaps(), ElementsAre(Pair(kBase, 2 * kMiB), Pair(kBase + 4 * kMiB, 2 * kMiB)));
  EXPECT_THAT(tool.Regions(), ElementsAre(Pair(kBase, 512u), Pair(kBase + 5 * kMiB, kMiB)));
}

TEST_F(NvtxHeapsTest, WhatTheToolRefusesIsCounted) {
  tool.refuses = true;
  memory_->AddSegment({kBase, 2 * kMiB});
  memory_->AddBlock({kBase, 512});
  memory_->RemoveBlock(kBase);
  memory_->AddBlock({kBase + 64 * kMiB, 512});
  memory_->RemoveSegment({kBase, 2 * kMiB});
  EXPECT_EQ(memory_->unpublished(), 2u);
  EXPECT_EQ(tool.calls, 1);
}

TEST_F(NvtxHeapsTest, MoreBlocksThanThereIsRoomForAreCounted) {
  memory_->AddSegment({kBase, 512 * (NvtxHeaps::kMostRegions + 3)});
  for (std::uint64_t i = 0; i < NvtxHeaps::kMostRegions + 3; ++i) memory_->AddBlock({kBase + i * 512, 512});
  EXPECT_EQ(memory_->unpublished(), 3u);
  for (std::uint64_t i = 0; i < NvtxHeaps::kMostRegions + 3; ++i) memory_->RemoveBlock(kBase + i * 512);
  EXPECT_THAT(tool.Regions(), IsEmpty());
}

// An expandable segment of 64 parts, with blocks at random places, against what is live.
TEST_F(NvtxHeapsTest, RandomChangesLeaveWhatThereIs) {
  constexpr std::uint64_t kParts = 64, kPlaces = kParts * 4, kPlace = kMiB / 2;
  std::mt19937 random(20);  // NOLINT(bugprone-random-generator-seed): the same each time
  std::vector<bool> mapped(kParts), taken(kPlaces);
  Ranges blocks;
  const auto is_mapped = [&](std::uint64_t from, std::uint64_t to) {
    return std::all_of(mapped.begin() + static_cast<std::ptrdiff_t>(from / 4),
                       mapped.begin() + static_cast<std::ptrdiff_t>((to + 3) / 4), [](bool is) { return is; });
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t place = random() % kPlaces, places = std::min<std::uint64_t>(1 + random() % 9, kPlaces - place);
    const std::uint64_t part = place / 4, address = kBase + place * kPlace;
    const auto first = taken.begin() + static_cast<std::ptrdiff_t>(place);
    if (const auto block = blocks.find(address); block != blocks.end()) {
      memory_->RemoveBlock(address);
      std::fill_n(first, block->second / kPlace, false);
      blocks.erase(block);
    } else if (is_mapped(place, place + places) &&
               std::none_of(first, first + static_cast<std::ptrdiff_t>(places), [](bool is) { return is; })) {
      memory_->AddBlock({address, places * kPlace});
      std::fill_n(first, places, true);
      blocks[address] = places * kPlace;
    } else if (!mapped[part]) {
      memory_->MapSegment({kBase + part * 2 * kMiB, 2 * kMiB});
      mapped[part] = true;
    } else if (const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(part * 4);
               std::none_of(begin, begin + 4, [](bool is) { return is; })) {
      memory_->UnmapSegment({kBase + part * 2 * kMiB, 2 * kMiB});
      mapped[part] = false;
    }
    if (i % 100 != 0) continue;
    Ranges heaps;
    for (std::uint64_t from = 0; from < kParts; ++from) {
      if (!mapped[from]) continue;
      const std::uint64_t begin = from;
      while (from < kParts && mapped[from]) ++from;
      heaps[kBase + begin * 2 * kMiB] = (from - begin) * 2 * kMiB;
    }
    ASSERT_EQ(tool.Heaps(), heaps);
    ASSERT_EQ(tool.Regions(), blocks);
  }
}

class MemoryPublicationTest : public testing::Test {
 protected:
  void SetUp() override {
    if (MayBePublished()) WithdrawPublication(0);
    tool = Tool{};
    PreparePublication(true);
  }
  void TearDown() override { EXPECT_EQ(tool.wrong, 0); }

  static PublishedChange Segment() { return {MemoryChange::kSegmentAllocated, {kBase, 2 * kMiB}}; }
  static PublishedChange Block(std::uint64_t at) { return {MemoryChange::kBlockAllocated, {kBase + at, 512}}; }
};

TEST_F(MemoryPublicationTest, WhatChangesBetweenTheSnapshotsIsNotLost) {
  ASSERT_TRUE(BeginPublication());
  NotePublication(0);
  PublishChange(0, MemoryChange::kBlockFreed, {kBase, 512});
  PublishChange(0, MemoryChange::kBlockAllocated, {kBase, 1024});
  PublishChange(0, MemoryChange::kBlockFreed, {kBase + 2048, 512});
  EXPECT_EQ(tool.calls, 0);
  EXPECT_TRUE(PublishFound(0, {{0, Segment()}, {0, Block(0)}, {0, Block(2048)}, {0, Block(4096)}, {1, Block(8192)}}));
  EXPECT_THAT(tool.Regions(), ElementsAre(Pair(kBase, 1024u), Pair(kBase + 4096, 512u)));
  PublishChange(0, MemoryChange::kBlockFreed, {kBase, 1024});
  EXPECT_THAT(tool.Regions(), ElementsAre(Pair(kBase + 4096, 512u)));
  WithdrawPublication(0);
  EXPECT_THAT(tool.Heaps(), IsEmpty());
  PublishChange(0, MemoryChange::kBlockAllocated, {kBase, 1024});
  EXPECT_THAT(tool.Regions(), IsEmpty());
}

TEST_F(MemoryPublicationTest, TooManyChangesMeanAnotherSnapshot) {
  ASSERT_TRUE(BeginPublication());
  NotePublication(0);
  for (int i = 0; i < 5000; ++i) PublishChange(0, MemoryChange::kBlockAllocated, {kBase + 512u, 512});
  EXPECT_FALSE(PublishFound(0, {{0, Segment()}}));
  EXPECT_EQ(tool.calls, 0);
  NotePublication(0);
  EXPECT_TRUE(PublishFound(0, {{0, Segment()}, {0, Block(0)}}));
  EXPECT_THAT(tool.Regions(), ElementsAre(Pair(kBase, 512u)));
}

TEST_F(MemoryPublicationTest, NobodyListens) {
  tool.problem = "nobody";
  PreparePublication(true);
  EXPECT_STREQ(TakePublicationProblem(), "nobody");
  EXPECT_EQ(TakePublicationProblem(), nullptr);
  EXPECT_FALSE(BeginPublication());
  PreparePublication(false);
  EXPECT_EQ(TakePublicationProblem(), nullptr);
  EXPECT_FALSE(BeginPublication());
}

TEST_F(MemoryPublicationTest, WhatIsLeftOutIsSaid) {
  ASSERT_TRUE(BeginPublication());
  NotePublication(0);
  EXPECT_TRUE(PublishFound(0, {{0, Block(0)}, {0, Block(512)}}));
  EXPECT_THAT(TakeUnpublished(), HasSubstr("2 blocks were not published"));
  EXPECT_EQ(TakeUnpublished(), nullptr);
}

TEST_F(MemoryPublicationTest, AForkedChildLeavesTheTool) {
  ASSERT_TRUE(BeginPublication());
  NotePublication(0);
  ASSERT_TRUE(PublishFound(0, {{0, Segment()}, {0, Block(0)}}));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const int before = tool.calls;
    WithdrawPublication(0);
    const bool left = tool.calls == before;
    NotePublication(0);
    const bool again = BeginPublication() && (NotePublication(0), PublishFound(0, {{0, Segment()}}));
    _exit(left && again && tool.calls == before + 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  WithdrawPublication(0);
}

}  // namespace
}  // namespace memoir
