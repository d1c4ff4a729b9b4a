// Why a request found no room: fragmentation only where the holes are a real share of what is reserved, else who holds
// most; and which blocks grow with the inputs.
#include "tools/analyze/oom/out_of_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/oom/input_followers.h"
#include "tools/analyze/oom/out_of_memory_analysis.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using PythonFrame = ProcessBuilder::PythonFrame;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kSegment = 0x100000000;
const PythonFrame kCache = {"/src/me/serve.py", "Cache.__init__", 31};
const PythonFrame kPrompt = {"/src/me/serve.py", "answer", 59};

OutOfMemory ErrorOf(ProcessBuilder& process) {
  const testing::TemporaryFolder folder;
  process.WriteTo(folder.path());
  const Capture capture = *Capture::Open(folder.path());
  const std::vector<OutOfMemory> errors = *AnalyzeOutOfMemory(capture, {});
  EXPECT_EQ(errors.size(), 1u);
  return errors.empty() ? OutOfMemory() : errors.front();
}

// A device of 1,000 MiB, all reserved in one segment. Two lines hold it, with a hole between them.
OutOfMemory Refused(std::uint64_t hole, std::uint64_t asked, std::uint64_t device_free) {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0);
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, kSegment, 1000 * kMiB);
  process.Stack({kPrompt}).AllocateBlock(cuda, kSegment, 100 * kMiB);
  process.Stack({kCache}).AllocateBlock(cuda, kSegment + 100 * kMiB + hole, 900 * kMiB - hole);
  process.Stack({kPrompt}).RunOutOfMemory(cuda, asked, device_free);
  return ErrorOf(process);
}

TEST(OutOfMemory, IsFragmentationWhereTheHolesAreARealShare) {
  EXPECT_EQ(Refused(100 * kMiB, 102 * kMiB, 2 * kMiB).room.cause, OutOfMemoryCause::kFragmentation);
  EXPECT_EQ(Refused(50 * kMiB, 52 * kMiB, 2 * kMiB).room.cause, OutOfMemoryCause::kFragmentation);
}

TEST(OutOfMemory, OfAFullDeviceIsNoFragmentation) {
  const OutOfMemory error = Refused(12 * kMiB, 14 * kMiB, 2 * kMiB);
  EXPECT_EQ(error.room.own_free, 12 * kMiB);
  EXPECT_EQ(error.room.cause, OutOfMemoryCause::kFull);
  EXPECT_EQ(Refused(12 * kMiB, 16 * kMiB, 2 * kMiB).room.cause, OutOfMemoryCause::kFull) << "2 MiB lacking";
}

TEST(OutOfMemory, NamesTheLargestHolderFirst) {
  const OutOfMemory error = Refused(12 * kMiB, 16 * kMiB, 2 * kMiB);
  ASSERT_EQ(error.by_line.size(), 2u);
  EXPECT_EQ(error.by_line[0].line.line, 31u);
  EXPECT_EQ(error.by_line[0].bytes, 888 * kMiB);
  EXPECT_EQ(error.by_line[0].blocks, 1u);
  EXPECT_EQ(error.by_line[1].line.line, 59u);
}

// Inputs of some sizes, after each of which one place allocates four times as much and another always the same.
class Requests {
 public:
  void Come(const std::vector<std::uint64_t>& inputs) {
    for (const std::uint64_t input : inputs) {
      Allocate(0, input, true);
      Allocate(1, 4 * input, false);
      Allocate(2, kMiB, false);
    }
  }
  bool Follows(std::uint32_t place) const { return followers_.Follows(BlockOf(place, 0)); }

 private:
  static Block BlockOf(std::uint32_t place, std::uint64_t bytes) {
    Block block;
    block.device = DeviceId{0};
    block.callstack = StackId{place};
    block.bytes = bytes;
    return block;
  }
  void Allocate(std::uint32_t place, std::uint64_t bytes, bool is_input) {
    followers_.NoteAllocation(BlockOf(place, bytes), is_input);
  }
  InputFollowers followers_;
};

TEST(InputFollowers, AreThePlacesWhoseSizesFollow) {
  Requests requests;
  requests.Come({100, 200, 50, 400, 100});
  EXPECT_TRUE(requests.Follows(0)) << "the inputs themselves";
  EXPECT_TRUE(requests.Follows(1));
  EXPECT_FALSE(requests.Follows(2)) << "always of one size";
  EXPECT_FALSE(requests.Follows(3)) << "never seen";
}

TEST(InputFollowers, AreNotKnownOfInputsOfOneSize) {
  Requests requests;
  requests.Come({100, 100, 101, 100, 100});
  EXPECT_FALSE(requests.Follows(0));
  EXPECT_FALSE(requests.Follows(1));
}

TEST(InputFollowers, AreSeenTwice) {
  Requests requests;
  requests.Come({100, 200, 300});
  EXPECT_FALSE(requests.Follows(1)) << "the burst of the newest input has not ended";
  requests.Come({400});
  EXPECT_TRUE(requests.Follows(1));
}

}  // namespace
}  // namespace memoir
