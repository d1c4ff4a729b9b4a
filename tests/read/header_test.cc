// The headers of payloads: a header that was changed, a chunk of another recording, and captures of early versions,
// which have neither checksums of headers nor the recording's identity.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"
#include "tools/read/capture_folder.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;
using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::TemporaryFolder;
using testing::WriteFile;

ProcessBuilder SomeProcess(std::uint64_t recording = ProcessOptions().recording) {
  ProcessOptions options;
  options.recording = recording;
  ProcessBuilder process(options);
  process.Begin("aten::a").Allocate(0x1000, 100).End().EndChunk();
  process.Begin("aten::b").Allocate(0x2000, 20).End().EndChunk();
  process.Begin("aten::c").Allocate(0x3000, 3).End();
  process.Finish();
  return process;
}

Summary Summarise(const std::string& bytes) {
  const TemporaryFolder folder;
  WriteFile(folder / "part.memoir", bytes);
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  return *AnalyzeSummary(*capture, {});
}

std::vector<std::string> DamageOf(const Summary& summary) {
  std::vector<std::string> lines;
  for (const Damage& damage : summary.report.damage) lines.push_back(damage.what);
  return lines;
}

TEST(HeaderTest, NoBitOfItChangesUnnoticed) {
  ProcessBuilder process = SomeProcess();
  const std::string& whole = process.parts()[0];
  const TemporaryFolder folder;
  const std::string path = folder / "part.memoir";
  int read = 0, refused = 0;
  const std::vector<std::uint64_t>& offsets = process.chunk_offsets(0);
  // All of the first chunk, some of the others.
  for (std::size_t bit = 0; bit < 8 * whole.size(); bit += bit < 8 * offsets[1] ? 1 : 11) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    WriteFile(path, bytes);
    const absl::StatusOr<Capture> capture = Capture::Open(path);
    refused += !capture.ok();
    if (!capture.ok()) continue;
    ++read;
    Visitor nobody;
    const absl::StatusOr<ReplayReport> report = capture->Replay(nobody);
    // The index has nothing that the chunks do not have.
    const bool in_index = bit / 8 >= offsets[offsets.size() - 2];
    EXPECT_TRUE(!report->damage.empty() || in_index) << "bit " << bit % 8 << " of byte " << bit / 8;
    if (HasFailure()) return;
  }
  EXPECT_GT(read, refused);
}

TEST(HeaderTest, AFirstHeaderThatWasChangedIsSaidAndThePayloadsAreRead) {
  ProcessBuilder process = SomeProcess();
  std::string bytes = process.parts()[0];
  const std::size_t at = bytes.find("train.py");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'b';
  const Summary summary = Summarise(bytes);
  EXPECT_EQ(summary.total().allocated_bytes, 123u);
  EXPECT_THAT(DamageOf(summary), ::testing::ElementsAre(HasSubstr("may be wrong")));
}

// The pieces of a part, chunk by chunk.
std::vector<std::string> ChunksOf(ProcessBuilder& process) {
  std::vector<std::string> chunks;
  const std::string& part = process.parts()[0];
  const std::vector<std::uint64_t>& offsets = process.chunk_offsets(0);
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    chunks.push_back(part.substr(offsets[i], offsets[i + 1] - offsets[i]));
  return chunks;
}

TEST(HeaderTest, AChunkOfAnotherRecordingIsLeftOutAndSaid) {
  ProcessBuilder own = SomeProcess(), other = SomeProcess(77);
  const std::vector<std::string> chunks = ChunksOf(own), foreign = ChunksOf(other);
  const Summary inserted = Summarise(chunks[0] + foreign[1] + chunks[1] + chunks[2]);
  EXPECT_EQ(inserted.total().allocated_bytes, 123u);
  EXPECT_THAT(DamageOf(inserted), ::testing::ElementsAre(HasSubstr("another recording")));
  EXPECT_EQ(inserted.report.lost_chunks, 0u);
  const Summary in_place = Summarise(chunks[0] + foreign[1] + chunks[2]);
  EXPECT_EQ(in_place.total().allocated_bytes, 103u);
  EXPECT_EQ(in_place.report.lost_chunks, 1u);
  ProcessBuilder early = SomeProcess(0);
  EXPECT_THAT(DamageOf(Summarise(chunks[0] + ChunksOf(early)[1] + chunks[1] + chunks[2])),
              ::testing::ElementsAre(HasSubstr("another recording")));
}

TEST(HeaderTest, CapturesOfEarlyVersionsReadAsBefore) {
  ProcessBuilder early = SomeProcess(0), now = SomeProcess();
  ASSERT_LT(early.parts()[0].size(), now.parts()[0].size());
  const Summary before = Summarise(early.parts()[0]), after = Summarise(now.parts()[0]);
  EXPECT_THAT(DamageOf(before), ::testing::IsEmpty());
  EXPECT_THAT(DamageOf(after), ::testing::IsEmpty());
  EXPECT_EQ(before.total(), after.total());
  EXPECT_EQ(before.total().allocated_bytes, 123u);
  EXPECT_EQ(before.events, after.events);
}

}  // namespace
}  // namespace memoir
