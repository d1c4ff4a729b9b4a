// The driver's allocations in a replay: when blocks are live, also after losses, switches and restarts.
#include "tools/model/driver_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kMiB = 1 << 20;

// Bytes by library at each mark, and a line for each refusal and reading.
class Script : public Visitor {
 public:
  std::map<std::string, std::map<std::string, std::uint64_t>> at_mark;
  std::vector<std::string> lines;
  std::uint64_t unmatched = 0;
  std::uint64_t forgotten = 0;

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnMark(const MarkEvent& event) override {
    auto& held = at_mark[std::string(state_->dictionary().text(event.name))];
    std::uint64_t blocks = 0;
    for (const auto& [who, bytes] : state_->driver().totals()) {
      held[std::string(state_->dictionary().text(who.library)) + "/" + std::string(ToString(who.call))] += bytes.bytes;
      blocks += bytes.blocks;
    }
    EXPECT_EQ(blocks, state_->driver().size());
  }
  void OnProcessEnd(const ProcessEvent&) override {
    unmatched += state_->driver().unmatched_frees();
    forgotten += state_->driver().forgotten_bytes();
  }
  void OnDriverRefused(const DriverRefusedEvent& event) override {
    lines.push_back(std::string(state_->dictionary().text(event.asked->library)) + " " +
                    std::string(ToString(event.asked->call)) + " " + std::to_string(event.asked->bytes) + " error " +
                    std::to_string(event.error) + " free " + Number(event.device_free) + " in " +
                    std::string(state_->dictionary().text(event.asked->operator_name)));
  }
  void OnDeviceSample(const DeviceSampleEvent& event) override {
    lines.push_back(std::string(ToString(event.cause)) + " " + Number(event.free_bytes) + " of " +
                    Number(event.total_bytes) + " others " + Number(event.other_processes_bytes) +
                    (event.before ? " before" : ""));
  }
  void OnOutOfMemory(const OutOfMemoryEvent& event) override { lines.push_back("limit " + Number(event.device_limit)); }

 private:
  static std::string Number(const std::optional<std::uint64_t>& number) {
    return number ? std::to_string(*number) : "?";
  }
  const ReplayState* state_ = nullptr;
};

ReplayReport Play(ProcessBuilder& process, Script& script) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  const absl::StatusOr<ReplayReport> report = capture->Replay(script);
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report->damage.empty()) << report->damage.front().what;
  return *report;
}

TEST(DriverTest, BlocksLiveFromTheirCallToTheirFree) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "H100");
  process.GiveDriverBlock(cuda, 0x100, 44 * kMiB, v1::CONTEXT, "libtorch_cuda.so")
      .GiveDriverBlock(cuda, 0x1000, 37 * kMiB, v1::MALLOC, "libforeign.so")
      .GiveDriverBlock(0, 0x1000, 8, v1::HOST_ALLOCATE, "libtorch_cuda.so")
      .Mark("all")
      .TakeDriverBlock(cuda, 0x1000)
      .Mark("without foreign")
      .TakeDriverBlock(0, 0x1000)
      .TakeDriverBlock(0, 0x7777)
      .Mark("context");
  Script script;
  Play(process, script);
  EXPECT_THAT(script.at_mark["all"],
              UnorderedElementsAre(Pair("libtorch_cuda.so/context", 44 * kMiB), Pair("libforeign.so/malloc", 37 * kMiB),
                                   Pair("libtorch_cuda.so/host_allocate", 8)));
  EXPECT_THAT(script.at_mark["without foreign"], UnorderedElementsAre(Pair("libtorch_cuda.so/context", 44 * kMiB),
                                                                      Pair("libtorch_cuda.so/host_allocate", 8)));
  EXPECT_THAT(script.at_mark["context"], UnorderedElementsAre(Pair("libtorch_cuda.so/context", 44 * kMiB)));
  EXPECT_EQ(script.unmatched, 1u);
}

TEST(DriverTest, RefusalsAndReadingsSayWhatIsKnown) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "H100");
  process.ReadDevice(cuda, v1::START, {.free = 70, .total = 80})
      .Begin("aten::mm")
      .RefuseDriver(cuda, 0, v1::HANDLE, "libcublas.so.12", 3, 17)
      .End()
      .RefuseDriver(cuda, 64, v1::MALLOC, "libforeign.so", 2, ProcessBuilder::Reading::kNotKnown)
      .RunOutOfMemory(cuda, 512, 3)
      .RunOutOfMemory(cuda, 512, 3, 1000)
      .ReadDevice(cuda, v1::LAST, {.free = 60, .total = 80, .others = 0});
  Script script;
  Play(process, script);
  EXPECT_THAT(
      script.lines,
      ElementsAre("start 70 of 80 others ?", "libcublas.so.12 handle 0 error 3 free 17 in aten::mm",
                  "libforeign.so malloc 64 error 2 free ? in ", "limit ?", "limit 1000", "last 60 of 80 others 0"));
}

