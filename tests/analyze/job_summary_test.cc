// Summaries of many recordings as one: any order and any grouping of them gives the same bytes; and a recording's
// summary agrees with the views.
#include "tools/analyze/ranks/job/job_summary_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/ranks/job/job_overview.h"
#include "tools/analyze/ranks/job/recording_summary.h"
#include "tools/analyze/ranks/job/step_maxima.h"
#include "tools/analyze/summary/summary.h"
#include "tools/read/summary_file.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::TemporaryFolder;

using Numbers = std::mt19937;

std::uint64_t Some(Numbers& numbers, std::uint64_t most) {
  return std::uniform_int_distribution<std::uint64_t>(0, most)(numbers);
}

// The fields that a file may contain, and more.
v1::RecordingSummary AnyRecording(Numbers& numbers) {
  v1::RecordingSummary recording;
  v1::ProcessInfo& info = *recording.mutable_process();
  info.set_rank(static_cast<std::uint32_t>(Some(numbers, 12)));
  info.set_rank_source(Some(numbers, 5) == 0 ? "none" : "torchrun");
  info.set_restart(static_cast<std::uint32_t>(Some(numbers, 1)));
  info.set_pid(Some(numbers, 3));
  info.set_host(Some(numbers, 1) == 0 ? "a" : "b");
  recording.set_events(Some(numbers, 3));
  for (const char* const name : {"cuda:0", "cuda:1", "cpu"}) {
    if (Some(numbers, 3) == 0) continue;
    v1::DeviceSummary& device = *recording.add_devices();
    device.set_name(name);
    device.set_peak_allocated_bytes(Some(numbers, 3));
    device.set_window_steps(std::uint64_t{1} << Some(numbers, 4));
    for (std::uint64_t i = Some(numbers, 5); i > 0; --i) {
      v1::StepWindow& window = *device.add_windows();
      window.set_first_step(Some(numbers, 40));
      window.set_allocated(Some(numbers, 3));
      window.set_reserved(Some(numbers, 3));
    }
    for (const char* const by : {"category", "module"}) {
      v1::Composition& composition = *device.add_at_peak();
      composition.set_by(by);
      composition.set_other_bytes(Some(numbers, 3));
      for (std::uint64_t i = Some(numbers, 5); i > 0; --i) {
        v1::HeldRow& row = *composition.add_rows();
        row.set_name(std::string(1, static_cast<char>('a' + Some(numbers, 6))));
        row.set_bytes(Some(numbers, 3));
      }
    }
  }
  return recording;
}

std::string Combined(const std::vector<v1::RecordingSummary>& recordings) {
  JobSummaryBuilder book;
  for (const v1::RecordingSummary& recording : recordings) book.Add(recording);
  return book.Take().SerializeAsString();
}

// As a scheduler combines them: parts of any size, parts of parts, in any order.
std::string CombinedAnyhow(std::vector<v1::RecordingSummary> recordings, Numbers& numbers) {
  std::shuffle(recordings.begin(), recordings.end(), numbers);
  std::vector<v1::JobSummary> jobs(1);
  for (std::size_t at = 0; at < recordings.size();) {
    JobSummaryBuilder book;
    for (std::uint64_t i = Some(numbers, 3); i > 0 && at < recordings.size(); --i) book.Add(recordings[at++]);
    jobs.push_back(book.Take());
  }
  while (jobs.size() > 1) {
    const std::size_t one = Some(numbers, jobs.size() - 1);
    const std::size_t other = (one + 1 + Some(numbers, jobs.size() - 2)) % jobs.size();
    JobSummaryBuilder book;
    book.Add(jobs[one]);
    book.Add(jobs[other]);
    v1::JobSummary both = book.Take();
    jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(std::max(one, other)));
    jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(std::min(one, other)));
    jobs.push_back(std::move(both));
  }
  return jobs.front().SerializeAsString();
}

TEST(JobBookTest, AnyOrderAndGroupingGivesTheSameBytes) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Numbers numbers(seed);
    std::vector<v1::RecordingSummary> recordings;
    for (std::uint64_t i = Some(numbers, 12); i > 0; --i) recordings.push_back(AnyRecording(numbers));
    const std::string expected = Combined(recordings);
    for (int again = 0; again < 5; ++again) ASSERT_EQ(CombinedAnyhow(recordings, numbers), expected) << "seed " << seed;
  }
}

TEST(JobBookTest, RowsAddUpToTheTotal) {
  Numbers numbers(7);
  JobSummaryBuilder book;
  for (int i = 0; i < 50; ++i) book.Add(AnyRecording(numbers));
  const v1::JobSummary job = book.Take();
  ASSERT_EQ(job.at_peak_size(), 4);
  for (const v1::JobComposition& composition : job.at_peak()) {
    std::uint64_t sum = composition.other_bytes();
    for (const v1::JobHeldRow& row : composition.rows()) sum += row.bytes();
    EXPECT_EQ(sum, composition.bytes());
  }
}

