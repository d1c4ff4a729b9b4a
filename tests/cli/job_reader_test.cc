// The labels of processes without a launcher's number in the overview of a job: the same as in `memoir show`.
#include "tools/cli/ranks/job_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/ranks/job/recording_summary.h"
#include "tools/model/capture.h"
#include "tools/model/job.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::TemporaryFolder;

void Write(const TemporaryFolder& folder, std::uint64_t pid, const std::string& source, std::uint32_t rank) {
  ProcessOptions options;
  options.pid = pid;
  options.rank = rank;
  ProcessBuilder process(options);
  process.info().set_rank_source(source);
  process.Allocate(0x1000, 10);
  process.WriteTo(folder.path());
}

std::vector<std::string> Shown(const TemporaryFolder& folder) {
  const auto capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  std::vector<std::string> labels;
  for (const ProcessSummary& process : capture->processes()) labels.push_back(RankLabel(process));
  return labels;
}

std::vector<std::string> OfTheOverview(const TemporaryFolder& folder) {
  std::vector<std::string> each, labels;
  JobReadOptions options;
  options.asked = true;
  options.say = [](const std::string& line) { ADD_FAILURE() << line; };
  options.progress = [](double) {};
  options.each = [&](const v1::RecordingSummary& recording) { each.push_back(RankLabel(recording)); };
  const auto reading = ReadJob(folder.path(), options);
  EXPECT_TRUE(reading.ok() && reading->has_value()) << reading.status();
  for (const v1::RecordingSummary& recording : (*reading)->job.recordings()) labels.push_back(RankLabel(recording));
  EXPECT_THAT(each, ::testing::UnorderedElementsAreArray(labels));
  return labels;
}

TEST(JobReader, AProgramAloneIsRankZero) {
  const TemporaryFolder folder;
  Write(folder, 100, "none", 0);
  EXPECT_THAT(OfTheOverview(folder), ElementsAre("rank 0"));
  EXPECT_EQ(OfTheOverview(folder), Shown(folder));
}

TEST(JobReader, BesideRanksWhatIsNotNumberedIsNone) {
  const TemporaryFolder folder;
  Write(folder, 100, "none", 0);
  Write(folder, 101, "torchrun", 1);
  EXPECT_THAT(OfTheOverview(folder), ElementsAre("rank 1", "no rank (pid 100)"));
  EXPECT_EQ(OfTheOverview(folder), Shown(folder));
}

}  // namespace
}  // namespace memoir
