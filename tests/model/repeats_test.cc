// Steps that a chunk names are shown as if it had said their events; what does not fit is damage.
#include "tools/model/repeat_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/captures/capture_builder.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

// "allocate 64 at 1010", its tick; made-up addresses as "?".
class Lines : public Visitor {
 public:
  std::vector<std::string> lines;
  void OnStep(const StepEvent& event) override {
    lines.push_back(absl::StrCat("step ", event.step, " at ", event.tick));
  }
  void OnAllocate(const AllocateEvent& event) override {
    lines.push_back(absl::StrCat("allocate ", event.block->bytes, " at ", event.tick, Address(*event.block)));
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    lines.push_back(absl::StrCat("free ", event.block->bytes, " at ", event.tick, Address(*event.block)));
  }

 private:
  static std::string Address(const Block& block) {
    return block.address >= kFirstUnknownAddress ? "" : absl::StrCat(", ", block.address);
  }
};

// A step's event, a block that outlives the step, one that does not, and the free of the first of the step before.
v1::StretchDef Stretch(std::uint32_t id = 7, std::uint64_t bytes = 64) {
  return testing::StretchOf(id, {{.kind = v1::STEP},
                                 {.kind = v1::ALLOCATE, .tick = 10, .bytes = bytes, .of_host = 1},
                                 {.kind = v1::ALLOCATE, .tick = 20, .bytes = 8, .of_host = 1},
                                 {.kind = v1::DEALLOCATE, .tick = 30, .of_host = 3, .freed_event = 1},
                                 {.kind = v1::DEALLOCATE, .tick = 40, .of_host = 2, .freed_event = 2}});
}

struct Row {
  std::uint32_t stretch, first_event, events;
  std::uint64_t tick_delta, ticks;
  std::uint32_t step_delta;
};
v1::Repeats RepeatsOf(const std::vector<Row>& rows, const std::vector<std::int64_t>& address_deltas) {
  v1::Repeats repeats;
  std::int64_t serial = 1000;
  for (const Row& row : rows) {
    repeats.add_stretch(row.stretch);
    repeats.add_first_event(row.first_event);
    repeats.add_events(row.events);
    repeats.add_tick_delta(row.tick_delta);
    repeats.add_ticks(row.ticks);
    repeats.add_step_delta(row.step_delta);
    for (std::uint32_t i = 0; row.stretch == 0 && i < row.events; ++i)
      repeats.add_living_serial(std::exchange(serial, 1));
    if (row.stretch != 0 && row.first_event == 0) repeats.add_step_number(repeats.step_number_size() == 0 ? 40 : 1);
  }
  for (const std::int64_t delta : address_deltas) repeats.add_address_delta(delta);
  return repeats;
}

// What the visitor makes of the process.
template <class OfVisitor>
std::pair<OfVisitor, ReplayReport> Visit(ProcessBuilder& process) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const auto capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  OfVisitor visitor;
  const auto report = capture->Replay(visitor, {});
  EXPECT_TRUE(report.ok()) << report.status();
  return {visitor, *report};
}

struct Result {
  std::vector<std::string> lines;
  ReplayReport report;
};
Result Replay(ProcessBuilder& process) {
  auto [lines, report] = Visit<Lines>(process);
  return {lines.lines, report};
}

TEST(Repeats, AreShownInTheirPlace) {
  ProcessBuilder process;
  process.Allocate(0x50, 64).Repeat(Stretch(), RepeatsOf({{7, 0, 4, 1100, 60, 0},  // the free is of a block from before
                                                          {7, 4, 1, 10, 0, 0},
                                                          {7, 0, 5, 90, 400, 1},
                                                          {0, 0, 1, 0, 0, 0}},
                                                         {0x50, 0x10}));
  process.DeallocateAs(2000, 0x60);
  const Result result = Replay(process);
  EXPECT_THAT(result.lines,
              ElementsAre("allocate 64 at 1000, 80", "step 40 at 1100", "allocate 64 at 1120", "allocate 8 at 1140",
                          "free 64 at 1160, 80", "free 8 at 1170", "step 41 at 1260", "allocate 64 at 1360, 96",
                          "allocate 8 at 1460", "free 64 at 1560", "free 8 at 1660", "free 64 at 1670, 96"));
  EXPECT_THAT(result.report.damage, IsEmpty());
  EXPECT_EQ(result.report.events, 12u);
  EXPECT_EQ(result.report.unmatched_deallocations + result.report.replaced_blocks + result.report.late_events, 0u);
}

TEST(Repeats, AreMergedWithRuns) {
  ProcessBuilder process;
  process.AtTick(1115).Allocate(0x100, 1).AtTick(1145).Allocate(0x200, 2);
  process.Repeat(Stretch(), RepeatsOf({{7, 0, 3, 1100, 40, 0}, {0, 0, 2, 0, 0, 0}}, {0x300, 0x10}));
  EXPECT_THAT(Replay(process).lines,
              ElementsAre("step 40 at 1100", "allocate 1 at 1115, 256", "allocate 64 at 1120, 768",
                          "allocate 8 at 1140, 784", "allocate 2 at 1145, 512"));
}