TEST(JobBookTest, TheFirstOfSeveralThatHoldAsMuch) {
  JobSummaryBuilder book;
  for (const std::uint32_t rank : {10u, 9u, 11u}) {
    v1::RecordingSummary recording;
    recording.mutable_process()->set_rank(rank);
    recording.mutable_process()->set_rank_source("torchrun");
    v1::DeviceSummary& device = *recording.add_devices();
    device.set_name("cpu");
    v1::HeldRow& row = *device.add_at_peak()->add_rows();
    row.set_name("x");
    row.set_bytes(rank == 11 ? 5 : 6);
    book.Add(recording);
  }
  const v1::JobSummary job = book.Take();
  EXPECT_EQ(job.at_peak(0).rows(0).most_of(), "rank 9");
  EXPECT_EQ(job.at_peak(0).rows(0).bytes(), 17u);
}

TEST(JobBookTest, AHostileOneTakesBoundedMemory) {
  JobSummaryBuilder book;
  for (std::uint64_t many = 0; many < 40; ++many) {
    v1::RecordingSummary recording;
    v1::DeviceSummary& device = *recording.add_devices();
    device.set_name("cpu");
    device.set_window_steps(~std::uint64_t{0});
    v1::Composition& composition = *device.add_at_peak();
    for (std::uint64_t i = 0; i < 8000; ++i) {
      composition.add_rows()->set_name(std::to_string(many * 8000 + i));
      composition.mutable_rows(static_cast<int>(i))->set_bytes(1);
      device.add_windows()->set_first_step((many * 8000 + i) << 32);
    }
    book.Add(recording);
  }
  const v1::JobSummary job = book.Take();
  EXPECT_EQ(job.at_peak(0).rows_size(), static_cast<int>(JobSummaryBuilder::kMostRows));
  EXPECT_EQ(job.at_peak(0).bytes(), 320'000u);
  EXPECT_EQ(job.at_peak(0).other_bytes(), 320'000u - JobSummaryBuilder::kMostRows);
  EXPECT_LE(job.windows(0).windows_size(), static_cast<int>(JobSummaryBuilder::kMostWindows));
}

TEST(StepWindowsTest, TwoBecomeOneWhereThereAreTooMany) {
  StepMaxima windows;
  for (std::uint64_t step = 0; step < 1000; ++step) {
    windows.Begin(step, {.allocated = 1});
    windows.Note({.allocated = 100 + step});
  }
  EXPECT_EQ(windows.window_steps(), 8u);
  ASSERT_EQ(windows.windows().size(), 125u);
  for (const auto& [window, levels] : windows.windows()) EXPECT_EQ(levels.allocated, 100 + window * 8 + 7);
}

TEST(StepWindowsTest, StepsThatBeginLateAreAlignedToOthers) {
  StepMaxima windows;
  windows.Note({.allocated = 7});  // before the first step
  windows.Restart(1001);
  for (std::uint64_t step = 1001; step < 1001 + 129; ++step) windows.Begin(step, {.allocated = step});
  EXPECT_EQ(windows.window_steps(), 2u);
  EXPECT_EQ(windows.windows().begin()->first, 500u);
  EXPECT_EQ(windows.windows().size(), 65u);
}

// A GPU's recording with three steps, an error and a sample of the device.
void Fill(ProcessBuilder& process, std::uint64_t bytes) {
  const std::uint32_t gpu = process.AddDevice("cuda", 0, "Test GPU");
  process.Step(5).TakeSegment(gpu, 0x10000, 8 << 20);
  process.Begin("aten::mm").AllocateBlock(gpu, 0x10000, bytes).End();
  process.ReadDevice(gpu, v1::PEAK, {.free = 30 << 20, .total = 100 << 20});
  process.Step(6).Begin("aten::add").AllocateBlock(gpu, 0x10000 + (2 << 20), 2 * bytes).End();
  process.FreeBlock(gpu, 0x10000 + (2 << 20));
  process.Step(7).Begin("aten::cat").RunOutOfMemory(gpu, 64 << 20, 1 << 20).End();
}

v1::RecordingSummaries Summarised(const std::string& folder) {
  const absl::StatusOr<Capture> capture = Capture::Open(folder);
  EXPECT_TRUE(capture.ok()) << capture.status();
  const absl::StatusOr<v1::RecordingSummaries> summaries = SummarizeRecordings(*capture);
  EXPECT_TRUE(summaries.ok()) << summaries.status();
  return *summaries;
}

TEST(RecordingSummaryTest, SaysWhatTheViewsSay) {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.rank = 3;
  options.world_size = 8;
  ProcessBuilder process(options);
  Fill(process, 1 << 20);
  process.WriteTo(folder.path());
  const v1::RecordingSummaries summaries = Summarised(folder.path());
  ASSERT_EQ(summaries.recording_size(), 1);
  const v1::RecordingSummary& recording = summaries.recording(0);
  EXPECT_EQ(RankLabel(recording), "rank 3");
  EXPECT_EQ(recording.events(), process.events());
  EXPECT_EQ(recording.end().reason(), v1::End::EXITED);
  EXPECT_EQ(recording.step_kind(), "step");
  EXPECT_EQ(recording.steps(), 3u);
  ASSERT_EQ(recording.devices_size(), 1);
  const v1::DeviceSummary& gpu = recording.devices(0);
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, {});
  ASSERT_TRUE(summary.ok()) << summary.status();
  const DeviceRow& row = summary->devices.front();
  EXPECT_EQ(gpu.name(), row.name);
  EXPECT_EQ(gpu.peak_allocated_bytes(), 3u << 20);
  EXPECT_EQ(gpu.peak_allocated_bytes(), row.peak_allocated_bytes);
  EXPECT_EQ(gpu.peak_step(), 6u);
  EXPECT_EQ(gpu.peak_reserved_bytes(), row.peak_reserved_bytes);
  EXPECT_EQ(gpu.peak_active_bytes(), row.peak_active_bytes);
  EXPECT_EQ(gpu.live_at_end(), row.live_bytes_at_end);
  EXPECT_EQ(gpu.peak_used_bytes(), 70u << 20);
  EXPECT_EQ(gpu.ooms(), 1u);
  ASSERT_EQ(gpu.windows_size(), 3);
  std::vector<std::uint64_t> steps, most;
  for (const v1::StepWindow& window : gpu.windows()) {
    steps.push_back(window.first_step());
    most.push_back(window.allocated() >> 20);
  }
  EXPECT_THAT(steps, ElementsAre(5, 6, 7));
  EXPECT_THAT(most, ElementsAre(1, 3, 1));
  EXPECT_EQ(gpu.windows(0).used(), 70u << 20);
  ASSERT_EQ(gpu.at_peak_size(), 4);
  for (const v1::Composition& composition : gpu.at_peak()) {
    std::uint64_t sum = composition.other_bytes();
    for (const v1::HeldRow& held : composition.rows()) sum += held.bytes();
    EXPECT_EQ(sum, gpu.peak_allocated_bytes()) << composition.by();
  }
  ASSERT_EQ(recording.refused_size(), 1);
  EXPECT_EQ(recording.refused(0).asked_bytes(), 64u << 20);
  EXPECT_EQ(recording.refused(0).step(), 7u);
  EXPECT_EQ(recording.refused(0).operator_name(), "aten::cat");
}

TEST(RecordingSummaryTest, AnyNumberOfRowsFits) {
  v1::RecordingSummaries summaries;
  v1::RecordingSummary& recording = *summaries.add_recording();
  for (int device = 0; device < 16; ++device) {
    v1::DeviceSummary& of = *recording.add_devices();
    of.set_peak_allocated_bytes(300 * 1000);
    for (int by = 0; by < 4; ++by) {
      v1::Composition& composition = *of.add_at_peak();
      for (int row = 0; row < 300; ++row) {
        composition.add_rows()->set_name(std::string(300, 'x') + std::to_string(row));
        composition.mutable_rows(row)->set_bytes(1000);
      }
    }
  }
  FitInto(60'000, summaries);
  EXPECT_TRUE(SummaryFileBytes(summaries).ok());
  for (const v1::DeviceSummary& device : summaries.recording(0).devices()) {
    for (const v1::Composition& composition : device.at_peak())
      EXPECT_EQ(composition.other_bytes() + 1000u * static_cast<unsigned>(composition.rows_size()), 300'000u);
  }
}

// The summary of a job's overview is one pointer into it after another: the spread, the missing and the differing.
TEST(JobOverviewTest, NamesWhoIsMissingAndWhoDiffers) {
  JobSummaryBuilder book;
  for (const std::uint32_t rank : {0u, 1u, 3u}) {
    v1::RecordingSummary recording;
    recording.set_events(1);
    v1::ProcessInfo& info = *recording.mutable_process();
    info.set_rank(rank);
    info.set_world_size(4);
    info.set_rank_source("torchrun");
    info.set_torch_version(rank == 3 ? "2.12.0" : "2.11.0");
    v1::DeviceSummary& device = *recording.add_devices();
    device.set_name("cuda:0");
    device.set_peak_allocated_bytes(100 + rank);
    book.Add(recording);
    if (rank != 1) continue;
    recording.mutable_process()->set_host("another");  // of another job, which ran at the same time
    recording.clear_devices();
    book.Add(recording);
  }
  const v1::JobSummary job = book.Take();
  const JobOverview overview = OverviewOf(job);
  ASSERT_EQ(overview.ranks.attempts.size(), 1u);
  EXPECT_THAT(overview.ranks.attempts[0].missing, ElementsAre(2));
  EXPECT_THAT(overview.ranks.attempts[0].twice, ElementsAre(1));
  ASSERT_EQ(overview.differences.size(), 1u);
  EXPECT_EQ(WhoText(overview.differences[0].who.at("2.12.0")), "rank 3");
  ASSERT_EQ(overview.kinds.size(), 1u);
  EXPECT_EQ(overview.kinds[0].sum_peaks, 304u);
  EXPECT_EQ(overview.kinds[0].spreads[0].median, 101u);
  EXPECT_EQ(overview.kinds[0].spreads[0].most_of, "rank 3");
  EXPECT_EQ(overview.devices.front().device->peak_allocated_bytes(), 103u);
}

}  // namespace
}  // namespace memoir
