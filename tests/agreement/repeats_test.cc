// Steps that a recording names in place of saying them again are read back event by event as they were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/agreement/recorded_steps.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

class Shown : public Visitor {
 public:
  test::Steps found;

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnStep(const StepEvent& event) override {
    NoteTick(event.tick);
    found.events.push_back(absl::StrCat("step ", event.step));
    found.step_ticks.push_back(event.tick);
  }
  void OnStack(const StackEvent& event) override {
    if (event.stack.valid())
      found.events.push_back(absl::StrCat("stack ", state_->dictionary().stack(event.stack).frame.line));
  }
  void OnAllocate(const AllocateEvent& event) override {
    NoteTick(event.tick);
    const Block& block = *event.block;
    std::string line = absl::StrCat("allocate ", Name(block));
    if (block.requested_bytes != 0) absl::StrAppend(&line, " at ", block.address);
    found.events.push_back(absl::StrCat(line, " live ", state_->live_bytes(block.device)));
    number_[block.ordinal] = allocations_++;
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    NoteTick(event.tick);
    found.events.push_back(absl::StrCat("free ", number_.at(event.block->ordinal), " ", static_cast<int>(event.cause)));
  }
  void OnFreeCompleted(const FreeCompletedEvent& event) override {
    found.events.push_back(absl::StrCat("completed ", event.address, " of ", event.bytes));
  }
  void OnProcessEnd(const ProcessEvent&) override {
    state_->ForEachLiveBlock([this](const Block& block) { found.live.emplace(Name(block), block.address); });
  }
  bool in_order() const { return in_order_; }

 private:
  std::string Name(const Block& block) const {
    return absl::StrCat(ToString(state_->dictionary().device(block.device)), " ", block.bytes);
  }
  void NoteTick(Tick tick) {
    in_order_ = in_order_ && tick >= tick_;
    tick_ = tick;
  }

  const ReplayState* state_ = nullptr;
  std::map<std::uint64_t, std::size_t> number_;
  std::size_t allocations_ = 0;
  Tick tick_ = 0;
  bool in_order_ = true;
};

std::uint64_t BytesOf(const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

class RepeatsTest : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(RepeatsTest, AreReadAsTheyWere) {
  const test::RecordedSteps recording(GetParam(), 300);
  ASSERT_EQ(recording.error(), "");
  const test::Steps& expected = recording.expected();
  ASSERT_GT(expected.events.size(), 1000u);

  const auto capture = Capture::Open(recording.folder());
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_EQ(capture->processes().at(0).info.format_version(), 2u);
  Shown shown;
  const auto report = capture->Replay(shown, {});
  ASSERT_TRUE(report.ok()) << report.status();
  for (const Damage& damage : report->damage) ADD_FAILURE() << damage.what;
  const auto differs = std::ranges::mismatch(shown.found.events, expected.events);
  const auto at = static_cast<std::size_t>(differs.in2 - expected.events.begin());
  ASSERT_TRUE(differs.in1 == shown.found.events.end() && differs.in2 == expected.events.end())
      << "event " << at << " of " << expected.events.size() << ": "
      << (differs.in1 == shown.found.events.end() ? "none" : *differs.in1) << ", and was "
      << (differs.in2 == expected.events.end() ? "none" : *differs.in2);
  EXPECT_EQ(shown.found.step_ticks, expected.step_ticks);
  EXPECT_EQ(shown.found.live, expected.live);
  EXPECT_TRUE(shown.in_order());
  EXPECT_EQ(report->lost_records + report->lost_chunks + report->repeated_records + report->late_events, 0u);
  EXPECT_EQ(report->unmatched_deallocations + report->replaced_blocks + report->keyframe_mismatches, 0u);
  // Most steps are named: packed one by one the events would take eight bytes each.
  EXPECT_LT(BytesOf(recording.folder()), expected.events.size() * 6);
}

// A block that seems to live where another one comes.
TEST_P(RepeatsTest, StayReadableWhereFreesAreLost) {
  const test::RecordedSteps recording(GetParam(), 100, test::Course::kLosesFrees);
  ASSERT_EQ(recording.error(), "");
  const auto capture = Capture::Open(recording.folder());
  ASSERT_TRUE(capture.ok()) << capture.status();
  Shown shown;
  const auto report = capture->Replay(shown, {});
  ASSERT_TRUE(report.ok()) << report.status();
  for (const Damage& damage : report->damage) ADD_FAILURE() << damage.what;
  EXPECT_EQ(shown.found.step_ticks, recording.expected().step_ticks);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RepeatsTest, ::testing::Range(1u, 13u));

}  // namespace
}  // namespace memoir
