// Steps that change nothing are passed over, also from one chunk into the next, and others are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tests/model/repeated_rows.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using ::testing::IsEmpty;
using testing::PatternRowSpec;
using testing::ProcessBuilder;
using testing::RepeatsOf;
using testing::Stretch;
using testing::Visit;

// Counts what is shown, and what is passed over.
class Counts : public Visitor {
 public:
  std::uint64_t steps = 0, passed = 0, frees = 0;
  bool takes_repeats() const override { return true; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnStep(const StepEvent&) override { ++steps; }
  void OnDeallocate(const DeallocateEvent&) override { ++frees; }
  void OnRepeated(const RepeatedEvent& event) override { passed += event.steps; }
};

TEST(Passing, ArePassedOverWhereTheyLeaveWhatWasThere) {
  std::vector<PatternRowSpec> rows = {{7, 0, 4, 1100, 60, 0}, {7, 4, 1, 10, 0, 0}};
  for (int i = 0; i < 50; ++i) rows.push_back({7, 0, 5, 90, 400, 1});
  rows.push_back({0, 0, 1, 0, 0, 0});
  ProcessBuilder process;
  process.Allocate(0x50, 64).Repeat(Stretch(), RepeatsOf(rows, {0x50, 0x10}));
  process.DeallocateAs(40'000, 0x60);
  const auto [counts, report] = Visit<Counts>(process);
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_EQ(report.unmatched_deallocations + report.replaced_blocks + report.late_events, 0u);
  EXPECT_EQ(counts.steps + counts.passed, 51u);
  EXPECT_GE(counts.passed, 45u);
  EXPECT_EQ(counts.frees, 2 * counts.steps + 1);  // the last is in a run, of the block of the last step
}

// Chunks that end in the middle of a step of Stretch(), with three blocks that live: the first of the step before, and
// both of this one. The next chunk frees the first, the last, and in its next step the second.
class CutChunks {
 public:
  explicit CutChunks(ProcessBuilder& process) : process_(process) { process_.Allocate(kFirst, 64); }

  // With whole steps of these stretches. The next chunk frees what lives at addresses that are as much higher.
  void Add(const std::vector<std::uint32_t>& stretches, std::int64_t wrong_by = 0) {
    std::vector<PatternRowSpec> rows = rest_of_step_;
    bool frees_of_before = true;
    for (const std::uint32_t stretch : stretches) {
      rows.push_back({stretch, 0, frees_of_before ? 4u : 5u, rows.empty() ? process_.tick() : 90, 60, 1});
      if (std::exchange(frees_of_before, false)) rows.push_back({stretch, 4, 1, 10, 0, 0});
    }
    rows.push_back({stretches.back(), 0, 3, 90, 60, 1});
    rows.push_back({0, 0, 3, 0, 0, 0});
    const std::int64_t base = 0x1000 * ++chunks_;
    for (const std::int64_t offset : {0x10, 0x20, 0x30}) frees_.push_back(base + offset);
    std::vector<std::int64_t> deltas;
    for (std::int64_t before = 0; const std::int64_t address : frees_)
      deltas.push_back(address - std::exchange(before, address));
    v1::Repeats repeats = RepeatsOf(rows, deltas);
    repeats.set_step_number(0, steps_);
    steps_ += static_cast<std::int64_t>(stretches.size()) + 1;
    if (chunks_ == 1) process_.Repeat(Stretch(8, 100), v1::Repeats()).Repeat(Stretch(), v1::Repeats());
    process_.Repeat(repeats).EndChunk();
    rest_of_step_ = {{stretches.back(), 3, 1, process_.tick(), 0, 0}, {stretches.back(), 4, 1, 10, 0, 0}};
    frees_ = {base + 0x10 + wrong_by, base + 0x30 + wrong_by, base + 0x20 + wrong_by};
  }
  // By a run.
  void FreeWhatLives() {
    for (const std::int64_t address : frees_)
      process_.DeallocateAs(process_.tick() + 10, static_cast<std::uint64_t>(address));
  }
  std::uint64_t steps() const { return static_cast<std::uint64_t>(steps_); }

 private:
  static constexpr std::int64_t kFirst = 0x50;
  ProcessBuilder& process_;
  std::vector<PatternRowSpec> rest_of_step_;
  std::vector<std::int64_t> frees_ = {kFirst};
  std::int64_t chunks_ = 0, steps_ = 0;
};

TEST(Passing, ArePassedOverFromOneChunkIntoTheNext) {
  ProcessBuilder process;
  CutChunks chunks(process);
  for (int i = 0; i < 20; ++i) chunks.Add({7, 7, 7});
  chunks.FreeWhatLives();
  const auto [counts, report] = Visit<Counts>(process);
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_EQ(report.unmatched_deallocations + report.replaced_blocks + report.late_events, 0u);
  EXPECT_EQ(counts.steps + counts.passed, chunks.steps());
  EXPECT_GE(counts.passed, 65u);
  EXPECT_EQ(counts.frees, 2 * (counts.steps - 1) + 3);  // except events of the last step, which is cut
}

// All events, none skipped; `Taking` looks for events that could be skipped.
class Numbers : public Visitor {
 public:
  std::vector<std::pair<Tick, std::uint64_t>> numbers;  // bytes and which block
  void OnAllocate(const AllocateEvent& event) override { Add(event, *event.block); }
  void OnDeallocate(const DeallocateEvent& event) override { Add(event, *event.block); }

 private:
  void Add(const Event& event, const Block& block) {
    numbers.emplace_back(event.tick, block.ordinal << 8 | block.bytes);
  }
};
class Taking : public Numbers {
 public:
  bool takes_repeats() const override { return true; }
};

// So nothing is passed over from the tenth chunk into the next, but behind that, though its blocks live on.
TEST(Passing, ThatFreeOtherBlocksThanTheChunkBeforeHasLeftAreShown) {
  ProcessBuilder process;
  CutChunks chunks(process);
  for (int i = 0; i < 20; ++i) chunks.Add({7, 7, 7}, i == 9 ? 8 : 0);
  chunks.FreeWhatLives();
  const auto [counts, report] = Visit<Counts>(process);
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_EQ(report.unmatched_deallocations, 3u);
  EXPECT_EQ(counts.steps + counts.passed, chunks.steps());
  EXPECT_GE(counts.passed, 55u);
  EXPECT_EQ(counts.frees + 3, 2 * (counts.steps - 1) + 3);
  const auto [shown, report_of_shown] = Visit<Numbers>(process);
  const auto [taken, report_of_taken] = Visit<Taking>(process);
  EXPECT_TRUE(taken.numbers == shown.numbers);
  EXPECT_EQ(report_of_taken.unmatched_deallocations, report_of_shown.unmatched_deallocations);
}

testing::StretchEventSpec Allocation(std::uint64_t tick, std::uint64_t bytes) {
  return {.kind = v1::ALLOCATE, .tick = tick, .bytes = bytes, .of_host = 1};
}
testing::StretchEventSpec Free(std::uint64_t tick, std::uint32_t steps_back, std::uint32_t event) {
  return {.kind = v1::DEALLOCATE, .tick = tick, .of_host = 2 + steps_back, .freed_event = event};
}

// A block of a long step that is never freed, and one at the same index in each of the short steps after it.
TEST(Passing, OfShortStepsLeaveALongStepsBlocksAlone) {
  std::vector<testing::StretchEventSpec> wide = {{.kind = v1::STEP}}, narrow = wide;
  for (std::uint32_t event = 1; event < 38; ++event) {
    const bool frees = event < 31 ? event % 2 == 0 : event % 2 != 0;
    wide.push_back(event == 31 || !frees ? Allocation(event, 64) : Free(event, 0, event - 1));
  }
  wide[31] = Allocation(31, 100);
  for (std::uint32_t event = 1; event < 9; ++event)
    narrow.push_back(event % 2 != 0 ? Allocation(event, 64) : Free(event, 0, event - 1));
  narrow.push_back({.kind = v1::STACK, .tick = 9});
  std::vector<PatternRowSpec> rows;
  for (std::uint32_t i = 0; i < 3; ++i) rows.push_back({8, 0, 38, i == 0 ? 1100u : 10u, 100, 1});
  for (std::uint32_t i = 0; i < 20; ++i) rows.push_back({7, 0, 10, 10, 100, 1});
  rows.push_back({0, 0, 3, 0, 0, 0});
  ProcessBuilder process;
  process.Repeat(testing::StretchOf(8, wide), v1::Repeats());
  process.Repeat(testing::StretchOf(7, narrow), RepeatsOf(rows, {0x100, 0x100, 0x100}));
  for (const std::uint64_t address : {0x100, 0x200, 0x300}) process.DeallocateAs(process.tick() + 10, address);
  const auto [counts, report] = Visit<Counts>(process);
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_GE(counts.passed, 10u);
  EXPECT_EQ(report.unmatched_deallocations, 0u);
}

// Bytes freed; a skipped step counts like the one before it.
class FreedBytes : public Visitor {
 public:
  std::uint64_t bytes = 0, passed = 0;
  bool takes_repeats() const override { return true; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnRepeatGroupBegin(const RepeatGroupEvent&) override { before_ = bytes; }
  void OnRepeatGroupEnd(const RepeatGroupEvent&) override { of_cycle_ = bytes - before_; }
  void OnDeallocate(const DeallocateEvent& event) override { bytes += event.block->bytes; }
  void OnRepeated(const RepeatedEvent& event) override {
    bytes += event.times * of_cycle_;
    passed += event.steps;
  }

 private:
  std::uint64_t before_ = 0, of_cycle_ = 0;
};

// Each step frees what the one five steps before has allocated, which is smaller for the first of the large ones.
TEST(Passing, ThatFreeBlocksOfOtherStepsAreShown) {
  const auto stretch = [](std::uint32_t id, std::uint64_t bytes) {
    return testing::StretchOf(id, {{.kind = v1::STEP}, Allocation(10, bytes), Free(20, 5, 1)});
  };
  std::vector<PatternRowSpec> rows;
  std::vector<std::int64_t> addresses;
  ProcessBuilder process;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint32_t id = i < 10 ? 7 : 8;
    if (i < 5) process.Allocate(0x1000 + 0x10 * i, 1);
    if (i < 5) addresses.push_back(i == 0 ? 0x1000 : 0x10);
    rows.push_back({id, 0, i < 5 ? 2u : 3u, i == 0 ? 1100u : 10u, 50, 1});
    if (i < 5) rows.push_back({id, 2, 1, 5, 0, 0});
  }
  rows.push_back({0, 0, 5, 0, 0, 0});
  for (int i = 0; i < 5; ++i) addresses.push_back(0x10000);
  process.Repeat(stretch(8, 200), v1::Repeats()).Repeat(stretch(7, 100), RepeatsOf(rows, addresses));
  const auto [freed, report] = Visit<FreedBytes>(process);
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_EQ(freed.bytes, 5u * 1 + 10 * 100 + 25 * 200);
  EXPECT_GE(freed.passed, 8u);
}

// It frees blocks of the lost chunk; blocks left by the chunk before that are never freed. Chunks after it are not
// joined.
TEST(Passing, BehindALostChunkBeginAnew) {
  ProcessBuilder process;
  CutChunks chunks(process);
  for (int i = 0; i < 20; ++i) {
    chunks.Add({7, 7, 7}, i == 9 ? 0x100000 : 0);
    if (i == 9) process.SkipChunks(1);
  }
  chunks.FreeWhatLives();
  const auto [shown, report_of_shown] = Visit<Numbers>(process);
  const auto [taken, report_of_taken] = Visit<Taking>(process);
  const auto [counts, report] = Visit<Counts>(process);
  EXPECT_EQ(report_of_shown.lost_chunks, 1u);
  EXPECT_EQ(report_of_shown.unmatched_deallocations, 3u);
  EXPECT_TRUE(taken.numbers == shown.numbers);
  EXPECT_EQ(report_of_taken.unmatched_deallocations, 3u);
  EXPECT_EQ(report.unmatched_deallocations, 3u);
  EXPECT_EQ(counts.steps + counts.passed, chunks.steps());
  EXPECT_GE(counts.passed, 30u);
}

TEST(Passing, OfManyChunksAreTakenInPieces) {
  ProcessBuilder process;
  CutChunks chunks(process);
  std::minstd_rand random(1);
  for (int i = 0; i < 20; ++i) {
    std::vector<std::uint32_t> stretches(5000);
    for (std::uint32_t& stretch : stretches) stretch = 7 + random() / 64 % 2;
    chunks.Add(stretches);
  }
  chunks.FreeWhatLives();
  const auto [shown, report] = Visit<Numbers>(process);
  const auto [taken, report_of_taken] = Visit<Taking>(process);
  EXPECT_EQ(shown.numbers.size(), 4 * chunks.steps() + 1 + 1);
  EXPECT_TRUE(taken.numbers == shown.numbers);
  EXPECT_EQ(report_of_taken.unmatched_deallocations + report.unmatched_deallocations, 0u);
}

TEST(Passing, OfManyDevicesTakeNoTimeForEachStep) {
  constexpr std::uint32_t kDevices = 1u << 14, kSteps = 1u << 16;
  std::vector<testing::StretchEventSpec> events = {{.kind = v1::STEP}};
  for (std::uint32_t i = 1; i < kDevices; ++i)
    events.push_back({.kind = v1::DEALLOCATE, .tick = i, .address = i, .device = 1 + i});
  const v1::StretchDef wide = testing::StretchOf(8, events),
                       narrow = testing::StretchOf(
                           7,
                           {{.kind = v1::STEP}, {.kind = v1::DEALLOCATE, .tick = 1, .address = 1, .device = kDevices}});
  std::vector<PatternRowSpec> rows = {{8, 0, kDevices, 1100, kDevices, 0}};
  for (std::uint32_t i = 0; i < kSteps; ++i) rows.push_back({7, 0, 2, 1, 0, i % 11 == 0 ? 2u : 1u});
  v1::Repeats repeats = RepeatsOf(rows, {});
  for (std::uint32_t i = 1; i < kDevices; ++i) repeats.add_serial_delta(1);
  for (std::uint32_t i = 0; i < kSteps; ++i) repeats.add_serial_delta(0);
  ProcessBuilder process;
  process.Repeat(wide, repeats);
  process.Repeat(narrow, repeats);
  const Counts counts = Visit<Counts>(process).first;
  EXPECT_EQ(counts.steps + counts.passed, kSteps + 1);
}

}  // namespace
}  // namespace memoir
