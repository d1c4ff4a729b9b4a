// The reader with files of other programs, newer versions, and cut files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <random>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"
#include "tools/read/capture_folder.h"
#include "tools/read/process_info_rules.h"

namespace memoir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::TemporaryFolder;
using testing::WriteFile;

std::string ErrorOf(const std::string& path) {
  const absl::StatusOr<Capture> capture = Capture::Open(path);
  EXPECT_FALSE(capture.ok());
  return std::string(capture.status().message());
}

TEST(StrangersTest, EachGetsOneLineThatSaysWhatItIsAndWhatToDo) {
  const TemporaryFolder folder;
  EXPECT_THAT(ErrorOf(folder / "absent"),
              AllOf(HasSubstr("absent"), HasSubstr("no such file"), HasSubstr("memoir run")));
  EXPECT_THAT(ErrorOf(folder.path()), AllOf(HasSubstr("an empty folder"), HasSubstr("memoir run")));
  WriteFile(folder / "snapshot.pickle", std::string("\x80\x04\x95snapshot", 11));
  EXPECT_THAT(ErrorOf(folder.path()), HasSubstr("without *.memoir files"));
  EXPECT_THAT(ErrorOf(folder / "snapshot.pickle"),
              AllOf(HasSubstr("a pickle that was cut"), HasSubstr("offset 11"), Not(HasSubstr("\n"))));
  WriteFile(folder / "empty.memoir", "");
  EXPECT_THAT(ErrorOf(folder / "empty.memoir"), AllOf(HasSubstr("an empty file"), HasSubstr("record again")));
  WriteFile(folder / "cut.memoir", "\x0a");
  EXPECT_THAT(ErrorOf(folder / "cut.memoir"), AllOf(HasSubstr("first chunk"), HasSubstr("1 byte)")));
  WriteFile(folder / "foreign.memoir", "hello, this is not a capture");
  EXPECT_THAT(ErrorOf(folder / "foreign.memoir"), HasSubstr("not a Memoir capture"));
  v1::Chunk chunk;
  testing::Seal(v1::Payload(), &chunk);
  WriteFile(folder / "noprocess.memoir", testing::Delimited(chunk));
  EXPECT_THAT(ErrorOf(folder / "noprocess.memoir"), AllOf(HasSubstr("not a Memoir capture"), Not(HasSubstr("\n"))));
}

TEST(StrangersTest, NewerVersionIsRefused) {
  const TemporaryFolder folder;
  ProcessBuilder newer;
  newer.info().set_format_version(kFormatVersion + 1);
  newer.info().set_memoir_version("9.9");
  newer.WriteTo(folder.path());
  EXPECT_THAT(ErrorOf(folder.path()), AllOf(HasSubstr("9.9"), HasSubstr("newer Memoir")));
  EXPECT_TRUE(absl::IsUnimplemented(Capture::Open(folder.path()).status()));
}

TEST(StrangersTest, ARecordingOfANewerVersionIsLeftOutAndTheOthersAreRead) {
  const TemporaryFolder folder;
  ProcessBuilder known;
  known.Allocate(0x1000, 1).WriteTo(folder.path());
  ProcessOptions options;
  options.pid = 200;
  ProcessBuilder first(options);
  options.first_part = 1;
  ProcessBuilder newer(options);
  first.Allocate(0x1000, 5).WriteTo(folder.path());
  newer.info().set_format_version(kFormatVersion + 1);
  newer.info().set_memoir_version("9.9");
  newer.Allocate(0x1000, 7).Finish();
  WriteFile(folder / "second.memoir", newer.parts()[0]);
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_EQ(AnalyzeSummary(*capture, {})->total().allocated_bytes, 1u);
  ASSERT_EQ(capture->damage().size(), 2u) << "both parts of the refused recording";
  std::string damage = ToString(capture->damage()[0]) + ToString(capture->damage()[1]);
  EXPECT_THAT(damage, AllOf(HasSubstr("by Memoir 9.9"), HasSubstr("other parts of its recording")));
}

