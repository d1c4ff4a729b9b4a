// The replay: order, serials, losses, keyframes, clocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/pass/event_stream.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"
#include "tools/read/part_file.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::TemporaryFolder;
using testing::TensorSpec;

// Writes down what it is shown, one short line each.
class Script : public Visitor {
 public:
  std::vector<std::string> lines;

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnRangeBegin(const RangeBeginEvent& event) override {
    Add(event, "begin " + Text(event.range->name) + (event.before ? " before" : "") + Tensors(event.tensors));
  }
  void OnRangeEnd(const RangeEndEvent& event) override {
    Add(event, "end " + Text(event.range->name) + (event.implicit ? " implicit" : "") + Tensors(event.tensors));
  }
  void OnAllocate(const AllocateEvent& event) override {
    Add(event, "allocate " + std::to_string(event.block->bytes) + " in " + Text(event.block->operator_name) + "/" +
                   Text(event.block->leaf_name) + "/" + Text(event.block->user_name));
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    const char* const causes[] = {"", " replaced", " resync", " unknown"};
    Add(event, "deallocate " + std::to_string(event.block->bytes) + causes[static_cast<int>(event.cause)] +
                   (event.temporary ? " temporary" : ""));
  }
  void OnFirstSeen(const FirstSeenEvent& event) override {
    Add(event, "first seen " + std::to_string(event.tensor->storage_bytes));
  }
  void OnMark(const MarkEvent& event) override { Add(event, "mark " + Text(event.name)); }
  void OnStep(const StepEvent& event) override { Add(event, "step " + std::to_string(event.step)); }
  void OnLost(const LostEvent& event) override {
    Add(event, "lost " + std::to_string(event.records) + " records " + std::to_string(event.chunks) + " chunks");
  }

 private:
  std::string Text(NameId name) const { return std::string(state_->dictionary().text(name)); }
  std::string Tensors(absl::Span<const Tensor> tensors) const {
    std::string text;
    for (const Tensor& tensor : tensors) {
      text += tensor.impl == 0
                  ? " none"
                  : " " + ToString(state_->dictionary().layout(tensor.layout)) + "@" + std::to_string(tensor.storage);
    }
    return text;
  }
  void Add(const Event& event, const std::string& text) {
    const std::string thread =
        event.thread.valid() ? std::to_string(state_->dictionary().thread(event.thread).number) + " " : "";
    lines.push_back(thread + text);
  }
  const ReplayState* state_ = nullptr;
};

struct Shown {
  std::vector<std::string> lines;
  ReplayReport report;
};

Shown Replay(ProcessBuilder& process, const ReplayOptions& options = {}) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  Script script;
  const absl::StatusOr<ReplayReport> report = capture->Replay(script, options);
  EXPECT_TRUE(report.ok());
  return {script.lines, *report};
}

TEST(ReplayTest, NestingGivesOperatorLeafAndUserRange) {
  ProcessBuilder process;
  process.BeginUser("forward")
      .BeginText("node")
      .Begin("aten::add")
      .Begin("aten::empty")
      .Allocate(0x1000, 4)
      .End()
      .End();
  process.Deallocate(0x1000).Mark("here").Step(3).End().End();
  EXPECT_THAT(Replay(process).lines,
              ElementsAre("1 begin forward", "1 begin node", "1 begin aten::add", "1 begin aten::empty",
                          "1 allocate 4 in aten::add/aten::empty/forward", "1 end aten::empty", "1 end aten::add",
                          "1 deallocate 4", "1 mark here", "1 step 3", "1 end node", "1 end forward"));
}

TEST(ReplayTest, NamesThatAreNoUtf8AreShownAndCostNothingElse) {
  ProcessBuilder process;
  process.BeginUser("caf\xc3\xa9 \xc3").Mark("\xed\xa0\x80").End();  // cut in a letter; a surrogate
  EXPECT_THAT(Replay(process).lines,
              ElementsAre("1 begin caf\xc3\xa9 \xef\xbf\xbd", "1 mark \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
                          "1 end caf\xc3\xa9 \xef\xbf\xbd"));
}

