// memoir export: a capture in other forms: events as JSON lines, the file of torch's MemoryTracker, and what
// torch.profiler's memory profiler says.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "tools/analyze/pass/event_stream.h"
#include "tools/analyze/pass/steps.h"
#include "tools/analyze/torch_profiler/memory_tracker.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/show/export_categories.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/progress.h"
#include "tools/view/events/event_json.h"
#include "tools/view/torch_profiler/memory_tracker_pickle.h"

namespace memoir {
namespace {

const VerbHelp kHelp = {
    .verb = "export",
    .usage = "export [OPTIONS] WHAT CAPTURE",
    .description =
        "Write a capture as a file for other programs. WHAT is one of these.\n"
        "events: JSON lines, one event a line (docs/json.md).\n"
        "memory-tracker: the file that torch's MemoryTracker loads; needs a recording with --ops dispatch "
        "(docs/memory_tracker.md).\n"
        "categories: every block with its life and category, as JSON (--rules torch: torch.profiler's categories).\n"
        "data-flow: which versions of which tensors each operator takes, makes and frees. Text, or JSON or Graphviz "
        "where the name of the output ends in .json or .dot.\n"
        "memory-timeline: the files of torch.profiler's export_memory_timeline (docs/categories.md).",
    .examples =
        "  memoir export events run7 | grep '\"event\":\"allocate\"' | head\n"
        "  memoir export memory-timeline --device cuda:0 run7 -o run7.json.gz\n",
};

struct ExportArguments : SelectionArguments {
  std::string what;
  std::string capture;
  std::string output;
  std::string root;
  std::string tracker;
  std::string rules;
};

const std::vector<std::string> kKnown = {"events", "memory-tracker", "categories", "data-flow", "memory-timeline"};

void AddOptions(CLI::App& app, ExportArguments& arguments) {
  app.add_option("WHAT", arguments.what, "events, memory-tracker, categories, data-flow or memory-timeline");
  app.add_option("CAPTURE", arguments.capture, "folder of the capture");
  app.add_option("-o,--output", arguments.output, "file to write [standard output]");
  app.add_option("--range", arguments.range, "only inside the user ranges NAME; NAME#n: only its n-th call, from 0");
  app.add_option("--steps", arguments.steps, kStepsHelp);
  app.add_flag("--forget-before", arguments.forget_before,
               "categories, data-flow, memory-timeline: as if recording had begun with the window");
  app.add_option("--rules", arguments.rules,
                 "categories: by the rules of memoir, or of torch (torch.profiler) [memoir]");
  app.add_option("--device", arguments.device, "only this device: cpu, pinned, cuda:0");
  AddNumber(app, "--rank", arguments.rank, "only this rank");
  app.add_option("--root", arguments.root,
                 "memory-tracker: the model that it watches, such as Net, or a part of one, Net.encoder [the model of "
                 "which most modules were called]");
  app.add_option("--tracker", arguments.tracker,
                 "memory-tracker: the rows that the memoir.MemoryTracker of this name watched");
}

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdout) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string FixFor(int error) {
  switch (error) {
    case ENOENT:
      return "; make its folder first";
    case EISDIR:
      return "; name a file in it";
    case ENOSPC:
    case EDQUOT:
      return "; make room there, or write to another place";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; choose a place where you may write";
    default:
      return "";
  }
}

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::UnavailableError("cannot write " + path + ": " + std::strerror(error) + FixFor(error));
}

// Where an export goes. Opened with the first byte, so that an export that fails before leaves no file.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path) {}

  void Write(std::string_view bytes) {
    if (error_ != 0 || !Open()) return;
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) error_ = errno;
  }
  absl::Status Finish() {
    if (error_ == 0 && Open() && std::fflush(file_.get()) != 0) error_ = errno;
    return error_ == 0 ? absl::OkStatus() : CannotWrite(ToStdout() ? "standard output" : path_, error_);
  }

 private:
  bool ToStdout() const { return path_.empty() || path_ == "-"; }
  bool Open() {
    if (file_ != nullptr) return true;
    file_.reset(ToStdout() ? stdout : std::fopen(path_.c_str(), "wb"));
    if (file_ == nullptr) error_ = errno;
    return file_ != nullptr;
  }

  const std::string& path_;
  File file_;
  int error_ = 0;  // errno of the first call that failed
};

absl::Status Finish(Output& output, const ReplayReport& report) {
  const absl::Status written = output.Finish();
  if (!written.ok()) return written;
  for (const Damage& damage : report.damage) Say("damaged: " + ToString(damage));
  return absl::OkStatus();
}