TEST(Repeats, ThatDoNotFitAreDamage) {
  const std::vector<std::pair<const char*, v1::Repeats>> damaged = {
      {"a stretch that is not known", RepeatsOf({{8, 0, 1, 1100, 0, 0}}, {})},
      {"more events than it has", RepeatsOf({{7, 2, 4, 1100, 9, 0}}, {})},
      {"behind its end", RepeatsOf({{7, 5, 1, 1100, 9, 0}}, {})},
      {"a free without address", RepeatsOf({{7, 0, 4, 1100, 9, 0}, {0, 0, 2, 0, 0, 0}}, {0x10, 0x20})},
      {"addresses of nothing", RepeatsOf({{7, 0, 1, 1100, 0, 0}, {0, 0, 2, 0, 0, 0}}, {1, 2})},
      {"addresses left over", RepeatsOf({{7, 0, 1, 1100, 0, 0}}, {1})},
  };
  for (const auto& [what, repeats] : damaged) {
    ProcessBuilder process;
    process.Mark("begin").Repeat(Stretch(), repeats).EndPart();
    process.Allocate(0x10, 16);
    const Result result = Replay(process);
    ASSERT_EQ(result.report.damage.size(), 1u) << what;
    EXPECT_THAT(result.report.damage[0].what, HasSubstr("repeats of a chunk")) << what;
    EXPECT_EQ(result.lines.back().substr(0, 11), "allocate 16") << what;  // the part behind it is read
  }
}

TEST(Repeats, OfImpossibleStretchesAreDamage) {
  std::vector<v1::StretchDef> stretches(6, Stretch());
  stretches[0].mutable_events()->set_kind(std::string(5, static_cast<char>(v1::STACK)));
  stretches[1].mutable_thread()->RemoveLast();
  stretches[2].mutable_of_host()->RemoveLast();
  stretches[3].mutable_events()->mutable_tick_delta()->RemoveLast();
  stretches[4].clear_events();
  stretches[5].set_of_host(1, 0);  // host memory is allocated at no address of a stretch
  for (const v1::StretchDef& stretch : stretches) {
    ProcessBuilder process;
    process.Mark("begin").Repeat(stretch, RepeatsOf({{7, 0, 1, 1100, 0, 0}}, {})).EndPart();
    process.Allocate(0x10, 16);
    const Result result = Replay(process);
    EXPECT_EQ(result.report.damage.size(), 1u) << stretch.ShortDebugString();
    EXPECT_EQ(result.lines.back().substr(0, 11), "allocate 16");
  }
}

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

TEST(Repeats, ArePassedOverWhereTheyLeaveWhatWasThere) {
  std::vector<Row> rows = {{7, 0, 4, 1100, 60, 0}, {7, 4, 1, 10, 0, 0}};
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
    std::vector<Row> rows = rest_of_step_;
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
  std::vector<Row> rest_of_step_;
  std::vector<std::int64_t> frees_ = {kFirst};
  std::int64_t chunks_ = 0, steps_ = 0;
};

TEST(Repeats, ArePassedOverFromOneChunkIntoTheNext) {
  ProcessBuilder process;
  CutChunks chunks(process);
  for (int i = 0; i < 20; ++i) chunks.Add({7, 7, 7});
  chunks.FreeWhatLives();
  const auto [counts, report] = Visit<Counts>(process);
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_EQ(report.unmatched_deallocations + report.replaced_blocks + report.late_events, 0u);
  EXPECT_EQ(counts.steps + counts.passed, chunks.steps());
  EXPECT_GE(counts.passed, 65u);
  EXPECT_EQ(counts.frees, 2 * (counts.steps - 1) + 3);  // but for those of the last step, which is cut
}

// All events, of which none is passed over; `Taking` looks for those that might be.
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
TEST(Repeats, ThatFreeOtherBlocksThanTheChunkBeforeHasLeftAreShown) {
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

// It frees blocks of the lost one, and nobody what the one before has left. Chunks are not joined behind it.
TEST(Repeats, BehindALostChunkBeginAnew) {
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

TEST(Repeats, OfManyChunksAreTakenInPieces) {
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

TEST(Repeats, OfManyDevicesTakeNoTimeForEachStep) {
  constexpr std::uint32_t kDevices = 1u << 14, kSteps = 1u << 16;
  std::vector<testing::StretchEventSpec> events = {{.kind = v1::STEP}};
  for (std::uint32_t i = 1; i < kDevices; ++i)
    events.push_back({.kind = v1::DEALLOCATE, .tick = i, .address = i, .device = 1 + i});
  const v1::StretchDef wide = testing::StretchOf(8, events),
                       narrow = testing::StretchOf(
                           7,
                           {{.kind = v1::STEP}, {.kind = v1::DEALLOCATE, .tick = 1, .address = 1, .device = kDevices}});
  std::vector<Row> rows = {{8, 0, kDevices, 1100, kDevices, 0}};
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