TEST(ReplayTest, ThreadsAreMergedByTickOverChunks) {
  ProcessBuilder process;
  process.OnThread(1).AtTick(1100).Mark("a").AtTick(1300).Mark("c").AtTick(1500).Mark("e");
  process.OnThread(2).AtTick(1200).Mark("b").AtTick(1400).Mark("d").AtTick(1350);
  process.EndChunk();  // complete until 1349: c may be shown, d and e may not yet
  process.OnThread(3).AtTick(1360).Mark("x").AtTick(2000).EndChunk();
  const Shown shown = Replay(process);
  EXPECT_THAT(shown.lines, ElementsAre("1 mark a", "2 mark b", "1 mark c", "3 mark x", "2 mark d", "1 mark e"));
  EXPECT_EQ(shown.report.late_events, 0u);
}

TEST(ReplayTest, ANewPartMayNumberNamesAnew) {
  ProcessBuilder process;
  process.OnThread(1).AtTick(5000).Mark("old").AtTick(1100).EndPart();  // complete until 1099: "old" is held back
  process.RenumberDictionaries();
  process.AtTick(6000).Mark("new");
  EXPECT_THAT(Replay(process).lines, ElementsAre("1 mark old", "1 mark new"));
}

TEST(ReplayTest, AnOperatorMayBeDefinedAnewOtherwise) {
  class Schemas : public Visitor {
   public:
    std::vector<std::string> seen;
    void OnStart(const ReplayState& state) override { state_ = &state; }
    void OnRangeBegin(const RangeBeginEvent& event) override {
      const Schema& schema = state_->dictionary().schema(event.range->schema);
      seen.push_back(schema.text + (schema.argument_is_written == std::vector<bool>{true} ? " writes" : ""));
    }
    void OnRangeEnd(const RangeEndEvent& event) override { names.insert(event.range->name); }
    std::set<NameId> names;

   private:
    const ReplayState* state_ = nullptr;
  };
  ProcessBuilder process;
  process.Begin("my::f").End();
  process.Redefine("my::f", "my::f(Tensor(a!) x) -> ()", {true}).Begin("my::f").End();
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  Schemas schemas;
  ASSERT_TRUE(Capture::Open(folder.path())->Replay(schemas).ok());
  EXPECT_THAT(schemas.seen, ElementsAre("my::f(...) -> Tensor", "my::f(Tensor(a!) x) -> () writes"));
  EXPECT_EQ(schemas.names.size(), 1u) << "to all groupings it is one operator";
}

TEST(ReplayTest, TensorsOnDemandAndFirstSeen) {
  ProcessBuilder process;
  const TensorSpec numpy{1, 0x7000, 512, {2, 64}}, none{0, 0, 0, {}};
  process.Begin("aten::cat", {numpy, none, numpy}).End({numpy});
  ReplayOptions options;
  options.tensors = true;
  EXPECT_THAT(Replay(process, options).lines,
              ElementsAre("1 begin aten::cat float32[2, 64]@28672 none float32[2, 64]@28672", "1 first seen 512",
                          "1 end aten::cat float32[2, 64]@28672"));
}

