// memoir collect: copies files of a job from the disks of its hosts. First it copies the summaries of all ranks. Then
// it compares the summaries, and copies the recordings of the odd ranks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/option_values.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/collect/collect_source.h"
#include "tools/cli/collect/transfers.h"
#include "tools/cli/installed/python_package.h"
#include "tools/cli/process/private_folder.h"
#include "tools/cli/ranks/compared_job.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/model/capture.h"
#include "tools/model/job.h"
#include "tools/read/summary_file.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "collect",
    .usage = "collect [OPTIONS] -o JOB SOURCE...",
    .description =
        "Bring a job's recordings together from the disks of its hosts: first the summaries of all ranks, then the "
        "recordings of those that the summaries show to be out of line (docs/ranks.md). A SOURCE is a folder, "
        "HOST:FOLDER, which rsync copies, or an address such as s3://bucket/run7, which needs Python's fsspec. Files "
        "that are in JOB already are not copied again.",
    .examples =
        "  memoir collect -o job node0:/scratch/run7 node1:/scratch/run7\n"
        "  memoir collect -o job --ranks 0,13-15 s3://bucket/run7\n",
};

struct CollectArguments {
  std::vector<std::string> sources;
  std::string output;
  std::string ranks = "odd";
  std::string with;
  std::string python;
  std::optional<std::uint32_t> at_once;
};

// The ranks whose recordings are copied: odd ranks, all ranks, or a list.
struct RankRequest {
  bool odd = false, all = false;
  std::set<std::uint32_t> ranks;
};

constexpr std::uint32_t kMostRanks = 99'999;  // in names of files, a rank has five digits
constexpr char kSymbols[] = "symbols.memoir-symbols";

// Adds the ranks of "3" or "12-15". Returns false if the text is neither.
bool AddRanks(std::string_view text, std::set<std::uint32_t>& ranks) {
  const std::vector<std::string> ends = absl::StrSplit(std::string(text), '-');
  const std::optional<std::uint64_t> first = ParseDigits(ends.front()), last = ParseDigits(ends.back());
  if (ends.size() > 2 || !first || !last || *first > *last || *last > kMostRanks) return false;
  for (std::uint64_t rank = *first; rank <= *last; ++rank) ranks.insert(static_cast<std::uint32_t>(rank));
  return true;
}

std::optional<RankRequest> RanksOf(const std::string& text) {
  RankRequest asked = {.odd = text == "odd", .all = text == "all", .ranks = {}};
  if (asked.odd || asked.all || text == "none") return asked;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ','))) {
    if (!AddRanks(part, asked.ranks)) return std::nullopt;
  }
  return asked;
}

std::size_t FilesOf(const TransferResults& brought) {
  std::size_t files = 0;
  for (const TransferResult& of : brought.of) files += of.files.size();
  return files;
}
std::uint64_t BytesOf(const TransferResults& brought) {
  std::uint64_t bytes = 0;
  for (const TransferResult& of : brought.of) bytes += of.bytes;
  return bytes;
}
std::string SummarizeHint(const CollectSource& source) {
  const std::string else_all = ", or copy what is there with --ranks all";
  if (source.kind == CollectSourceKind::kAddress) return "run `memoir summarize` before files are put there" + else_all;
  const bool is_here = source.host.empty();
  return fmt::format("run `memoir summarize {}`{}{}", is_here ? TypedPath(source.folder) : TypedWord(source.folder),
                     is_here ? "" : " on " + source.host, else_all);
}

std::size_t FailedOf(const TransferResults& brought) {
  return static_cast<std::size_t>(
      std::ranges::count_if(brought.of, [](const TransferResult& of) { return of.failed; }));
}

class Collection {
 public:
  Collection(const CollectArguments& arguments, RankRequest asked, std::vector<CollectSource> sources,
             CollectOptions options)
      : arguments_(arguments), asked_(std::move(asked)), sources_(std::move(sources)), options_(std::move(options)) {}

  int Run() { return asked_.all ? BringAll() : BringSummaries(); }

 private:
  // Returns nullopt after an interruption or a failure. In both cases a message was printed, and `code_` is the exit
  // code.
  std::optional<TransferResults> BringFiles(const std::vector<FileRequest>& wanted, const std::string& what) {
    absl::StatusOr<TransferResults> brought = TransferFiles(tree_, wanted, options_, what);
    if (!brought.ok()) {
      code_ = Fail(brought.status());
      return std::nullopt;
    }
    if (brought->interrupted != 0) {
      PrintMessage("interrupted; files of complete sources are in " + options_.job +
                   "; run the same command to continue");
      code_ = 128 + brought->interrupted;
      return std::nullopt;
    }
    if (FailedOf(*brought) > 0) code_ = kExitError;
    return *std::move(brought);
  }

