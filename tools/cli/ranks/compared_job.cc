#include "tools/cli/ranks/compared_job.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "tools/analyze/ranks/odd_programs.h"
#include "tools/cli/ranks/job_reader.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"

namespace memoir {

absl::StatusOr<ComparedJob> CompareRanks(const std::string& folder, std::uint32_t run) {
  ProgressLine progress("reading " + folder);
  std::mutex saying;
  RankBook book;
  JobReadOptions options{.asked = true,
                         .run = run,
                         .say = {},
                         .progress = progress.callback(),
                         .each = [&](const v1::RecordingSummary& recording) { book.Add(recording); }};
  options.say = [&](const std::string& line) {
    const std::lock_guard lock(saying);
    PrintMessage(line);
  };
  absl::StatusOr<std::optional<LoadedJob>> reading = ReadJob(folder, options);
  if (!reading.ok()) return reading.status();
  ComparedJob compared{.job = **std::move(reading), .overview = {}, .found = FindOddRanks(book)};
  compared.overview = OverviewOf(compared.job.job);
  return compared;
}

void ComparePrograms(const std::string& folder, ComparedJob& compared) {
  constexpr std::size_t kMostCompared = 2;  // each comparison replays two recordings
  if (!compared.job.has_recordings || std::ranges::none_of(compared.found.odd, HasProgramToCompare)) return;
  const absl::StatusOr<Capture> capture = Capture::Open(folder, compared.job.run);
  if (!capture.ok()) return;
  ProgressLine progress("comparing the programs of odd ranks");
  AddPrograms(*capture, kMostCompared, progress.callback(), compared.found);
}

OddRanks CompareRanksOf(const Capture& capture) {
  std::set<std::uint32_t> ranks;
  for (const ProcessSummary& process : capture.processes()) {
    if (const auto rank = process.rank()) ranks.insert(*rank);
  }
  if (ranks.size() < 2) return {};
  RankBook book;
  const JobReadOptions options{.asked = true,
                               .run = capture.run(),
                               .say = [](const std::string&) {},
                               .progress = [](double) {},
                               .each = [&](const v1::RecordingSummary& recording) { book.Add(recording); }};
  const absl::StatusOr<std::optional<LoadedJob>> reading = ReadJob(capture.path(), options);
  return reading.ok() && *reading ? FindOddRanks(book) : OddRanks();
}

}  // namespace memoir