TEST(SerialTest, DeallocationsBeforeAndAfterTheirTurn) {
  ProcessBuilder late;  // its deallocation comes after the next allocation at the address
  late.AllocateAs(1, 0x1000, 10).AllocateAs(3, 0x1000, 20).DeallocateAs(2, 0x1000).DeallocateAs(4, 0x1000);
  const Shown shown = Replay(late);
  EXPECT_THAT(shown.lines,
              ElementsAre("1 allocate 10 in //", "1 deallocate 10 replaced", "1 allocate 20 in //", "1 deallocate 20"));
  EXPECT_EQ(shown.report.replaced_blocks, 1u);
  EXPECT_EQ(shown.report.unmatched_deallocations, 0u);

  ProcessBuilder early;  // comes before its allocation
  early.DeallocateAs(2, 0x1000).AllocateAs(1, 0x1000, 10).AllocateAs(3, 0x1000, 20);
  EXPECT_THAT(Replay(early).lines, ElementsAre("1 allocate 10 in //", "1 deallocate 10", "1 allocate 20 in //"));
  EXPECT_EQ(Replay(early).report.unmatched_deallocations, 0u);

  ProcessBuilder overtaken;  // the older allocation comes last
  overtaken.AllocateAs(3, 0x1000, 20).AllocateAs(1, 0x1000, 10).DeallocateAs(4, 0x1000);
  EXPECT_THAT(Replay(overtaken).lines,
              ElementsAre("1 allocate 20 in //", "1 allocate 10 in //", "1 deallocate 10 replaced", "1 deallocate 20"));

  ProcessBuilder unknown;
  unknown.DeallocateAs(9, 0x5000);
  EXPECT_EQ(Replay(unknown).report.unmatched_deallocations, 1u);
}

TEST(LossTest, RecordsLostOnAThreadCutOrFillItsStack) {
  ProcessBuilder process;
  process.Begin("aten::a").Begin("aten::b");
  process.LoseRecords(3).Unrecorded([](ProcessBuilder& p) { p.End().End().Begin("aten::c").BeginText("d"); });
  process.Allocate(0x1000, 8).End().End();
  const Shown shown = Replay(process);
  // Depth two before and after: other ranges are open now, which a reader cannot know; the count of ranges stays right.
  EXPECT_EQ(shown.report.lost_records, 3u);
  EXPECT_EQ(shown.lines[2], "1 lost 3 records 0 chunks");

  ProcessBuilder cut;
  cut.Begin("aten::a").Begin("aten::b").LoseRecords(1).Unrecorded([](ProcessBuilder& p) { p.End(); }).Mark("m").End();
  EXPECT_THAT(Replay(cut).lines, ElementsAre("1 begin aten::a", "1 begin aten::b", "1 lost 1 records 0 chunks",
                                             "1 end aten::b implicit", "1 mark m", "1 end aten::a"));
}

TEST(LossTest, MissingPartGoesOnFromTheNextKeyframe) {
  ProcessBuilder process;
  process.Begin("aten::a").Allocate(0x1000, 10).End().EndPart();
  process.Deallocate(0x1000).Begin("aten::b").Allocate(0x2000, 20).EndPart();  // part 1, removed
  process.RemovePart(1);
  process.End().Deallocate(0x2000);
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  EXPECT_EQ(capture->processes()[0].missing_parts, 1u);
  Script script;
  const absl::StatusOr<ReplayReport> report = capture->Replay(script);
  EXPECT_EQ(report->lost_chunks, 2u) << "the chunk and the index";
  EXPECT_EQ(report->lost_records, 3u);
  EXPECT_THAT(script.lines, ElementsAre("1 begin aten::a", "1 allocate 10 in aten::a/aten::a/", "1 end aten::a",
                                        "lost 0 records 2 chunks", "1 begin aten::b before", "deallocate 10 resync",
                                        "1 allocate 20 in aten::b/aten::b/", "1 lost 3 records 0 chunks",
                                        "1 end aten::b", "1 deallocate 20"));
}

TEST(LossTest, RangesThatEndedInALostPartOnAThreadThatSaysNoMoreAreClosed) {
  ProcessBuilder process;
  process.OnThread(2).Begin("aten::a").OnThread(1).Mark("m").EndPart();
  process.OnThread(2).End().EndPart();  // part 1, removed
  process.RemovePart(1);
  process.OnThread(1).Mark("n");
  EXPECT_THAT(Replay(process).lines, ElementsAre("2 begin aten::a", "1 mark m", "lost 0 records 2 chunks",
                                                 "2 end aten::a implicit", "1 mark n"));
}