  std::vector<FileRequest> RequestFromAll(const std::vector<std::string>& patterns, bool anew) const {
    std::vector<FileRequest> wanted;
    for (const CollectSource& source : sources_) wanted.push_back({&source, patterns, anew});
    return wanted;
  }

  std::string Sources() const { return FormatCounted(sources_.size(), "source", "sources"); }

  int BringAll() {
    std::vector<std::string> patterns = {"*.memoir", std::string("*") + kSummarySuffix};
    if (sources_.size() == 1) patterns.emplace_back(kSymbols);  // the symbols of several hosts may differ
    const std::optional<TransferResults> brought = BringFiles(RequestFromAll(patterns, false), "copying recordings");
    if (!brought) return code_;
    PrintMessage(fmt::format("{} from {}, {} copied", FormatCounted(FilesOf(*brought), "file", "files"), Sources(),
                             FormatBytes(BytesOf(*brought))));
    if (std::filesystem::is_empty(options_.job)) code_ = kExitError;
    return Ended();
  }

  int BringSummaries() {
    const std::optional<TransferResults> brought =
        BringFiles(RequestFromAll({std::string("*") + kSummarySuffix}, true), "copying summaries");
    if (!brought) return code_;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (!brought->of[i].failed && brought->of[i].files.empty()) {
        PrintMessage(sources_[i].text + ": no summary there; " + SummarizeHint(sources_[i]));
        code_ = kExitError;
      }
    }
    PrintMessage(fmt::format("{} from {}, {}", FormatCounted(FilesOf(*brought), "summary", "summaries"), Sources(),
                             FormatBytes(BytesOf(*brought))));
    if (FilesOf(*brought) == 0) return kExitError;
    if (asked_.odd && !FindOdd()) return code_;
    return asked_.ranks.empty() ? Ended() : BringRanks();
  }

  bool FindOdd() {
    const absl::StatusOr<ComparedJob> compared = CompareRanks(options_.job, kLastRun);
    if (!compared.ok()) {
      code_ = Fail(compared.status());
      return false;
    }
    for (const OddRank& odd : compared->found.odd) {
      for (const std::size_t i : odd.ranks) asked_.ranks.insert(compared->found.ranks[i].rank);
    }
    PrintLacking(*compared);
    if (compared->job.runs > 1)
      PrintMessage(fmt::format("compared the ranks of the last of {} runs; --ranks copies recordings of all runs",
                               compared->job.runs));
    const bool judged = std::ranges::any_of(compared->found.roles, &Role::is_judged);
    if (asked_.ranks.empty())
      PrintMessage(fmt::format("of {}, none {}: no recording was copied (--ranks)",
                               FormatCounted(compared->found.ranks.size(), "rank", "ranks"),
                               judged ? "is out of line with its role" : "can be compared with others"));
    return true;
  }

  // Reports the ranks that could not be compared, because they may be odd.
  void PrintLacking(const ComparedJob& compared) {
    if (!compared.job.unreadable.empty())
      PrintMessage(fmt::format(
          "{} cannot be read (the first: {}); run `memoir summarize` where they are, or copy their "
          "recordings with --ranks",
          FormatCounted(compared.job.unreadable.size(), "summary", "summaries"), compared.job.unreadable.front()));
    const std::vector<JobAttempt>& attempts = compared.overview.ranks.attempts;
    const bool any_missing = !attempts.empty() && !attempts.back().missing.empty();
    if (any_missing)
      PrintMessage("no recording and no summary arrived for ranks " + FormatRankList(attempts.back().missing));
    if (any_missing || !compared.job.unreadable.empty()) code_ = kExitError;
  }

  // Requests the recordings of these ranks from all sources. A rank that was restarted on another host has recordings
  // on both hosts, but its summary may exist on only one of them.
  int BringRanks() {
    std::vector<std::string> patterns;
    for (const std::uint32_t rank : asked_.ranks) patterns.push_back(RankFilePrefix(rank) + "*.memoir");
    if (sources_.size() == 1) patterns.emplace_back(kSymbols);
    const std::optional<TransferResults> brought = BringFiles(RequestFromAll(patterns, false), "copying recordings");
    if (!brought) return code_;
    std::set<std::uint32_t> without = asked_.ranks;
    std::error_code ignored;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(options_.job, ignored)) {
      const std::string name = entry.path().filename().string();
      const std::optional<std::uint64_t> rank = ParseDigits(name.substr(std::min<std::size_t>(name.size(), 1), 5));
      if (!name.starts_with('r') || !name.ends_with(".memoir") || !rank) continue;
      if (!asked_.ranks.contains(static_cast<std::uint32_t>(*rank))) continue;
      without.erase(static_cast<std::uint32_t>(*rank));
      ++files;
    }
    PrintMessage(fmt::format("{}{} {}: {} of recordings, {} copied", asked_.odd ? "out of line: " : "",
                             asked_.ranks.size() == 1 ? "rank" : "ranks", FormatRankList(asked_.ranks),
                             FormatCounted(files, "file", "files"), FormatBytes(BytesOf(*brought))));
    if (!without.empty()) {
      PrintMessage(fmt::format("no source has a recording of {} {}", without.size() == 1 ? "rank" : "ranks",
                               FormatRankList(without)));
      code_ = kExitError;
    }
    return Ended();
  }

  int Ended() const {
    if (code_ == kExitFine) {
      PrintMessage("more: " + PrintedCommand("check ranks " + TypedPath(arguments_.output)));
    } else {
      PrintMessage("not all files could be copied; the same command copies what is missing");
    }
    return code_;
  }

  const CollectArguments& arguments_;
  RankRequest asked_;
  std::vector<CollectSource> sources_;
  CollectOptions options_;
  InstallTree tree_ = FindInstallTree();
  int code_ = kExitFine;
};

