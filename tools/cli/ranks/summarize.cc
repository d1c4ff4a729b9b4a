// memoir summarize: a summary beside each recording of a job.
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "fmt/format.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/ranks/named_summary.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/progress.h"
#include "tools/read/replaced_file.h"
#include "tools/read/summary_file.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): before main, with no memory the program is at its end
const VerbHelp kHelp = {
    .verb = "summarize",
    .usage = "summarize [OPTIONS] CAPTURE",
    .description =
        "Write a summary of at most 64 KiB beside each recording of a job, from which `memoir show` makes the job's "
        "overview without reading the recordings (docs/ranks.md). A summary that is there and fits its recording stays "
        "as it is. CAPTURE is the folder of the job, or a file of one rank.",
    .examples =
        "  memoir summarize run7\n"
        "  memoir summarize --again run7/r00003.a0.node1.4711.p0000.memoir\n",
};

struct SummarizeArguments {
  std::string capture;
  bool again = false;
};

// The folder, and the one name in it that is asked for; "": all.
struct Asked {
  std::string folder, name;
};
Asked AskedOf(const std::string& capture) {
  std::error_code error;
  if (std::filesystem::is_directory(capture, error)) return {capture, ""};
  const std::filesystem::path path(capture);
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  std::string name = path.filename().string();
  if (name.ends_with(kSummarySuffix)) return {folder, name.substr(0, name.size() - std::string(kSummarySuffix).size())};
  const std::size_t part = name.rfind(".p");
  if (name.ends_with(".memoir") && part != std::string::npos) name.resize(part);
  return {folder, name};
}

bool IsFresh(const JobFiles& job, const NamedFiles& files) {
  if (!files.has_summary) return false;
  const absl::StatusOr<v1::RecordingSummaries> summaries = ReadSummaryFile(SummaryPathOf(job, files));
  return summaries.ok() && AgeOf(*summaries, files, job.symbol_bytes) == SummaryAge::kFresh;
}

int Summarize(const SummarizeArguments& arguments) {
  const Asked asked = AskedOf(arguments.capture);
  const absl::StatusOr<JobFiles> job = ListJobFiles(asked.folder);
  if (!job.ok()) return Fail(job.status());
  std::vector<const NamedFiles*> named;
  std::size_t found = 0;
  for (const NamedFiles& files : job->named) {
    if (files.parts.empty() || (!asked.name.empty() && files.name != asked.name)) continue;
    ++found;
    if (arguments.again || !IsFresh(*job, files)) named.push_back(&files);
  }
  if (found == 0)
    return Fail(absl::NotFoundError(arguments.capture + ": no recording; give the folder that `memoir run` wrote"));
  Progress progress("summarizing " + arguments.capture);
  std::mutex saying;
  std::atomic<std::size_t> failed = 0;
  const auto say = [&](const std::string& line) {
    const std::lock_guard lock(saying);
    Say(line);
  };
  AtOnce(
      named.size(),
      [&](std::size_t i) {
        const std::string path = SummaryPathOf(*job, *named[i]);
        if (named[i]->has_partial) RemovePartial(path);
        const absl::StatusOr<v1::RecordingSummaries> summaries = SummaryOfNamed(*job, *named[i], say);
        const absl::Status written = summaries.ok() ? WriteSummaryFile(path, *summaries) : summaries.status();
        if (written.ok()) return;
        ++failed;
        say(std::string(written.message()));
      },
      progress.callback());
  Say(fmt::format("{}: {} written, {} {} there", FormatCounted(found, "recording", "recordings"),
                  FormatCounted(named.size() - failed, "summary", "summaries"), FormatCount(found - named.size()),
                  found - named.size() == 1 ? "was" : "were"));
  return failed == 0 ? kExitFine : kExitError;
}

}  // namespace

int SummarizeVerb(const std::vector<std::string>& arguments) {
  SummarizeArguments asked;
  const auto app = MakeArguments(kHelp);
  app->add_option("CAPTURE", asked.capture, "folder of the job; or one of its files, for that rank alone");
  app->add_flag("--again", asked.again, "make those anew that are there");
  if (const auto code = ParseArguments(*app, "summarize", arguments)) return *code;
  if (asked.capture.empty()) return FailUsage("summarize", "no capture given: memoir summarize CAPTURE");
  return Summarize(asked);
}

}  // namespace memoir