TEST(LossTest, WhatIsOpenAtTheEndEndsWithTheProcess) {
  ProcessBuilder process;
  process.Begin("aten::a").Begin("aten::b").Kill();
  EXPECT_THAT(Replay(process).lines,
              ElementsAre("1 begin aten::a", "1 begin aten::b", "1 end aten::b implicit", "1 end aten::a implicit"));
}

TEST(LossTest, OldestPartsGoneStartsFromTheirKeyframe) {
  ProcessBuilder process;
  process.Begin("aten::a").Allocate(0x1000, 10).EndPart();
  process.FoldParts(1);
  process.End().Deallocate(0x1000);
  const Shown shown = Replay(process);
  EXPECT_THAT(shown.lines, ElementsAre("1 begin aten::a before", "1 allocate 10 in aten::a/aten::a/", "1 end aten::a",
                                       "1 deallocate 10"));
  EXPECT_EQ(shown.report.lost_chunks + shown.report.lost_records, 0u);
}

TEST(LossTest, AKeyframeThatCannotBeUsedIsDamageAtItsChunk) {
  ProcessBuilder process;
  process.Allocate(0x1000, 10).EndPart();
  process.FoldParts(1);
  process.Mark("m");
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const std::string path = folder / process.FileName(1);
  const absl::StatusOr<PartFile> part = OpenPart(path);
  ASSERT_TRUE(part.ok());
  std::string plain;
  ASSERT_TRUE(PayloadReader().Read(*part, part->chunks[0], &plain).ok());
  v1::Payload payload;
  ASSERT_TRUE(payload.ParseFromString(plain));
  payload.mutable_keyframe()->mutable_live()->add_bytes(20);  // one more than it has addresses
  v1::Chunk chunk;
  ASSERT_TRUE(chunk.ParseFromString(process.parts()[1].substr(3, process.chunk_offsets(1)[1] - 3)))
      << "two bytes of length";
  testing::Seal(payload, &chunk);
  testing::WriteFile(path, testing::Delimited(chunk));
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  Script script;
  const absl::StatusOr<ReplayReport> report = capture->Replay(script);
  EXPECT_THAT(report->damage, ElementsAre(Damage{path, 0, "columns of a keyframe do not match"}));
  EXPECT_THAT(script.lines, ElementsAre("1 mark m"));
}

TEST(LossTest, KeyframesInTheMiddleAreCompared) {
  ProcessBuilder process;
  process.Allocate(0x1000, 10).EndChunk(true).Allocate(0x2000, 10).EndChunk(true).Deallocate(0x1000);
  EXPECT_EQ(Replay(process).report.keyframe_mismatches, 0u);
  ProcessBuilder wrong;
  wrong.Unrecorded([](ProcessBuilder& p) { p.Allocate(0x1000, 10); }).Mark("m").EndChunk(true).Mark("n");
  EXPECT_EQ(Replay(wrong).report.keyframe_mismatches, 1u);
}

TEST(LossTest, AKilledProcessHasNoEndAndACutThatWasMergedIsNoDamage) {
  ProcessBuilder process;
  process.Allocate(0x1000, 10).EndPart(false);
  process.Deallocate(0x1000).set_end(v1::End::MERGED);
  std::vector<std::string> parts = process.parts();
  parts[0] += std::string("\x0A\xff\x01half a chunk");
  const TemporaryFolder folder;
  for (std::uint32_t i = 0; i < 2; ++i) testing::WriteFile(folder / process.FileName(i), parts[i]);
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  EXPECT_TRUE(capture->damage().empty());
  Script script;
  EXPECT_EQ(capture->Replay(script)->processes[0].end.reason(), v1::End::MERGED);
  EXPECT_THAT(script.lines, ElementsAre("1 allocate 10 in //", "1 deallocate 10"));
}