TEST(StrangersTest, ACopyOfAPartCountsOnce) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.Allocate(0x1000, 5).EndChunk().Allocate(0x2000, 6).EndPart().Allocate(0x3000, 7);
  process.WriteTo(folder.path());
  WriteFile(folder / "a copy.memoir", process.parts()[0]);
  WriteFile(folder / "a cut copy.memoir", process.parts()[0].substr(0, process.chunk_offsets(0)[1]));
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_EQ(capture->processes()[0].parts, 2u);
  const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, {});
  EXPECT_EQ(summary->devices[0].allocated_bytes, 18u);
  EXPECT_EQ(summary->report.lost_chunks, 0u);
  ASSERT_EQ(summary->report.damage.size(), 2u);
  EXPECT_THAT(ToString(summary->report.damage[0]), AllOf(HasSubstr("repeats chunks of"), HasSubstr("left out")));
}

// memoir-drain once took the lowest number that was free, which eviction had freed: the newest events came first.
TEST(StrangersTest, PartsStandInTheOrderOfTheirChunksWhateverTheirNumbers) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.Begin("aten::a").Allocate(0x1000, 1000).End().EndPart().FoldParts(1);
  process.Begin("aten::a").Allocate(0x2000, 20).End().EndPart();
  process.Begin("aten::a").Allocate(0x3000, 3).End().Deallocate(0x2000);
  const std::vector<std::string>& parts = process.parts();
  v1::Part newest;
  ASSERT_TRUE(newest.ParseFromString(parts[2]));
  newest.mutable_chunk(0)->mutable_process()->set_part(0);
  WriteFile(folder / process.FileName(0), newest.SerializeAsString());
  WriteFile(folder / process.FileName(1), parts[1]);
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, {});
  EXPECT_EQ(summary->devices[0].live_bytes_at_end, 1003u);
  EXPECT_EQ(summary->devices[0].peak_allocated_bytes, 1023u);
  EXPECT_EQ(summary->report.lost_chunks + summary->report.lost_records + summary->report.keyframe_mismatches, 0u);
  EXPECT_EQ(capture->processes()[0].missing_parts, 1u) << "the one that was evicted";
}

// As it would be if a ring were merged twice into captures that were joined.
TEST(StrangersTest, RecordsThatStandThereTwiceCountOnceAndAreSaid) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.Begin("aten::a").Allocate(0x1000, 1000).End().EndPart();
  process.Begin("aten::a").Allocate(0x2000, 20).End();
  const std::vector<std::string>& parts = process.parts();
  v1::Part again;
  ASSERT_TRUE(again.ParseFromString(parts[1]));
  for (v1::Chunk& chunk : *again.mutable_chunk()) chunk.set_sequence(chunk.sequence() + 10);
  again.mutable_chunk(0)->mutable_process()->set_part(2);
  for (std::uint32_t i = 0; i < 2; ++i) WriteFile(folder / process.FileName(i), parts[i]);
  WriteFile(folder / "again.memoir", testing::Delimited(again));
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, {});
  EXPECT_EQ(summary->report.repeated_records, 3u);
  EXPECT_EQ(summary->devices[0].allocations, 2u);
}

// The kill came between the making of a part and its first chunk; the ring held all that was to be in it.
TEST(StrangersTest, AnEmptyPartBeforeTheMergedOneIsNoDamage) {
  for (const bool lost : {false, true}) {
    const TemporaryFolder folder;
    ProcessBuilder process;
    process.Allocate(0x1000, 5).EndPart(false).Allocate(0x3000, 7).Finish();
    v1::Part merged;
    ASSERT_TRUE(merged.ParseFromString(process.parts()[1]));
    merged.mutable_chunk(0)->mutable_process()->set_part(2);
    for (v1::Chunk& chunk : *merged.mutable_chunk()) chunk.set_sequence(chunk.sequence() + lost);
    WriteFile(folder / process.FileName(0), process.parts()[0]);
    WriteFile(folder / process.FileName(1), "");
    WriteFile(folder / process.FileName(2), testing::Delimited(merged));
    const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
    ASSERT_TRUE(capture.ok()) << capture.status();
    EXPECT_EQ(capture->damage().size(), lost ? 1u : 0u);
  }
}

