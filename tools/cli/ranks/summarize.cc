// memoir summarize: writes a summary for each recording of a job, or merges the summaries of many recordings into one
// file.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fmt/format.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/ranks/look_pace.h"
#include "tools/cli/ranks/merge.h"
#include "tools/cli/ranks/named_summary.h"
#include "tools/cli/ranks/requested_recordings.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/model/parts/process_liveness.h"
#include "tools/read/capture_folder.h"
#include "tools/read/merged_summaries.h"
#include "tools/read/summary_file.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "summarize",
    .usage = "summarize [OPTIONS] CAPTURE...",
    .description =
        "Write a summary of at most 64 KiB next to each recording of a job, from which `memoir show` makes the job's "
        "overview without reading the recordings (docs/ranks.md). An existing summary that matches its recording is "
        "left as it is. CAPTURE is the folder of the job, or a file of one rank. With -o all summaries go into one "
        "file, which `memoir show` and `memoir check ranks` open; then a CAPTURE can be such a file, too.",
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
  std::optional<double> cpu;           // percent of one core, for --every
  std::string of_run;                  // only recordings of this `memoir run`; --every never ends then; "": all
};

// The numbers of recordings in one examination of the captures.
struct LookResult {
  std::size_t found = 0, written = 0, kept = 0, failed = 0;
  bool all_ended = true;
};

// Examines the captures, once or repeatedly, and writes missing and outdated summaries.
class Summaries {
 public:
  explicit Summaries(const SummarizeArguments& arguments) : arguments_(arguments) {}

  absl::StatusOr<LookResult> LookAtCaptures() {
    LookResult looked;
    for (const std::string& capture : arguments_.captures) {
      const absl::Status status = LookAt(capture, looked);
      if (status.ok()) continue;
      if (arguments_.every && absl::IsNotFound(status)) {
        looked.all_ended = false;  // nothing may have been recorded yet
      } else if (arguments_.captures.size() == 1) {
        return status;
      } else {
        ++looked.failed;
        PrintOnce(std::string(status.message()));
      }
    }
    return looked;
  }

 private:
  struct State {
    bool is_fresh = false, has_ended = false;
  };

  bool HasEnded(const v1::RecordingSummary& recording) const {
    const v1::ProcessInfo& info = recording.process();
    if (recording.end().reason() != v1::End::UNKNOWN) return true;
    if (arguments_.own && !WasRecordedOnThisHost(info)) return true;  // ran before the host was restarted
    return LivenessOf(info, info.process_start()) == ProcessLiveness::kGone;
  }

  State StateOf(const JobFiles& job, const NamedFiles& files) const {
    State state;
    const absl::StatusOr<v1::RecordingSummaries> summaries = ReadSummaryFile(SummaryPathOf(job, files));
    if (!summaries.ok()) return state;
    state.is_fresh = AgeHere(*summaries, job, files) == SummaryAge::kFresh;
    state.has_ended =
        std::ranges::all_of(summaries->recording(), [&](const auto& recording) { return HasEnded(recording); });
    return state;
  }

  bool IsOfRun(const std::string& path) {
    if (arguments_.of_run.empty()) return true;
    if (const auto known = is_of_run_.find(path); known != is_of_run_.end()) return known->second;
    const absl::StatusOr<CaptureFolder> opened = OpenFolder(path);
    if (!opened.ok()) return false;  // its first chunk is not written yet
    return is_of_run_[path] = std::ranges::any_of(opened->processes, [&](const ProcessFiles& process) {
             return process.parts.back().process.run() == arguments_.of_run;
           });
  }

  // Returns true if the recording could not be read, and has not grown since.
  bool IsGivenUp(const std::string& path, const NamedFiles& files) const {
    const auto failed = failed_at_.find(path);
    return arguments_.every && failed != failed_at_.end() && failed->second == files.newest_ns;
  }

  void PrintOnce(const std::string& line) {
    if (said_.insert(line).second) PrintMessage(line);
  }