TEST(CaptureTest, ClocksAndStartsOfRanks) {
  const TemporaryFolder folder;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ProcessOptions options;
    options.rank = rank;
    options.pid = 10 + rank;
    options.start_tick = 1'000'000 * (rank + 1);  // clocks of two machines
    options.start_realtime_ns = 5'000'000'000 + rank * 1000;
    ProcessBuilder process(options);
    process.Mark("m").WriteTo(folder.path());
  }
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  ASSERT_EQ(capture->processes().size(), 2u);
  EXPECT_EQ(capture->processes()[1].start_ns, 1000u);
  const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, {});
  ASSERT_EQ(summary->marks.size(), 2u);
  EXPECT_EQ(summary->marks[0].ns, 0u);
  EXPECT_EQ(summary->marks[1].ns, 1000u);
}

TEST(CaptureTest, PendingRingOnlyOfADeadProcessOfThisHost) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  waitpid(dead, nullptr, 0);
  const TemporaryFolder folder;
  const std::string ring = folder / "ring";
  testing::WriteFile(ring, "ring");
  const auto pending = [&](const std::string& on_host, std::uint64_t pid, const std::string& path) {
    const TemporaryFolder capture_folder;
    ProcessOptions options;
    options.host = on_host;
    options.pid = pid;
    options.ring_path = path;
    ProcessBuilder process(options);
    process.Kill().Mark("m").WriteTo(capture_folder.path());
    return Capture::Open(capture_folder.path())->processes()[0].pending_ring;
  };
  EXPECT_EQ(pending(host, static_cast<std::uint64_t>(dead), ring), ring);
  EXPECT_EQ(pending(host, static_cast<std::uint64_t>(getpid()), ring), "");
  EXPECT_EQ(pending("elsewhere", static_cast<std::uint64_t>(dead), ring), "");
  EXPECT_EQ(pending(host, static_cast<std::uint64_t>(dead), folder / "gone"), "");
}

TEST(EventStreamTest, OnlyWhatLiesInTheWindow) {
  ProcessBuilder process;
  process.Allocate(0x1000, 1).BeginUser("w").Deallocate(0x1000).Mark("in").End().Mark("out");
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  Script script;
  EventStreamOptions options;
  options.window = SelectionWindow::Range("w");
  ASSERT_TRUE(StreamEvents(*capture, options, script).ok());
  EXPECT_THAT(script.lines, ElementsAre("1 begin w", "1 deallocate 1", "1 mark in", "1 end w"));
}

// A program that replaces itself goes on in the same files' numbers, with chunks from 0.
TEST(PartsTest, NumbersGoOnAfterAnExec) {
  const TemporaryFolder folder;
  ProcessOptions options;
  ProcessBuilder before(options);
  before.Allocate(0x1000, 1).WriteTo(folder.path());
  options.start_realtime_ns += 1000;
  options.first_part = 1;
  ProcessBuilder after(options);
  after.Allocate(0x1000, 2).Finish();
  testing::WriteFile(folder / "after.memoir", after.parts()[0]);
  absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  ASSERT_EQ(capture->processes().size(), 2u);
  EXPECT_EQ(capture->processes()[1].missing_parts, 0u);
}

TEST(PartsTest, AMissingPartIsOneWhoseChunksAreMissing) {
  ProcessBuilder process;
  process.Allocate(0x1000, 1).EndPart().Allocate(0x2000, 2).EndPart().Allocate(0x3000, 3).RemovePart(1);
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  EXPECT_EQ(Capture::Open(folder.path())->processes()[0].missing_parts, 1u);
  std::filesystem::remove(folder / process.FileName(0));
  EXPECT_EQ(Capture::Open(folder.path())->processes()[0].missing_parts, 2u);
}

}  // namespace
}  // namespace memoir