TEST(StrangersTest, OneForeignFileAmongPartsIsDamage) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.Allocate(0x1000, 5).WriteTo(folder.path());
  WriteFile(folder / "zz.memoir", "foreign");
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  ASSERT_EQ(capture->damage().size(), 1u);
  EXPECT_THAT(ToString(capture->damage()[0]),
              AllOf(HasSubstr("zz.memoir"), HasSubstr("left out"), HasSubstr("not a Memoir capture")));
}

TEST(StrangersTest, OnePartFileOpensAlone) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.Allocate(0x1000, 5).WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder / process.FileName(0));
  ASSERT_TRUE(capture.ok());
  EXPECT_EQ(AnalyzeSummary(*capture, {})->devices[0].allocated_bytes, 5u);
}

// Five chunks of two allocations of one byte each.
std::string FiveChunks(std::vector<std::uint64_t>* offsets) {
  ProcessBuilder process;
  for (std::uint64_t i = 0; i < 5; ++i) {
    process.Allocate(0x1000 + 64 * i, 1).Allocate(0x8000 + 64 * i, 1);
    if (i < 4) process.EndChunk();
  }
  const std::string bytes = process.parts()[0];
  *offsets = process.chunk_offsets(0);
  return bytes;
}

// Opens a part of these bytes; checks that exactly what stands in whole chunks counts, and that damage is named where
// it is.
void ExpectReadsUpTo(const std::string& bytes, const std::vector<std::uint64_t>& offsets) {
  const TemporaryFolder folder;
  WriteFile(folder / "p.memoir", bytes);
  std::uint64_t whole = 0;  // chunks, the index included
  while (whole + 1 < offsets.size() && offsets[whole + 1] <= bytes.size()) ++whole;
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_EQ(capture.ok(), whole > 0) << "cut at " << bytes.size();
  if (!capture.ok()) {
    EXPECT_THAT(std::string(capture.status().message()), HasSubstr("p.memoir"));
    return;
  }
  const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, {});
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices[0].allocated_bytes, 2 * std::min<std::uint64_t>(whole, 5)) << "cut at " << bytes.size();
  const bool at_boundary = bytes.size() == offsets[whole];
  ASSERT_EQ(summary->report.damage.size(), at_boundary ? 0u : 1u) << "cut at " << bytes.size();
  if (!at_boundary) {
    EXPECT_EQ(summary->report.damage[0].offset, offsets[whole]);
  }
}

TEST(CutTest, AtEveryByteAroundEveryBoundary) {
  std::vector<std::uint64_t> offsets;
  const std::string bytes = FiveChunks(&offsets);
  for (const std::uint64_t offset : offsets) {
    for (std::uint64_t at = offset < 12 ? 0 : offset - 12; at <= std::min<std::uint64_t>(offset + 24, bytes.size());
         ++at) {
      ExpectReadsUpTo(bytes.substr(0, at), offsets);
    }
  }
}

TEST(CutTest, AtAThousandRandomBytes) {
  std::vector<std::uint64_t> offsets;
  const std::string bytes = FiveChunks(&offsets);
  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) ExpectReadsUpTo(bytes.substr(0, random() % (bytes.size() + 1)), offsets);
}