  absl::Status LookAt(const std::string& capture, LookResult& looked) {
    const absl::StatusOr<RequestedRecordings> asked =
        RecordingsOf(capture, arguments_.own ? RecordingScope::kOfThisHost : RecordingScope::kRecordings);
    if (!asked.ok()) return asked.status();
    const JobFiles& job = asked->job;
    std::vector<const NamedFiles*> stale;
    for (const NamedFiles* const files : asked->named) {
      if (!IsOfRun(PartsPathOf(job, *files))) continue;
      ++looked.found;
      const State state = StateOf(job, *files);
      if (!arguments_.again && state.is_fresh) {
        ++looked.kept;
        looked.all_ended = looked.all_ended && state.has_ended;
      } else if (IsGivenUp(PartsPathOf(job, *files), *files)) {
        ++looked.failed;
      } else {
        stale.push_back(files);
      }
    }
    ProgressLine progress("summarizing " + capture);
    const std::size_t failed =
        WriteSummaries(job, stale, [&](const std::string& line) { PrintOnce(line); }, progress.callback());
    looked.written += stale.size() - failed;
    looked.failed += failed;
    for (const NamedFiles* const files : stale) {
      looked.all_ended = looked.all_ended && StateOf(job, *files).has_ended;
      if (failed > 0 && !ReadSummaryFile(SummaryPathOf(job, *files)).ok())
        failed_at_[PartsPathOf(job, *files)] = files->newest_ns;
    }
    return absl::OkStatus();
  }

  const SummarizeArguments& arguments_;
  std::map<std::string, bool> is_of_run_;           // by path
  std::map<std::string, std::uint64_t> failed_at_;  // by path: time of the last write to its newest part
  std::set<std::string> said_;
};

// Returns the processor time of this process and of its children that have ended.
double ProcessorSeconds() {
  double seconds = 0;
  for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    getrusage(whose, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  }
  return seconds;
}

int Summarize(const SummarizeArguments& arguments) {
  Summaries summaries(arguments);
  for (;;) {
    const double before = ProcessorSeconds();
    const absl::StatusOr<LookResult> looked = summaries.LookAtCaptures();
    if (!looked.ok()) return Fail(looked.status());
    if (!arguments.every || (looked->all_ended && arguments.of_run.empty())) {
      const std::size_t kept = looked->kept;
      PrintMessage(fmt::format("{}: {} written, {} {} there", FormatCounted(looked->found, "recording", "recordings"),
                               FormatCounted(looked->written, "summary", "summaries"), FormatCount(kept),
                               kept == 1 ? "was" : "were"));
      return looked->failed == 0 ? kExitFine : kExitError;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(SecondsToNextExamination(
        ProcessorSeconds() - before, arguments.cpu.value_or(kUsualPercent), *arguments.every)));
  }
}

int Merge(const SummarizeArguments& arguments) {
  absl::StatusOr<MergeResult> merged = absl::UnknownError("");
  {
    ProgressLine progress("merging summaries");
    merged = MergeSummaries(
        arguments.captures, arguments.output, [](const std::string& line) { PrintMessage(line); }, progress.callback());
  }
  if (!merged.ok()) return Fail(merged.status());
  PrintMessage(fmt::format("{}: {}", arguments.output, FormatCounted(merged->summaries, "summary", "summaries")));
  return merged->failed == 0 ? kExitFine : kExitError;
}

// Describes options that contradict each other or invalid values; "" if all are valid.
std::string Complaint(const SummarizeArguments& arguments) {
  if (arguments.captures.empty()) return "no capture given: memoir summarize CAPTURE";
  if (arguments.every && arguments.again) return "--every makes what has grown; leave out --again";
  if (arguments.every == 0u) return "--every 0: expected seconds, at least 1";
  if (arguments.cpu && !(*arguments.cpu >= 0.1 && *arguments.cpu <= 100))
    return fmt::format("--cpu {}: expected percent of one core, from 0.1 to 100", *arguments.cpu);
  if (arguments.cpu && !arguments.every) return "--cpu works only with --every; give both, or leave it out";
  if (arguments.output.empty()) {
    const auto merged = std::ranges::find_if(arguments.captures, IsMergedSummaries);
    if (merged == arguments.captures.end() || std::filesystem::is_directory(*merged)) return "";
    return *merged + " holds summaries already; -o FILE merges it with others";
  }
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
                  "FILE.memoir-summaries: write all summaries into it, and none next to recordings");
  AddNumber(*app, "--every", asked.every,
            "SECONDS: until all recordings have ended, check this often, and write the summaries of grown recordings "
            "again");
  app->add_option("--cpu", asked.cpu,
                  "with --every: percent of one core that it may take on average; large recordings are checked less "
                  "often [2]");
  app->add_flag("--own", asked.own, "only recordings of this host, for a job in a shared folder: run it on each host");
  app->add_option("--of-run", asked.of_run, "")->group("");  // used by `memoir run`
  app->add_flag("--again", asked.again, "write existing summaries again");
  if (const auto code = ParseArguments(*app, "summarize", arguments)) return *code;
  if (asked.output.empty() && app->count("--output") > 0)
    return FailUsage("summarize", "-o: the name of the file is empty");
  if (const std::string complaint = Complaint(asked); !complaint.empty()) return FailUsage("summarize", complaint);
  return asked.output.empty() ? Summarize(asked) : Merge(asked);
}

}  // namespace memoir
