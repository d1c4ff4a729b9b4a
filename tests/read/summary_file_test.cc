// The files of summaries: what is refused, and which recordings one is fresh for.
#include "tools/read/summary_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/captures/capture_builder.h"

namespace memoir {
namespace {

using testing::TemporaryFolder;
using testing::WriteFile;

v1::SummarizedPart PartOf(std::uint32_t number, std::uint64_t bytes) {
  v1::SummarizedPart part;
  part.set_part(number);
  part.set_bytes(bytes);
  return part;
}

v1::RecordingSummaries One(bool ended = true) {
  v1::RecordingSummaries summaries;
  v1::RecordingSummary& recording = *summaries.add_recording();
  recording.mutable_process()->set_rank(3);
  if (ended) recording.mutable_end()->set_reason(v1::End::EXITED);
  summaries.set_name("r00003.a0.h.7");
  *summaries.add_parts() = PartOf(0, 100);
  *summaries.add_parts() = PartOf(1, 50);
  return summaries;
}

TEST(SummaryFileTest, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteSummaryFile(folder / "a.memoir-summary", One()).ok());
  const auto read = ReadSummaryFile(folder / "a.memoir-summary");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->SerializeAsString(), One().SerializeAsString());
  EXPECT_TRUE(absl::IsNotFound(ReadSummaryFile(folder / "b.memoir-summary").status()));
}

TEST(SummaryFileTest, EveryChangedByteAndEveryCutIsNoticed) {
  const std::string bytes = *SummaryFileBytes(One());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    EXPECT_FALSE(ParseSummaryFile(bytes.substr(0, at)).ok()) << at;
    for (const int bit : {1, 0x80}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ bit);
      EXPECT_FALSE(ParseSummaryFile(changed).ok()) << at;
    }
  }
  EXPECT_FALSE(ParseSummaryFile(std::string(kMostSummaryBytes + 1, 'x')).ok());
}

TEST(SummaryFileTest, OfAnotherVersion) {
  v1::SummaryFile file;
  ASSERT_TRUE(file.ParseFromString(*SummaryFileBytes(One())));
  file.set_format_version(2);
  const auto read = ParseSummaryFile(file.SerializeAsString());
  EXPECT_TRUE(absl::IsUnimplemented(read.status())) << read.status();
  EXPECT_EQ(read.status().message(), "of version 2");
}

TEST(SummaryFileTest, OneThatIsTooLargeIsNotWritten) {
  v1::RecordingSummaries summaries = One();
  summaries.mutable_recording(0)->set_damage(std::string(kMostSummaryBytes, 'x'));
  const TemporaryFolder folder;
  EXPECT_TRUE(absl::IsResourceExhausted(WriteSummaryFile(folder / "a.memoir-summary", summaries)));
  EXPECT_TRUE(absl::IsNotFound(ReadSummaryFile(folder / "a.memoir-summary").status()));
}

TEST(SummaryFileTest, FilesOfOneNameStandTogether) {
  const TemporaryFolder folder;
  WriteFile(folder / "r00001.a0.h.7.p0001.memoir", "12345");
  WriteFile(folder / "r00001.a0.h.7.p0000.memoir", "123");
  WriteFile(folder / "r00001.a0.h.7.memoir-summary", "1");
  WriteFile(folder / "r00001.a0.h.7.memoir-summary.partial-5", "1");
  WriteFile(folder / "other.memoir", "1");
  WriteFile(folder / "r00002.a0.h.8.memoir-summary", "1");
  WriteFile(folder / "lost.memoir-summary.partial-5", "1");
  WriteFile(folder / "symbols.memoir-symbols", "1234");
  WriteFile(folder / "notes.txt", "1");
  const auto job = ListJobFiles(folder.path());
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_EQ(job->named.size(), 3u);
  EXPECT_EQ(job->symbol_bytes, 4u);
  EXPECT_EQ(job->named[0].name, "other.memoir");
  EXPECT_EQ(job->named[1].name, "r00001.a0.h.7");
  ASSERT_EQ(job->named[1].parts.size(), 2u);
  EXPECT_EQ(job->named[1].parts[1].bytes(), 5u);
  EXPECT_TRUE(job->named[1].has_summary && job->named[1].has_partial);
  EXPECT_TRUE(job->named[2].parts.empty() && job->named[2].has_summary);
}

TEST(SummaryAgeTest, OfTheVeryPartsThatAreThere) {
  NamedFiles files;
  files.name = "r00003.a0.h.7";
  files.parts = {PartOf(0, 100), PartOf(1, 50)};
  EXPECT_EQ(SummaryAgeOf(One(), files, 0), SummaryAge::kFresh);
  EXPECT_EQ(SummaryAgeOf(One(), files, 9), SummaryAge::kOlder) << "native frames have names now";
  files.parts.push_back(PartOf(2, 1));
  EXPECT_EQ(SummaryAgeOf(One(), files, 0), SummaryAge::kOlder);
  files.parts = {PartOf(1, 50)};
  EXPECT_EQ(SummaryAgeOf(One(), files, 0), SummaryAge::kOlder) << "a part was evicted";
  files.parts = {PartOf(0, 100), PartOf(1, 50)};
  files.name = "r00004.a0.h.8";
  EXPECT_EQ(SummaryAgeOf(One(), files, 0), SummaryAge::kOlder) << "another rank's";
  files.name = "r00003.a0.h.7";
  files.parts = {};
  EXPECT_EQ(SummaryAgeOf(One(), files, 0), SummaryAge::kFresh) << "summaries were collected alone";
}

// By the file system's clock, whatever the hosts' say.
TEST(SummaryAgeTest, OfARecordingThatRuns) {
  NamedFiles files;
  files.name = "r00003.a0.h.7";
  files.parts = {PartOf(0, 100), PartOf(1, 60)};
  files.summary_ns = 1'000'000'000'000;
  files.newest_ns = files.summary_ns + kMostBehindNs;
  EXPECT_EQ(SummaryAgeOf(One(false), files, 0), SummaryAge::kBehind);
  EXPECT_EQ(SummaryAgeOf(One(true), files, 0), SummaryAge::kOlder) << "it had ended";
  ++files.newest_ns;
  EXPECT_EQ(SummaryAgeOf(One(false), files, 0), SummaryAge::kOlder) << "too long ago";
}

}  // namespace
}  // namespace memoir
