#include "tools/cli/check/check_ranks.h"

#include <unistd.h>

#include <mutex>

#include "fmt/format.h"
#include "tools/analyze/ranks/job_overview.h"
#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/ranks/job_reader.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/progress.h"
#include "tools/view/ranks/odd_ranks_view.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {

std::string RanksComplaint(const CheckArguments& arguments) {
  if (!arguments.fail_if.empty() || !arguments.baseline.empty() || arguments.format != "text")
    return "check ranks compares the ranks of one job with each other; leave out --fail-if, --baseline and --format";
  if (!arguments.takes_all() || arguments.at)
    return "check ranks compares whole recordings; leave out the choice of a part of them";
  return "";
}

absl::StatusOr<Checked> CheckRanks(const std::string& path, const CheckArguments& arguments) {
  Progress progress("reading " + path);
  std::mutex saying;
  RankBook book;
  JobReadOptions options{.asked = true,
                         .run = RunOf(arguments.run),
                         .say = {},
                         .progress = progress.callback(),
                         .each = [&](const v1::RecordingSummary& recording) { book.Add(recording); }};
  options.say = [&](const std::string& line) {
    const std::lock_guard lock(saying);
    Say(line);
  };
  const absl::StatusOr<std::optional<JobReading>> reading = ReadJob(path, options);
  if (!reading.ok()) return reading.status();
  const JobReading& job = **reading;
  const JobOverview overview = OverviewOf(job.job);
  const OddRanks found = FindOddRanks(book);
  if (job.runs > 1 && job.run != kAllRuns) Say(fmt::format("run {} of {}; --run N shows another", job.run, job.runs));
  Checked checked;
  checked.found = IsFinding(overview, found);
  const Terminal terminal = DetectTerminal(STDOUT_FILENO);
  if (!arguments.json) {
    const std::string run = arguments.run == "last" ? "" : "--run " + arguments.run + " ";
    checked.text =
        RenderOddRanks(job, overview, found, arguments.top.value_or(8), run + Escaped(TypedPath(path)), terminal);
    return checked;
  }
  checked.text = ToText(OddRanksJson(job, overview, found));
  if (arguments.brief) checked.text = BriefAnswer(checked.text, arguments, path);
  return checked;
}

}  // namespace memoir
