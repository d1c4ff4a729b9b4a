// Summaries of many recordings in one file: merged in any order, one file behind another, and damaged.
#include "tools/read/merged_summaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;
using testing::WriteFile;

struct Part {
  std::uint32_t number;
  std::uint64_t bytes;
};

std::string SummaryOf(const std::string& name, std::uint64_t start_ns, const std::vector<Part>& parts) {
  v1::RecordingSummaries summaries;
  summaries.add_recording()->mutable_process()->mutable_start()->set_realtime_ns(start_ns);
  for (const Part& of : parts) {
    v1::SummarizedPart& part = *summaries.add_parts();
    part.set_part(of.number);
    part.set_bytes(of.bytes);
  }
  summaries.set_name(name);
  return *SummaryFileBytes(summaries);
}

std::string SummaryOf(const std::string& name, std::uint64_t start_ns, std::uint64_t part_bytes) {
  return SummaryOf(name, start_ns, std::vector<Part>{{0, part_bytes}});
}

std::string Merged(const TemporaryFolder& folder, const std::vector<std::string>& summaries) {
  MergedSummaries merged;
  for (const std::string& bytes : summaries) EXPECT_TRUE(merged.Add(bytes).ok());
  EXPECT_TRUE(merged.Write(folder / "a.memoir-summaries").ok());
  return *ReadSummaryBytes(folder / "a.memoir-summaries");
}

std::vector<std::string> NamesIn(SalvagedSummaries read) {
  std::vector<std::string> names;
  for (const NamedFiles& files : std::move(read.summaries).TakeJobFiles("x").named) names.push_back(files.name);
  return names;
}

TEST(MergedSummariesTest, AnyOrderAndGroupingGivesTheSameBytes) {
  const TemporaryFolder folder;
  const std::string zero = SummaryOf("r0", 5, 100), one = SummaryOf("r1", 5, 100), later = SummaryOf("r1", 5, 300);
  const std::string expected = Merged(folder, {zero, one, later});
  EXPECT_EQ(Merged(folder, {later, one, zero}), expected);
  EXPECT_EQ(Merged(folder, {one, zero, later, later, zero}), expected);
  EXPECT_EQ(Merged(folder, {zero, later}), expected) << "of one recording that which was made of more";
  const std::string before = SummaryOf("r1", 5, {{0, 500}, {1, 500}}), after = SummaryOf("r1", 5, {{2, 30}});
  EXPECT_EQ(Merged(folder, {after, before}), Merged(folder, {after})) << "old parts were removed by --max-size";
  WriteFile(folder / "b.memoir-summaries", Merged(folder, {one}) + Merged(folder, {later, zero}));
  absl::StatusOr<SalvagedSummaries> both = ReadMergedSummaries(folder / "b.memoir-summaries");
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(both->damaged, 0u);
  ASSERT_TRUE(both->summaries.Write(folder / "c.memoir-summaries").ok());
  EXPECT_EQ(*ReadSummaryBytes(folder / "c.memoir-summaries"), expected);
}

TEST(MergedSummariesTest, RecordingsOfTwoJobsMayHaveOneName) {
  const TemporaryFolder folder;
  Merged(folder, {SummaryOf("r0", 5, 100), SummaryOf("r0", 6, 1), SummaryOf("r1", 5, 1)});
  EXPECT_THAT(NamesIn(*ReadMergedSummaries(folder / "a.memoir-summaries")), ElementsAre("r0", "r0", "r1"));
}

TEST(MergedSummariesTest, NoChangedByteAndNoCutIsTakenForASummary) {
  const TemporaryFolder folder;
  const std::string zero = SummaryOf("r0", 5, 100), one = SummaryOf("r1", 5, 100);
  const std::string whole = Merged(folder, {zero, one});
  const auto read = [&](const std::string& bytes) {
    WriteFile(folder / "d.memoir-summaries", bytes);
    return ReadMergedSummaries(folder / "d.memoir-summaries");
  };
  std::size_t kept = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::string> damaged = {whole.substr(0, at)};
    for (const int mask : {0x01, 0x11, 0x18, 0x80, 0xff}) {
      damaged.push_back(whole);
      damaged.back()[at] = static_cast<char>(whole[at] ^ mask);
    }
    for (const std::string& bytes : damaged) {
      absl::StatusOr<SalvagedSummaries> merged = read(bytes);
      if (!merged.ok()) continue;
      // Nothing tells of what was cut off between two summaries.
      EXPECT_TRUE(merged->damaged > 0 || bytes.size() == whole.size() / 2) << at;
      kept += merged->summaries.size();
      for (NamedFiles& files : std::move(merged->summaries).TakeJobFiles("x").named)
        EXPECT_TRUE(files.summary == zero || files.summary == one) << at;
    }
  }
  EXPECT_GT(kept, whole.size()) << "the one that is whole is read in most cases";
}

TEST(MergedSummariesTest, ErrorsSayWhatThereIs) {
  const TemporaryFolder folder;
  EXPECT_TRUE(absl::IsNotFound(ReadMergedSummaries(folder / "none.memoir-summaries").status()));
  WriteFile(folder / "foreign.memoir-summaries", "no summaries");
  EXPECT_THAT(std::string(ReadMergedSummaries(folder / "foreign.memoir-summaries").status().message()),
              HasSubstr("memoir summarize -o"));
  std::filesystem::create_directory(folder / "folder.memoir-summaries");
  EXPECT_FALSE(ReadMergedSummaries(folder / "folder.memoir-summaries").ok());
  MergedSummaries merged;
  EXPECT_FALSE(merged.Add("damaged").ok());
  EXPECT_EQ(merged.size(), 0u);
}

}  // namespace
}  // namespace memoir
