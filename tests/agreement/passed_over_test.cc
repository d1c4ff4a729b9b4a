// Steps that a replay passes over are those that it would have shown, and a summary that multiplies them is the one
// that counts them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/agreement/recorded_steps.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/pass/visitor_group.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/analyze/summary/joint_summaries.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

// A line for each event, of steps with their number, of allocations with theirs.
struct Line {
  std::string text;
  std::uint64_t number = 0;
  enum class Of { kStep, kAllocation, kOther } of = Of::kOther;
  bool operator==(const Line&) const = default;
};

// Everything, or what is left of it where as many steps are passed over as chance wants.
class Lines : public Visitor {
 public:
  Lines(bool passes_over, std::uint32_t seed) : passes_over_(passes_over), random_(seed) {}
  std::vector<Line> lines;
  std::size_t shown = 0;
  std::set<std::pair<std::string, std::uint64_t>> live;
  bool in_order = true;

  bool takes_repeats() const override { return passes_over_; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override {
    return random_() % 4 == 0 ? random_() % (event.times + 1) : event.times;
  }
  void OnRepeatGroupBegin(const RepeatGroupEvent&) override { cycle_begin_ = lines.size(); }
  void OnRepeatGroupEnd(const RepeatGroupEvent&) override {
    cycle_ = {lines.begin() + static_cast<std::ptrdiff_t>(cycle_begin_), lines.end()};
  }
  void OnRepeated(const RepeatedEvent& event) override {
    NoteTick(event.tick);
    std::uint64_t step = event.first_step;
    for (std::uint64_t i = 0; i < event.times; ++i) {
      for (Line& line : cycle_) {
        if (line.of == Line::Of::kStep) line.number = step++;
        if (line.of == Line::Of::kAllocation) line.number = allocations_++;
        lines.push_back(line);
      }
    }
    EXPECT_EQ(step, event.last_step + 1);
  }

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnStep(const StepEvent& event) override { Add(event, {"step", event.step, Line::Of::kStep}); }
  void OnStack(const StackEvent& event) override {
    Add(event, {absl::StrCat("stack ", event.stack.valid() ? state_->dictionary().stack(event.stack).frame.line : 0)});
  }
  void OnAllocate(const AllocateEvent& event) override {
    const Block& block = *event.block;
    allocations_ = block.ordinal + 1;
    const std::uint64_t live_bytes = state_->live_bytes(block.device);
    Add(event, {absl::StrCat("allocate ", Name(block), ", ", live_bytes), block.ordinal, Line::Of::kAllocation});
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    in_order = in_order && event.block->tick <= event.tick;
    Add(event, {absl::StrCat("free ", Name(*event.block), " ", static_cast<int>(event.cause))});
  }
  void OnFreeCompleted(const FreeCompletedEvent& event) override {
    Add(event, {absl::StrCat("completed ", event.address, " of ", event.bytes)});
  }
  void OnHostReading(const HostReadingEvent& event) override { Add(event, {"reading"}); }
  void OnProcessEnd(const ProcessEvent&) override {
    state_->ForEachLiveBlock([this](const Block& block) { live.emplace(BytesOf(block), block.address); });
  }

 private:
  std::string BytesOf(const Block& block) const {
    return absl::StrCat(ToString(state_->dictionary().device(block.device)), " ", block.bytes);
  }
  std::string Name(const Block& block) const {
    return absl::StrCat(BytesOf(block), block.requested_bytes == 0 ? "" : absl::StrCat(" at ", block.address));
  }
  void Add(const Event& event, Line line) {
    NoteTick(event.tick);
    ++shown;
    lines.push_back(std::move(line));
  }
  void NoteTick(Tick tick) {
    in_order = in_order && tick >= tick_;
    tick_ = tick;
  }

  const bool passes_over_;
  mutable std::mt19937 random_;
  const ReplayState* state_ = nullptr;
  std::size_t cycle_begin_ = 0;
  std::uint64_t allocations_ = 0;
  std::vector<Line> cycle_;
  Tick tick_ = 0;
};

class PassedOverTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  // The kinds of steps take turns of up to twelve steps: with few steps in a chunk, long ones are never passed over.
  static bool TurnsAreShort() { return GetParam() % 12 < 4; }
};

