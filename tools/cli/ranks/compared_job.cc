#include "tools/cli/ranks/compared_job.h"

#include <mutex>
#include <optional>
#include <utility>

#include "tools/cli/ranks/job_reader.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/progress.h"

namespace memoir {

absl::StatusOr<ComparedJob> CompareRanks(const std::string& folder, std::uint32_t run) {
  Progress progress("reading " + folder);
  std::mutex saying;
  RankBook book;
  JobReadOptions options{.asked = true,
                         .run = run,
                         .say = {},
                         .progress = progress.callback(),
                         .each = [&](const v1::RecordingSummary& recording) { book.Add(recording); }};
  options.say = [&](const std::string& line) {
    const std::lock_guard lock(saying);
    Say(line);
  };
  absl::StatusOr<std::optional<JobReading>> reading = ReadJob(folder, options);
  if (!reading.ok()) return reading.status();
  ComparedJob compared{.job = **std::move(reading), .overview = {}, .found = FindOddRanks(book)};
  compared.overview = OverviewOf(compared.job.job);
  return compared;
}

}  // namespace memoir
