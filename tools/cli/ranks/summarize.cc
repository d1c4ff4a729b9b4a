// memoir summarize: a summary beside each recording of a job, or the summaries of many in one file.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fmt/format.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/ranks/asked_recordings.h"
#include "tools/cli/ranks/merge.h"
#include "tools/cli/ranks/named_summary.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/progress.h"
#include "tools/model/liveness.h"
#include "tools/read/merged_summaries.h"
#include "tools/read/summary_file.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): before main, with no memory the program is at its end
const VerbHelp kHelp = {
    .verb = "summarize",
    .usage = "summarize [OPTIONS] CAPTURE...",
    .description =
        "Write a summary of at most 64 KiB beside each recording of a job, from which `memoir show` makes the job's "
        "overview without reading the recordings (docs/ranks.md). A summary that is there and fits its recording stays "
        "as it is. CAPTURE is the folder of the job, or a file of one rank. With -o all summaries go into one file, "
        "which `memoir show` and `memoir check ranks` open; then a CAPTURE can be such a file, too.",
    .examples =
        "  memoir summarize run7\n"
        "  memoir summarize --again run7/r00003.a0.node1.4711.p0000.memoir\n"
        "  memoir summarize --every 10 --own run7\n"
        "  memoir summarize -o run7.memoir-summaries run7\n"
        "  memoir summarize -o all.memoir-summaries rack1.memoir-summaries rack2.memoir-summaries\n",
};

struct SummarizeArguments {
  std::vector<std::string> captures;
  std::string output;
  bool again = false, own = false;
  std::optional<std::uint32_t> every;  // seconds
  double cpu = 2;                      // of --every: percent of one core
};

bool HasEnded(const JobFiles& job, const NamedFiles& files) {
  const absl::StatusOr<v1::RecordingSummaries> summaries = ReadSummaryFile(SummaryPathOf(job, files));
  return summaries.ok() && std::ranges::all_of(summaries->recording(), [](const v1::RecordingSummary& recording) {
           return recording.end().reason() != v1::End::UNKNOWN ||
                  (IsOfThisHost(recording.process()) && LivenessOf(recording.process(), 0) == Liveness::kGone);
         });
}

struct Written {
  std::size_t found = 0, written = 0, failed = 0;
  bool all_ended = true;
};

// Adds to `done`.
absl::Status SummarizeOnce(const std::string& capture, const SummarizeArguments& arguments, Written& done) {
  const absl::StatusOr<AskedRecordings> asked =
      RecordingsOf(capture, arguments.own ? Wanted::kOfThisHost : Wanted::kRecordings);
  if (!asked.ok()) return asked.status();
  std::vector<const NamedFiles*> stale;
  for (const NamedFiles* const files : asked->named) {
    if (arguments.again || !HasFreshSummary(asked->job, *files)) stale.push_back(files);
  }
  Progress progress("summarizing " + capture);
  const std::size_t failed =
      WriteSummaries(asked->job, stale, [](const std::string& line) { Say(line); }, progress.callback());
  done.found += asked->named.size();
  done.written += stale.size() - failed;
  done.failed += failed;
  for (const NamedFiles* const files : asked->named) done.all_ended = done.all_ended && HasEnded(asked->job, *files);
  return absl::OkStatus();
}

absl::StatusOr<Written> SummarizeAll(const SummarizeArguments& arguments) {
  Written done;
  for (const std::string& capture : arguments.captures) {
    if (const absl::Status status = SummarizeOnce(capture, arguments, done); !status.ok()) return status;
  }
  return done;
}

double ProcessorSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int Summarize(const SummarizeArguments& arguments) {
  for (;;) {
    const double before = ProcessorSeconds();
    const absl::StatusOr<Written> done = SummarizeAll(arguments);
    // Nothing may have been recorded yet.
    if (!done.ok() && !(arguments.every && absl::IsNotFound(done.status()))) return Fail(done.status());
    if (!arguments.every || (done.ok() && done->all_ended && done->failed == 0)) {
      const std::size_t kept = done->found - done->written - done->failed;
      Say(fmt::format("{}: {} written, {} {} there", FormatCounted(done->found, "recording", "recordings"),
                      FormatCounted(done->written, "summary", "summaries"), FormatCount(kept),
                      kept == 1 ? "was" : "were"));
      return done->failed == 0 ? kExitFine : kExitError;
    }
    const double of_share = (ProcessorSeconds() - before) * 100 / arguments.cpu;
    std::this_thread::sleep_for(
        std::chrono::duration<double>(std::max(of_share, static_cast<double>(*arguments.every))));
  }
}

int Merge(const SummarizeArguments& arguments) {
  absl::StatusOr<Merged> merged = absl::UnknownError("");
  {
    Progress progress("merging summaries");
    merged = MergeSummaries(
        arguments.captures, arguments.output, [](const std::string& line) { Say(line); }, progress.callback());
  }
  if (!merged.ok()) return Fail(merged.status());
  Say(fmt::format("{}: {}", arguments.output, FormatCounted(merged->summaries, "summary", "summaries")));
  return merged->failed == 0 ? kExitFine : kExitError;
}

// What is asked for in words that do not go together; "" when all is well.
std::string Complaint(const SummarizeArguments& arguments) {
  if (arguments.captures.empty()) return "no capture given: memoir summarize CAPTURE";
  if (arguments.every && arguments.again) return "--every makes what has grown; leave out --again";
  if (arguments.every == 0u) return "--every 0: expected seconds, at least 1";
  if (!(arguments.cpu > 0)) return fmt::format("--cpu {}: expected percent of one core, such as 2", arguments.cpu);
  if (arguments.output.empty()) return "";
  if (arguments.every || arguments.again || arguments.own)
    return "-o takes the summaries that are there, and makes those that are missing; leave out --every, --again and "
           "--own";
  if (!IsMergedSummaries(arguments.output))
    return fmt::format("-o {}: name it *{}, by which memoir show knows what it is", arguments.output, kMergedSuffix);
  return "";
}

}  // namespace

int SummarizeVerb(const std::vector<std::string>& arguments) {
  SummarizeArguments asked;
  const auto app = MakeArguments(kHelp);
  app->add_option("CAPTURE", asked.captures, "folder of the job; or one of its files, for that rank alone");
  app->add_option("-o,--output", asked.output,
                  "FILE.memoir-summaries: write all summaries into it, and none beside recordings");
  AddNumber(*app, "--every", asked.every,
            "until all recordings have ended, look every so many seconds and make those anew that have grown");
  app->add_option("--cpu", asked.cpu,
                  "of --every: percent of one core that it may take; with much recorded it looks less often [2]");
  app->add_flag("--own", asked.own, "only recordings of this host: each host of a job takes its own");
  app->add_flag("--again", asked.again, "make those anew that are there");
  if (const auto code = ParseArguments(*app, "summarize", arguments)) return *code;
  if (const std::string complaint = Complaint(asked); !complaint.empty()) return FailUsage("summarize", complaint);
  return asked.output.empty() ? Summarize(asked) : Merge(asked);
}

}  // namespace memoir