TEST_P(PassedOverTest, StepsAreThoseThatWouldBeShown) {
  const test::RecordedSteps recording(GetParam(), 600, test::Course::kCalm);
  ASSERT_EQ(recording.error(), "");
  const auto capture = Capture::Open(recording.folder());
  ASSERT_TRUE(capture.ok()) << capture.status();
  Lines all(false, 0), some(true, GetParam());
  const auto report_of_all = capture->Replay(all, {});
  const auto report = capture->Replay(some, {});
  ASSERT_TRUE(report_of_all.ok() && report.ok()) << report.status();
  for (const Damage& damage : report->damage) ADD_FAILURE() << damage.what;
  const auto differs = std::ranges::mismatch(some.lines, all.lines);
  const auto at = differs.in2 - all.lines.begin();
  const auto text = [](const auto& lines, auto line) {
    return line == lines.end() ? "none" : absl::StrCat(line->text, " number ", line->number);
  };
  ASSERT_TRUE(differs.in1 == some.lines.end() && differs.in2 == all.lines.end())
      << "event " << at << " of " << all.lines.size() << " (" << some.shown
      << " shown): " << text(some.lines, differs.in1) << ", and was " << text(all.lines, differs.in2);
  if (TurnsAreShort()) {
    EXPECT_LT(some.shown, all.shown / 2);
  }
  EXPECT_EQ(some.live, recording.expected().live);
  EXPECT_EQ(some.in_order, all.in_order);
  EXPECT_TRUE(all.in_order);
  EXPECT_EQ(report->events, report_of_all->events);
  EXPECT_EQ(report->unmatched_deallocations + report->replaced_blocks + report->late_events, 0u);
  const RepeatedStepCounts& known = report->processes[0].repeated_steps;
  const RepeatedStepCounts& known_of_all = report_of_all->processes[0].repeated_steps;
  EXPECT_EQ(known.steps, known_of_all.steps);
  EXPECT_EQ(known.unknown_bytes, known_of_all.unknown_bytes);
  EXPECT_EQ(known.unknown_blocks + known.inferred_blocks, known_of_all.unknown_blocks + known_of_all.inferred_blocks);
}

// How many steps are passed over.
class Passed : public Visitor {
 public:
  explicit Passed(bool passes_over) : passes_over_(passes_over) {}
  std::uint64_t steps = 0;
  bool takes_repeats() const override { return passes_over_; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnRepeated(const RepeatedEvent& event) override { steps += event.steps; }

 private:
  const bool passes_over_;
};

Summary SummaryOf(const Capture& capture, const Selection& selection, GroupBy by, bool passes_over,
                  std::uint64_t* passed = nullptr) {
  Passed beside(passes_over);
  std::vector<Grouping> groupings;
  groupings.push_back(Grouping::Of(by, ""));
  const std::vector<Visitor*> others{&beside};
  JointReplays replays(capture, selection);
  auto summaries = replays.Finish(AnalyzeJointSummaries(replays, selection, groupings, others));
  EXPECT_TRUE(summaries.ok()) << summaries.status();
  if (passed != nullptr) *passed = beside.steps;
  return summaries.ok() ? std::move(summaries->front()) : Summary();
}

void ExpectAlike(SummaryColumns some, SummaryColumns all) {
  EXPECT_EQ(some.life_ns == 0, all.life_ns == 0);
  some.life_ns = all.life_ns = 0;  // a collapsed replay computes it from the lengths of the steps
  EXPECT_TRUE(some == all) << some.allocations << " allocations, " << some.deallocations << " frees, "
                           << some.bytes_at_peak << " at the peak, " << some.net_bytes << " kept; were "
                           << all.allocations << ", " << all.deallocations << ", " << all.bytes_at_peak << ", "
                           << all.net_bytes;
}

void ExpectAlike(const Summary& some, const Summary& all) {
  EXPECT_EQ(some.events, all.events);
  EXPECT_EQ(some.steps, all.steps);
  EXPECT_EQ(some.threads, all.threads);
  ASSERT_EQ(some.devices.size(), all.devices.size());
  for (std::size_t i = 0; i < all.devices.size(); ++i) {
    EXPECT_EQ(some.devices[i].peak_allocated_bytes, all.devices[i].peak_allocated_bytes);
    EXPECT_EQ(some.devices[i].peak_ns, all.devices[i].peak_ns);
    EXPECT_EQ(some.devices[i].peak_step, all.devices[i].peak_step);
    EXPECT_EQ(some.devices[i].live_bytes_at_end, all.devices[i].live_bytes_at_end);
    EXPECT_EQ(some.devices[i].peak_active_bytes, all.devices[i].peak_active_bytes);
    EXPECT_EQ(some.devices[i].unattributed_bytes, all.devices[i].unattributed_bytes);
  }
  ASSERT_EQ(some.rows.size(), all.rows.size());
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    EXPECT_EQ(some.rows[i].name, all.rows[i].name);
    ExpectAlike(some.rows[i].total, all.rows[i].total);
  }
}

