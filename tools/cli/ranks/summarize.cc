// memoir summarize: a summary beside each recording of a job.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "fmt/format.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/ranks/named_summary.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/progress.h"
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
  std::optional<std::uint32_t> every;  // seconds
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

bool HasEnded(const JobFiles& job, const NamedFiles& files) {
  const absl::StatusOr<v1::RecordingSummaries> summaries = ReadSummaryFile(SummaryPathOf(job, files));
  return summaries.ok() && std::ranges::all_of(summaries->recording(), [](const v1::RecordingSummary& recording) {
           return recording.end().reason() != v1::End::UNKNOWN;
         });
}

struct Written {
  std::size_t found = 0, written = 0, failed = 0;
  bool all_ended = true;
};

absl::StatusOr<Written> SummarizeOnce(const SummarizeArguments& arguments) {
  const Asked asked = AskedOf(arguments.capture);
  const absl::StatusOr<JobFiles> job = ListJobFiles(asked.folder);
  if (!job.ok()) return job.status();
  std::vector<const NamedFiles*> named;
  std::size_t found = 0;
  for (const NamedFiles& files : job->named) {
    if (files.parts.empty() || (!asked.name.empty() && files.name != asked.name)) continue;
    ++found;
    if (arguments.again || !HasFreshSummary(*job, files)) named.push_back(&files);
  }
  if (found == 0)
    return absl::NotFoundError(arguments.capture + ": no recording; give the folder that `memoir run` wrote");
  Progress progress("summarizing " + arguments.capture);
  const std::size_t failed =
      WriteSummaries(*job, named, [](const std::string& line) { Say(line); }, progress.callback());
  Written done{found, named.size() - failed, failed, true};
  for (const NamedFiles& files : job->named) {
    if (!files.parts.empty() && (asked.name.empty() || files.name == asked.name))
      done.all_ended = done.all_ended && HasEnded(*job, files);
  }
  return done;
}

int Summarize(const SummarizeArguments& arguments) {
  for (;;) {
    const absl::StatusOr<Written> done = SummarizeOnce(arguments);
    // Nothing may have been recorded yet.
    if (!done.ok() && !(arguments.every && absl::IsNotFound(done.status()))) return Fail(done.status());
    if (!arguments.every || (done.ok() && done->all_ended && done->failed == 0)) {
      const std::size_t kept = done->found - done->written - done->failed;
      Say(fmt::format("{}: {} written, {} {} there", FormatCounted(done->found, "recording", "recordings"),
                      FormatCounted(done->written, "summary", "summaries"), FormatCount(kept),
                      kept == 1 ? "was" : "were"));
      return done->failed == 0 ? kExitFine : kExitError;
    }
    std::this_thread::sleep_for(std::chrono::seconds(*arguments.every));
  }
}

}  // namespace

int SummarizeVerb(const std::vector<std::string>& arguments) {
  SummarizeArguments asked;
  const auto app = MakeArguments(kHelp);
  app->add_option("CAPTURE", asked.capture, "folder of the job; or one of its files, for that rank alone");
  AddNumber(*app, "--every", asked.every,
            "until all recordings have ended, look every so many seconds and make those anew that have grown");
  app->add_flag("--again", asked.again, "make those anew that are there");
  if (const auto code = ParseArguments(*app, "summarize", arguments)) return *code;
  if (asked.capture.empty()) return FailUsage("summarize", "no capture given: memoir summarize CAPTURE");
  if (asked.every && asked.again) return FailUsage("summarize", "--every makes what has grown; leave out --again");
  if (asked.every == 0u) return FailUsage("summarize", "--every 0: expected seconds, at least 1");
  return Summarize(asked);
}

}  // namespace memoir
