// Analyses that go through a capture several times decode it once.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::TemporaryFolder;

class Counting : public Visitor {
 public:
  void OnRangeBegin(const RangeBeginEvent& event) override { tensors += event.tensors.size(); }
  void OnAllocate(const AllocateEvent& event) override { bytes += event.block->bytes; }
  void OnFirstSeen(const FirstSeenEvent&) override { ++first_seen; }
  bool operator==(const Counting& other) const {
    return tensors == other.tensors && bytes == other.bytes && first_seen == other.first_seen;
  }
  std::size_t tensors = 0, bytes = 0, first_seen = 0;
};

struct Replayed {
  Counting counted;
  std::size_t damage;
};

Replayed Replay(const Capture& capture) {
  Replayed replayed;
  ReplayOptions options;
  options.tensors = options.first_seen = true;
  const auto report = capture.Replay(replayed.counted, options);
  EXPECT_TRUE(report.ok()) << report.status();
  replayed.damage = report->damage.size();
  return replayed;
}

class DecodedOnce : public ::testing::Test {
 protected:
  DecodedOnce() {
    testing::ProcessOptions options;
    options.chunk_events = 10;
    ProcessBuilder process(options);
    for (std::uint64_t i = 0; i < 200; ++i) {
      const testing::TensorSpec tensor{
          .impl = 0x10 + i, .storage = 0x1000 * (i + 1), .storage_bytes = 64, .sizes = {16}};
      process.Begin("aten::add.Tensor", {tensor}).Allocate(0x9000'0000 + 64 * i, i + 1).End();
    }
    process.WriteTo(folder_.path());
  }
  // Decoded chunks can be replayed without their file.
  void EmptyTheFiles() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      if (entry.is_regular_file()) std::filesystem::resize_file(entry.path(), 1);
  }
  const TemporaryFolder folder_;
};

TEST_F(DecodedOnce, WhileItIsShared) {
  const absl::StatusOr<Capture> capture = Capture::Open(folder_.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const Capture::SharedDecoding shared(*capture);
  const Replayed first = Replay(*capture);
  EXPECT_EQ(first.counted.bytes, 200u * 201 / 2);
  EXPECT_EQ(first.counted.tensors, 200u);
  EXPECT_EQ(first.counted.first_seen, 200u);
  EmptyTheFiles();
  const Replayed again = Replay(*capture);
  EXPECT_EQ(again.counted, first.counted);
  EXPECT_EQ(again.damage, 0u);
}

TEST_F(DecodedOnce, ButNotAfterwards) {
  const absl::StatusOr<Capture> capture = Capture::Open(folder_.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  {
    const Capture::SharedDecoding shared(*capture);
    const Capture::SharedDecoding inner(*capture);
    EXPECT_EQ(Replay(*capture).damage, 0u);
  }
  EmptyTheFiles();
  EXPECT_GT(Replay(*capture).damage, 0u);
}

// A capture with one part has progress between its begin and its end.
TEST_F(DecodedOnce, ReportsProgressWithinAPart) {
  const absl::StatusOr<Capture> capture = Capture::Open(folder_.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  Counting counted;
  ReplayOptions options;
  std::vector<double> progress;
  options.progress = [&](double done) { progress.push_back(done); };
  ASSERT_TRUE(capture->Replay(counted, options).ok());
  EXPECT_TRUE(std::ranges::is_sorted(progress));
  EXPECT_GT(std::ranges::count_if(progress, [](double done) { return done > 0.2 && done < 0.8; }), 5);
  EXPECT_DOUBLE_EQ(progress.back(), 1);
}

}  // namespace
}  // namespace memoir