TEST_P(PassedOverTest, StepsAreMultipliedInSummaries) {
  const test::RecordedSteps recording(GetParam(), 600, test::Course::kCalm);
  const auto capture = Capture::Open(recording.folder());
  ASSERT_TRUE(capture.ok()) << capture.status();
  Selection whole;
  for (const GroupBy by : {GroupBy::kModule, GroupBy::kLine}) {
    SCOPED_TRACE(static_cast<int>(by));
    std::uint64_t passed = 0;
    const Summary some = SummaryOf(*capture, whole, by, true, &passed), all = SummaryOf(*capture, whole, by, false);
    ExpectAlike(some, all);
    if (TurnsAreShort()) {
      EXPECT_GT(passed, 300u);
    }
  }
  for (const auto& [first, last] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 1}, {300, 301}, {77, 471}}) {
    SCOPED_TRACE(absl::StrCat("steps ", first, ":", last));
    Selection steps;
    steps.window.kind = SelectionWindow::Kind::kSteps;
    steps.window.first_step = first;
    steps.window.last_step = last;
    ASSERT_TRUE(FindSteps(*capture, steps).ok());
    ExpectAlike(SummaryOf(*capture, steps, GroupBy::kLine, true), SummaryOf(*capture, steps, GroupBy::kLine, false));
  }
  // The middle half of the recorded time. On a busy machine the first event comes long after the process's start.
  const Summary every = SummaryOf(*capture, whole, GroupBy::kOperator, false);
  const std::uint64_t end_ns = every.end_ns - capture->processes().front().start_ns;
  Selection times;
  times.window.kind = SelectionWindow::Kind::kTime;
  times.window.begin_ns = end_ns - every.duration_ns * 3 / 4;
  times.window.end_ns = end_ns - every.duration_ns / 4;
  ExpectAlike(SummaryOf(*capture, times, GroupBy::kLine, true), SummaryOf(*capture, times, GroupBy::kLine, false));
}

// A step of the calm program keeps nothing, but for its first ones; one that does is never passed over.
TEST_P(PassedOverTest, StepsHideNoLeak) {
  const test::RecordedSteps recording(GetParam(), 600,
                                      GetParam() % 2 == 0 ? test::Course::kLeaks : test::Course::kCalm);
  const auto capture = Capture::Open(recording.folder());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const Selection whole;
  const BlockCategories categories;
  Leaks found[2];
  for (const bool passes_over : {false, true}) {
    LeakPass pass(*capture, whole, categories);
    Lines beside(passes_over, GetParam());
    VisitorGroup both({&pass, &beside});
    ASSERT_TRUE(capture->Replay(both, {}).ok());
    if (TurnsAreShort()) {
      EXPECT_EQ(beside.shown < beside.lines.size(), passes_over);
    }
    found[passes_over ? 1 : 0] = pass.Take();
  }
  EXPECT_EQ(found[1].steps, found[0].steps);
  ASSERT_EQ(found[1].leaks.size(), found[0].leaks.size());
  EXPECT_EQ(found[0].leaks.empty(), GetParam() % 2 != 0);
  for (std::size_t i = 0; i < found[0].leaks.size(); ++i) {
    EXPECT_EQ(found[1].leaks[i].bytes, found[0].leaks[i].bytes);
    EXPECT_EQ(found[1].leaks[i].since_step, found[0].leaks[i].since_step);
    EXPECT_EQ(found[1].leaks[i].steps, found[0].leaks[i].steps);
    EXPECT_EQ(found[1].leaks[i].blocks, found[0].leaks[i].blocks);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PassedOverTest, ::testing::Range(1u, 13u));

}  // namespace
}  // namespace memoir
