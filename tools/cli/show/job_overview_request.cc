#include "tools/cli/show/job_overview_request.h"

#include <mutex>

#include "fmt/format.h"
#include "tools/analyze/ranks/job/job_overview.h"
#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/ranks/job_reader.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/view/ranks/job_json.h"
#include "tools/view/ranks/job_text.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {

absl::StatusOr<std::optional<std::string>> ShowJobOverview(const JobOverviewRequest& request,
                                                           const Terminal& terminal) {
  ProgressLine progress("reading " + request.folder);
  std::mutex saying;
  RankBook book;
  JobReadOptions options{.asked = request.asked,
                         .run = request.run,
                         .say = {},
                         .progress = progress.callback(),
                         .each = [&](const v1::RecordingSummary& recording) { book.Add(recording); }};
  options.say = [&](const std::string& line) {
    const std::lock_guard lock(saying);
    PrintMessage(line);
  };
  const absl::StatusOr<std::optional<LoadedJob>> reading = ReadJob(request.folder, options);
  if (!reading.ok()) return reading.status();
  if (!reading->has_value()) return std::optional<std::string>();
  const LoadedJob& job = **reading;
  const JobOverview overview = OverviewOf(job.job);
  const OddRanks found = FindOddRanks(book);
  if (job.runs > 1 && job.run != 0) PrintMessage(fmt::format("run {} of {}; --run N shows another", job.run, job.runs));
  if (request.json) return std::optional(ToText(JobJson(job, overview, found, request.top.value_or(0))));
  constexpr std::size_t kRows = 8;
  const std::string path = (job.runs > 1 ? fmt::format("--run {} ", job.run) : "") + Escaped(TypedPath(request.folder));
  return std::optional(RenderJob(job, overview, found, request.top.value_or(kRows), path, terminal));
}

}  // namespace memoir