bool IsAddress(const CollectSource& source) { return source.kind == CollectSourceKind::kAddress; }

// Describes an invalid argument; empty if all are valid. Two equal sources are invalid, because each file would be
// copied twice.
std::string ComplaintAbout(const CollectArguments& arguments) {
  if (arguments.sources.empty()) return "no source given: memoir collect -o JOB SOURCE...";
  if (arguments.output.empty()) return "no folder given for the job: -o JOB";
  if (arguments.at_once == 0u) return "--at-once 0: expected how many sources at once, at least 1";
  std::set<std::string> seen;
  for (const std::string& source : arguments.sources) {
    if (!seen.insert(source).second) return source + " is named twice";
    std::error_code error;
    if (std::filesystem::equivalent(source, arguments.output, error)) return source + " is JOB itself";
  }
  return "";
}

int Collect(const CollectArguments& arguments, const RankRequest& asked) {
  std::vector<CollectSource> sources;
  for (const std::string& source : arguments.sources) sources.push_back(ParseCollectSource(source));
  CollectOptions options;
  options.command = arguments.with.empty() ? kDefaultCommand : arguments.with;
  options.for_all = !arguments.with.empty();
  if (arguments.at_once) options.at_once = *arguments.at_once;
  options.say = [](const std::string& line) { PrintMessage(line); };
  if (!options.for_all && std::ranges::any_of(sources, IsAddress)) {
    const absl::StatusOr<std::string> python =
        FindPythonWith(FindInstallTree(), "fsspec", arguments.python, "an address as a source");
    if (!python.ok()) return Fail(python.status());
    options.python = *python;
  }
  if (const std::error_code error = MakePrivateFolders(arguments.output); error)
    return Fail(absl::PermissionDeniedError(arguments.output + ": cannot be made (" + error.message() +
                                            "); choose another folder (--output)"));
  options.job = std::filesystem::absolute(arguments.output).lexically_normal().string();
  return Collection(arguments, asked, std::move(sources), std::move(options)).Run();
}

}  // namespace

int CollectVerb(const std::vector<std::string>& arguments) {
  CollectArguments given;
  const auto app = MakeArguments(kHelp);
  app->add_option("SOURCE", given.sources, "a folder, HOST:FOLDER, or an address (s3://bucket/run7)");
  app->add_option("-o,--output", given.output, "folder for the job");
  app->add_option("--ranks", given.ranks,
                  "ranks whose recordings are copied in addition to all summaries: odd, none, all, or a list such as "
                  "0,12-15 [odd]");
  app->add_option("--with", given.with,
                  "shell command that copies files from any source, with {source}, {host}, {folder}, {patterns} (a "
                  "file, one in each line), {names} (the patterns as words), {into} and {job} in it");
  AddNumber(*app, "--at-once", given.at_once, "sources that are copied at once [8]");
  app->add_option("--python", given.python,
                  "Python with the package fsspec [in Memoir's environment, else the active one, else python in PATH]");
  if (const auto code = ParseArguments(*app, "collect", arguments)) return *code;
  if (const std::string complaint = ComplaintAbout(given); !complaint.empty()) return FailUsage("collect", complaint);
  const std::optional<RankRequest> asked = RanksOf(given.ranks);
  if (!asked)
    return FailUsage("collect", "--ranks " + given.ranks + ": expected odd, none, all, or ranks such as 0,12-15");
  return Collect(given, *asked);
}

}  // namespace memoir