TEST(DriverTest, AFreeThatComesEarlyOrLateEndsItsOwnBlock) {
  DriverMemory memory;
  DriverBlock block;
  block.device = DeviceId{1};
  block.address = 0x10;
  block.bytes = 5;
  block.serial = 7;
  EXPECT_FALSE(memory.Free(block.device, 0x10, 8));
  EXPECT_FALSE(memory.Allocate(block));  // its free was shown before it
  EXPECT_EQ(memory.unmatched_frees(), 0u);
  block.serial = 11;
  EXPECT_TRUE(memory.Allocate(block));
  EXPECT_FALSE(memory.Free(block.device, 0x10, 10));  // of one before
  EXPECT_EQ(memory.size(), 1u);
  ASSERT_EQ(memory.totals().size(), 1u);
  EXPECT_EQ(memory.totals().begin()->second.bytes, 5u);
  block.serial = 9;
  EXPECT_FALSE(memory.Allocate(block));  // that one, later still
  EXPECT_EQ(memory.Free(block.device, 0x10, 12)->serial, 11u);
  EXPECT_EQ(memory.size(), 0u);
  EXPECT_TRUE(memory.totals().empty());
}

// Four calls at one address, shown in each order that there is: the last block lives, and no other.
TEST(DriverTest, TheOrderInWhichEventsAreShownDoesNotMatter) {
  std::vector<std::uint64_t> serials = {1, 2, 3, 4, 5};  // odd: given; even: taken back
  do {
    DriverMemory memory;
    for (const std::uint64_t serial : serials) {
      DriverBlock block;
      block.device = DeviceId{1};
      block.address = 0x10;
      block.bytes = serial;
      block.serial = serial;
      if (serial % 2 == 1) {
        memory.Allocate(block);
      } else {
        memory.Free(block.device, block.address, serial);
      }
    }
    ASSERT_EQ(memory.size(), 1u) << ::testing::PrintToString(serials);
    ASSERT_EQ(memory.totals().begin()->second.bytes, 5u);
    ASSERT_EQ(memory.totals().begin()->second.blocks, 1u);
  } while (std::ranges::next_permutation(serials).found);
}

TEST(DriverTest, WhatAnIncompleteKeyframeLeavesOutStays) {
  DriverMemory memory;
  DriverBlock first, second;
  first.device = second.device = DeviceId{1};
  first.address = 0x10, first.bytes = 1, first.serial = 1;
  second.address = 0x20, second.bytes = 2, second.serial = 2;
  memory.Allocate(first);
  memory.Allocate(second);
  memory.Replace({second}, false);
  EXPECT_EQ(memory.size(), 2u);
  memory.Replace({second}, true);
  EXPECT_EQ(memory.size(), 1u);
}

TEST(DriverTest, AKeyframeBringsBlocksAndReadingsOfPartsThatAreGone) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "H100");
  process.GiveDriverBlock(cuda, 0x1000, 37 * kMiB, v1::MALLOC, "libforeign.so")
      .GiveDriverBlock(cuda, 0x2000, 5, v1::MALLOC, "libnccl.so.2")
      .ReadDevice(cuda, v1::START, {.free = 70, .total = 80})
      .ReadDevice(cuda, v1::PEAK, {.free = 10, .total = 80})
      .ReadDevice(cuda, v1::REGULAR, {.free = 50, .total = 80})
      .EndPart()
      .RemovePart(0)
      .TakeDriverBlock(cuda, 0x2000)
      .Mark("later");
  Script script;
  Play(process, script);
  EXPECT_THAT(script.at_mark["later"], UnorderedElementsAre(Pair("libforeign.so/malloc", 37 * kMiB)));
  EXPECT_THAT(script.lines, ElementsAre("start 70 of 80 others ? before", "peak 10 of 80 others ? before",
                                        "regular 50 of 80 others ? before"));
}

TEST(DriverTest, WhatWasLostIsTakenFromTheNextKeyframe) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "H100");
  process.GiveDriverBlock(cuda, 0x1000, 1, v1::MALLOC, "a.so").EndChunk();
  process.Unrecorded([&](ProcessBuilder& lost) { lost.SkipChunks(1); })
      .EndChunk(true)
      .GiveDriverBlock(cuda, 0x3000, 3, v1::MALLOC, "c.so")
      .Mark("after");
  Script script;
  Play(process, script);
  EXPECT_THAT(script.at_mark["after"], UnorderedElementsAre(Pair("a.so/malloc", 1), Pair("c.so/malloc", 3)));
}

TEST(DriverTest, NothingFromBeforeRecordingWasOffCounts) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "H100");
  process.GiveDriverBlock(cuda, 0x1000, 1, v1::MALLOC, "a.so")
      .SwitchTo(v1::LEVEL_OFF)
      .SwitchTo(v1::LEVEL_ALL)
      .GiveDriverBlock(cuda, 0x2000, 2, v1::MALLOC, "b.so")
      .Mark("after");
  Script script;
  Play(process, script);
  EXPECT_THAT(script.at_mark["after"], UnorderedElementsAre(Pair("b.so/malloc", 2)));
  EXPECT_EQ(script.forgotten, 1u);
}

TEST(DriverTest, EachProcessHasItsOwn) {
  const TemporaryFolder folder;
  for (std::uint32_t restart = 0; restart < 2; ++restart) {
    ProcessOptions options;
    options.restart = restart;
    options.pid = 100 + restart;
    ProcessBuilder process(options);
    const std::uint32_t cuda = process.AddDevice("cuda", 0, "H100");
    process.GiveDriverBlock(cuda, 0x1000 + restart, 1 + restart, v1::MALLOC, "a.so").Mark(std::to_string(restart));
    process.WriteTo(folder.path());
  }
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  Script script;
  ASSERT_TRUE(capture->Replay(script).ok());
  EXPECT_THAT(script.at_mark["0"], UnorderedElementsAre(Pair("a.so/malloc", 1)));
  EXPECT_THAT(script.at_mark["1"], UnorderedElementsAre(Pair("a.so/malloc", 2)));
}

}  // namespace
}  // namespace memoir