absl::Status ExportEvents(const Capture& capture, const Selection& selection, Output& output) {
  EventJsonWriter writer(capture, [&](std::string_view lines) { output.Write(lines); });
  EventStreamOptions options;
  static_cast<Selection&>(options) = selection;
  const auto report = StreamEvents(capture, options, writer);
  if (!report.ok()) return report.status();
  writer.Flush();
  return Finish(output, *report);
}

// Where the caller left it open, and where it cannot be all.
void SayWhatWasChosen(const MemoryTrackerStats& stats, const ExportArguments& arguments) {
  if (arguments.root.empty() && !stats.other_roots.empty())
    Say("watching " + stats.root + "; --root takes another one: " + absl::StrJoin(stats.other_roots, ", "));
  if (!stats.other_devices.empty())
    Say("memory of " + stats.device + "; --device takes another one: " + absl::StrJoin(stats.other_devices, ", "));
  if (stats.other_processes > 0)
    Say("of the first of " + std::to_string(stats.other_processes + 1) + " processes with a GPU; --rank takes another");
  if (!stats.complete) Say("events are missing from the capture (memoir show says which), so rows may be, too");
}

absl::Status ExportMemoryTracker(const Capture& capture, const ExportArguments& arguments, const Selection& selection,
                                 Output& output) {
  MemoryTrackerOptions options;
  static_cast<Selection&>(options) = selection;
  options.root = arguments.root;
  options.tracker = arguments.tracker;
  const auto stats = AnalyzeMemoryTracker(capture, options);
  if (!stats.ok()) return stats.status();
  SayWhatWasChosen(*stats, arguments);
  WriteMemoryTrackerPickle(*stats, [&](std::string_view bytes) { output.Write(bytes); });
  return Finish(output, stats->report);
}

CategoryExport CategoryExportOf(const ExportArguments& arguments) {
  return {arguments.what, arguments.rules, arguments.output, arguments.forget_before};
}

absl::Status Export(const ExportArguments& arguments) {
  const auto capture = OpenMerged(arguments.capture, [](const std::string& line) { Say(line); });
  if (!capture.ok()) return capture.status();
  Output output(arguments.output);
  Progress progress("exporting");
  Selection selection = SelectionOf(arguments);
  selection.progress = progress.callback();
  if (const absl::Status status = FindSteps(*capture, selection); !status.ok()) return status;
  if (arguments.what == "events") return ExportEvents(*capture, selection, output);
  if (IsCategoryExport(arguments.what)) {
    const auto report = ExportCategories(*capture, CategoryExportOf(arguments), selection,
                                         [&](std::string_view bytes) { output.Write(bytes); });
    return report.ok() ? Finish(output, *report) : report.status();
  }
  return ExportMemoryTracker(*capture, arguments, selection, output);
}

std::string Complaint(const ExportArguments& arguments) {
  const std::string& what = arguments.what;
  if (what.empty()) return "what to export? memoir export events CAPTURE, or memoir export memory-tracker CAPTURE";
  if (std::ranges::find(kKnown, what) == kKnown.end())
    return "cannot export '" + what + "', only " + absl::StrJoin(kKnown, ", ") + DidYouMean(what, kKnown);
  if (arguments.capture.empty()) return "no capture given: memoir export " + what + " CAPTURE";
  if (const std::string wrong = WindowComplaint(arguments); !wrong.empty()) return wrong;
  if (what == "memory-tracker" && (arguments.output.empty() || arguments.output == "-") && isatty(STDOUT_FILENO) == 1)
    return "a pickle is nothing for a terminal: -o FILE";
  if (what != "memory-tracker" && !(arguments.root + arguments.tracker).empty())
    return "--root and --tracker are of memory-tracker";
  if (arguments.forget_before && !IsCategoryExport(what))
    return "--forget-before is of categories, data-flow and memory-timeline";
  if (const std::string wrong = ComplaintAbout(CategoryExportOf(arguments)); !wrong.empty()) return wrong;
  return "";
}

}  // namespace

int ExportVerb(const std::vector<std::string>& arguments) {
  const auto app = MakeArguments(kHelp);
  ExportArguments asked;
  AddOptions(*app, asked);
  if (const auto code = ParseArguments(*app, "export", arguments)) return *code;
  if (const std::string complaint = Complaint(asked); !complaint.empty()) return FailUsage("export", complaint);
  const absl::Status status = Export(asked);
  return status.ok() ? kExitFine : Fail(status);
}

}  // namespace memoir