TEST(DamageTest, ChecksumEndsItsPartAndTheNextGoesOnFromItsKeyframe) {
  ProcessBuilder process;
  process.Begin("aten::a").Allocate(0x1000, 10).End().EndChunk();
  process.Begin("aten::b").Allocate(0x2000, 200).End().Deallocate(0x1000).EndChunk();
  process.Begin("aten::c").Allocate(0x3000, 3000).End();
  process.EndPart();
  process.Begin("aten::d").Allocate(0x4000, 40000).End().Deallocate(0x2000);
  std::vector<std::string> parts = process.parts();
  const std::uint64_t second = process.chunk_offsets(0)[1];
  parts[0][process.chunk_offsets(0)[2] - 30] ^= 0x40;  // in the payload of the second chunk
  const TemporaryFolder folder;
  for (std::uint32_t i = 0; i < 2; ++i) WriteFile(folder / process.FileName(i), parts[i]);
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok());
  const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, {});
  ASSERT_TRUE(summary.ok());
  ASSERT_EQ(summary->report.damage.size(), 1u);
  EXPECT_EQ(summary->report.damage[0].offset, second);
  EXPECT_THAT(summary->report.damage[0].what, HasSubstr("checksum"));
  EXPECT_EQ(summary->devices[0].live_bytes_at_end, 43000u)
      << "what the damaged chunks allocated is known from the keyframe";
  std::uint64_t c = 0;
  for (const SummaryRow& row : summary->rows) c += row.name == "aten::c" ? row.total.net_bytes : 0;
  EXPECT_EQ(c, 3000u) << "and with its operator";
}

TEST(DamageTest, ColumnsThatDoNotMatchAreDamage) {
  v1::Payload payload;
  v1::ThreadRun* run = payload.add_runs();
  run->set_thread(1);
  run->set_kind(std::string(2, static_cast<char>(v1::ALLOCATE)));
  run->add_tick_delta(0);
  run->add_tick_delta(1);
  for (const std::int64_t delta : {1, 2}) run->add_address_delta(delta);
  for (const std::int64_t delta : {1, 2}) run->add_serial_delta(delta);
  run->add_bytes(8);  // one of two
  v1::Chunk chunk;
  chunk.mutable_process()->set_format_version(1);
  testing::Seal(payload, &chunk);
  const TemporaryFolder folder;
  WriteFile(folder / "p.memoir", testing::Delimited(chunk));
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, {});
  ASSERT_TRUE(summary.ok());
  ASSERT_EQ(summary->report.damage.size(), 1u);
  EXPECT_THAT(summary->report.damage[0].what, HasSubstr("do not match"));
}

TEST(DamageTest, ALengthBombIsRefusedBeforeItIsAllocated) {
  v1::Chunk chunk;
  chunk.mutable_process()->set_format_version(1);
  testing::Seal(v1::Payload(), &chunk);
  chunk.set_payload_bytes(std::uint64_t{1} << 40);
  const TemporaryFolder folder;
  WriteFile(folder / "p.memoir", testing::Delimited(chunk));
  EXPECT_THAT(ErrorOf(folder.path()), HasSubstr("larger than 64 MiB"));
}

TEST(LateRankTest, ThePartsOfOneProcessStayTogetherAndTheLastWordCounts) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.Begin("aten::ones").Allocate(0x1000, 64).End().EndPart();
  process.Begin("aten::ones").Allocate(0x2000, 64).End().EndChunk();
  process.info().set_rank(7);
  process.info().set_world_size(8);
  process.info().set_rank_source("torch.distributed");
  process.SayProcessAgain().Begin("aten::ones").Allocate(0x3000, 64).End();
  process.WriteTo(folder.path());
  const auto capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  ASSERT_EQ(capture->processes().size(), 1u);
  EXPECT_EQ(capture->processes()[0].rank(), 7u);
  EXPECT_EQ(capture->processes()[0].info.world_size(), 8u);
  const auto summary = AnalyzeSummary(*capture, {});
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices[0].live_bytes_at_end, 192u);
  EXPECT_EQ(summary->report.lost_chunks, 0u);
}

}  // namespace
}  // namespace memoir
