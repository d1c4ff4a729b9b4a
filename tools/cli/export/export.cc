// memoir export: converts a capture to another program's format. Each format has its own file, export_*.cc.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "tools/analyze/pass/event_stream.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/analyze/torch_profiler/memory_tracker.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/export/export_categories.h"
#include "tools/cli/export/export_flame.h"
#include "tools/cli/export/export_snapshot.h"
#include "tools/cli/export/export_trace.h"
#include "tools/cli/export/export_tree.h"
#include "tools/cli/output/output_file.h"
#include "tools/cli/redact/export_redacted.h"
#include "tools/cli/tables/export_sqlite.h"
#include "tools/cli/tables/export_table_files.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/view/events/event_json.h"
#include "tools/view/terminal/units.h"
#include "tools/view/torch_profiler/memory_tracker_pickle.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "export",
    .usage = "export [OPTIONS] WHAT CAPTURE",
    .description =
        "Write a capture as a file for other programs. WHAT is one of these.\n"
        "events: JSON lines, one event a line (docs/json.md).\n"
        "memory-tracker: the file that torch's MemoryTracker loads; needs a recording with --ops dispatch "
        "(docs/exports.md).\n"
        "categories: every block with its life and category, as JSON (--rules torch: torch.profiler's categories).\n"
        "data-flow: which versions of which tensors each operator takes, makes and frees. Text, or JSON or Graphviz "
        "where the name of the output ends in .json or .dot.\n"
        "tree: ranges, calls of modules and what happened to memory, as they stand in each other: JSON lines, one node "
        "a "
        "line, or --format torch (docs/tree.md).\n"
        "memory-timeline: the files of torch.profiler's export_memory_timeline (docs/categories.md).\n"
        "collapsed, speedscope, pprof: who allocates, as stacks of Python callers or of modules, for viewers of flame "
        "graphs (docs/exports.md).\n"
        "torch-snapshot: the pickle of torch.cuda.memory._dump_snapshot, for pytorch.org/memory_viz "
        "(docs/exports.md).\n"
        "perfetto, chrome: ranges and modules of each thread, bytes of each device, for ui.perfetto.dev "
        "(docs/exports.md).\n"
        "sqlite: a database of ranks, modules, steps, operators, blocks, events, calls and a summary "
        "(docs/exports.md).\n"
        "arrow, parquet: the same tables, each as a file, for pandas, polars, DuckDB and pyarrow; parquet of a job of "
        "several ranks is partitioned by rank, for memoir query and Spark (docs/exports.md).\n"
        "redacted: a capture again, with names, paths and hosts as hashes of a secret key, to be handed on; every verb "
        "gives the same numbers (docs/security.md).",
    .examples =
        "  memoir export events run7 | grep '\"event\":\"allocate\"' | head\n"
        "  memoir export parquet --tables blocks run7 -o blocks.parquet\n",
};

struct ExportArguments : SelectionArguments {
  std::string what;
  std::string capture;
  std::string output;
  std::string root;
  std::string tracker;
  std::string rules;
  std::string merge;
  std::string tables;
  std::string key;
  TreeExport tree;
  FlameExport flame;
  bool force = false;
};

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const std::vector<std::string> kKnown = {
    "events", "memory-tracker", "categories", "data-flow", "memory-timeline", "tree",  "collapsed", "speedscope",
    "pprof",  "torch-snapshot", "perfetto",   "chrome",    "sqlite",          "arrow", "parquet",   "redacted"};

void AddOptions(CLI::App& app, ExportArguments& arguments) {
  app.add_option("WHAT", arguments.what, absl::StrJoin(kKnown, ", "));
  app.add_option("CAPTURE", arguments.capture, kCaptureHelp);
  app.add_option("-o,--output", arguments.output, "file to write, or folder of several tables [standard output]");
  app.add_option("--range", arguments.range, "only inside the user ranges NAME; NAME#n: only its n-th call, from 0");
  app.add_option("--steps", arguments.steps, kStepsHelp);
  app.add_flag("--forget-before", arguments.forget_before,
               "categories, data-flow, memory-timeline: as if recording had begun with the window");
  app.add_option("--rules", arguments.rules,
                 "categories: by the rules of memoir, or of torch (torch.profiler) [memoir]");
  app.add_option("--device", arguments.device, "only this device: cpu, pinned, cuda:0");
  AddNumber(app, "--rank", arguments.rank, "only this rank");
  AddRunOption(app, arguments.run);
  app.add_option("--root", arguments.root,
                 "memory-tracker: the model that it watches, such as Net, or a part of one, Net.encoder [the model of "
                 "which most modules were called]");
  app.add_flag("--force", arguments.force,
               "events, tree, perfetto, chrome: write the file also if it would have thousands of times as many events "
               "as were recorded");
  app.add_option("--format", arguments.tree.format,
                 "tree: json, or torch: the text that ProfilerTree.format of PyTorch's tests prints [json]");
  app.add_flag("--no-memory", arguments.tree.no_memory, "tree: leave out the changes of memory");
  AddTimeOptions(app, arguments, "all but torch-snapshot");
  AddBlockOptions(app, arguments, "all but memory-tracker and memory-timeline (docs/exports.md describes each)");
  app.add_option("--tables", arguments.tables,
                 "arrow, parquet: only these, such as events,blocks: " + TableNames() + " [all]");
  app.add_option("--thread", arguments.tree.thread, "tree, perfetto, chrome: only this thread, by its number or name");
  app.add_option(
      "--merge", arguments.merge,
      "chrome: add the capture to this trace of torch.profiler (.json, .json.gz) of the same run, limited to "
      "the trace's time unless --steps, --range, --from or --to is given");
  app.add_option("--tracker", arguments.tracker,
                 "memory-tracker: the rows that the memoir.MemoryTracker of this name watched");
  app.add_option("--key", arguments.key,
                 "redacted: file of the key, made if it does not exist [~/.config/memoir/redact.key]");
  AddFlameOptions(app, arguments.flame);
}

// The file, or standard output, to which an export is written.
class Output {
 public:
  explicit Output(const std::string& path) : file_(path) {}

  void Write(std::string_view bytes) {
    is_full_ |= most_bytes_ != 0 && file_.bytes() + bytes.size() > most_bytes_;
    if (!is_full_) file_.Write(bytes);
  }
  // Limits the file to this many bytes; 0: no limit. If the limit is exceeded, the export stops and leaves no file.
  void set_most_bytes(std::uint64_t bytes) { most_bytes_ = bytes; }
  bool is_full() const { return is_full_; }
  absl::Status Finish() { return file_.Finish(); }

 private:
  OutputFile file_;
  std::uint64_t most_bytes_ = 0;
  bool is_full_ = false;
};

void PrintDamage(const ReplayReport& report) {
  for (const Damage& damage : report.damage) PrintMessage("damaged: " + ToString(damage));
}

// Reports damage and lost events. Used for exports of tables, because tables do not contain this information.
void SayLosses(const ReplayReport& report) {
  PrintDamage(report);
  std::uint64_t missing = report.lost_records + report.lost_chunks;
  for (const ReplayReport::Process& process : report.processes) {
    if (process.replayed) missing += process.counters.dropped_records();
  }
  if (missing > 0) PrintMessage("events are missing from the capture, and so from the tables; memoir show lists them");
}

absl::Status Finish(Output& output, const ReplayReport& report) {
  const absl::Status written = output.Finish();
  if (!written.ok()) return written;
  PrintDamage(report);
  return absl::OkStatus();
}

// The most bytes of JSON that are written for each byte of the capture. Complete captures need several hundred. In a
// damaged capture, one byte may cause pages of output.
constexpr std::uint64_t kMostJsonPerByte = 4096;
constexpr std::uint64_t kLeastBound = std::uint64_t{64} << 20;

std::uint64_t MostEventBytes(const Capture& capture) {
  std::uint64_t bytes = 0;
  for (const ProcessSummary& process : capture.processes()) bytes += process.file_bytes;
  return kLeastBound + kMostJsonPerByte * bytes;
}

absl::Status TooMuch(const Capture& capture, std::uint64_t most) {
  return absl::ResourceExhaustedError(
      capture.path() + ": its events take more than " + FormatBytes(most) +
      ", thousands of times what was recorded: it is damaged, or repeats itself; --force writes them all");
}

absl::Status ExportEvents(const Capture& capture, bool force, const Selection& selection, Output& output) {
  const std::uint64_t most = force ? 0 : MostEventBytes(capture);
  output.set_most_bytes(most);
  EventJsonWriter writer(capture, [&](std::string_view lines) { output.Write(lines); });
  EventStreamOptions options;
  static_cast<Selection&>(options) = selection;
  options.go_on = [&output] { return !output.is_full(); };
  const auto report = StreamEvents(capture, options, writer);
  if (!report.ok()) return report.status();
  writer.Flush();
  if (output.is_full()) return TooMuch(capture, most);
  return Finish(output, *report);
}

absl::Status ExportNodes(const Capture& capture, const ExportArguments& arguments, const Selection& selection,
                         Output& output) {
  const std::uint64_t most = arguments.force ? 0 : MostEventBytes(capture);
  output.set_most_bytes(most);
  const auto go_on = [&output] { return !output.is_full(); };
  const auto write = [&output](std::string_view bytes) { output.Write(bytes); };
  TreeExport asked = arguments.tree;
  asked.go_on = go_on;
  const bool is_trace = IsTraceExport(arguments.what);
  const auto report =
      is_trace ? ExportTrace(capture, {arguments.what, asked.thread, arguments.merge, go_on}, selection, write)
               : ExportTree(capture, asked, selection, write);
  if (!report.ok()) return report.status();
  if (output.is_full()) return TooMuch(capture, most);
  return Finish(output, *report);
}

// Prints which module, device and process were chosen, if the capture has others and the user did not choose.
void PrintChoice(const MemoryTrackerStats& stats, const ExportArguments& arguments) {
  if (arguments.root.empty() && !stats.other_roots.empty())
    PrintMessage("watching " + stats.root + "; --root takes another one: " + absl::StrJoin(stats.other_roots, ", "));
  if (!stats.other_devices.empty())
    PrintMessage("memory of " + stats.device +
                 "; --device takes another one: " + absl::StrJoin(stats.other_devices, ", "));
  if (stats.other_processes > 0)
    PrintMessage("of the first of " + std::to_string(stats.other_processes + 1) +
                 " processes with a GPU; --rank takes another");
  if (!stats.complete)
    PrintMessage("events are missing from the capture (memoir show lists them), so rows may be, too");
}

absl::Status ExportMemoryTracker(const Capture& capture, const ExportArguments& arguments, const Selection& selection,
                                 Output& output) {
  MemoryTrackerOptions options;
  static_cast<Selection&>(options) = selection;
  options.root = arguments.root;
  options.tracker = arguments.tracker;
  const auto stats = AnalyzeMemoryTracker(capture, options);
  if (!stats.ok()) return stats.status();
  PrintChoice(*stats, arguments);
  WriteMemoryTrackerPickle(*stats, [&](std::string_view bytes) { output.Write(bytes); });
  return Finish(output, stats->report);
}

// Returns the tables to export. `arguments` must be valid.
TableSet TablesOf(const ExportArguments& arguments) {
  return arguments.tables.empty() ? TableSet::All() : TableSet::Parse(arguments.tables).value_or(TableSet());
}

bool HasNodes(std::string_view what) { return what == "tree" || IsTraceExport(what); }

RedactedExport RedactedExportOf(const ExportArguments& arguments) {
  return {arguments.capture, arguments.output, arguments.key};
}

CategoryExport CategoryExportOf(const ExportArguments& arguments) {
  return {arguments.what, arguments.rules, arguments.output, arguments.forget_before};
}

absl::Status Export(const ExportArguments& arguments) {
  if (arguments.what == "redacted") return ExportRedacted(RedactedExportOf(arguments));
  const auto capture =
      OpenMerged(arguments.capture, [](const std::string& line) { PrintMessage(line); }, RunOf(arguments.run));
  if (!capture.ok()) return capture.status();
  ProgressLine progress("exporting");
  Selection selection = SelectionOf(arguments);
  selection.progress = progress.callback();
  if (const absl::Status status = FindSteps(*capture, selection); !status.ok()) return status;
  if (arguments.what == "sqlite") {
    const auto report = ExportSqlite(*capture, selection, arguments.output);
    if (report.ok()) SayLosses(*report);
    return report.status();
  }
  if (IsTableFiles(arguments.what)) {
    const auto report = ExportTableFiles(*capture, arguments.what, selection, TablesOf(arguments), arguments.output);
    if (report.ok()) SayLosses(*report);
    return report.status();
  }
  Output output(arguments.output);
  if (arguments.what == "events") return ExportEvents(*capture, arguments.force, selection, output);
  const auto write = [&](std::string_view bytes) { output.Write(bytes); };
  if (HasNodes(arguments.what)) return ExportNodes(*capture, arguments, selection, output);
  if (IsFlameExport(arguments.what)) {
    const auto report = ExportFlame(*capture, arguments.what, arguments.flame, selection, write);
    return report.ok() ? Finish(output, *report) : report.status();
  }
  if (arguments.what == "torch-snapshot") {
    const auto report = ExportSnapshot(*capture, selection, write);
    return report.ok() ? Finish(output, *report) : report.status();
  }
  if (IsCategoryExport(arguments.what)) {
    const auto report = ExportCategories(*capture, CategoryExportOf(arguments), selection, write);
    return report.ok() ? Finish(output, *report) : report.status();
  }
  return ExportMemoryTracker(*capture, arguments, selection, output);
}

bool IsBinary(std::string_view what) {
  return what == "memory-tracker" || what == "pprof" || what == "torch-snapshot" || what == "perfetto" ||
         IsTableFiles(what);
}

std::string ComplaintAboutTables(const ExportArguments& arguments) {
  if (!IsTableFiles(arguments.what))
    return arguments.tables.empty() ? "" : "--tables works only with arrow and parquet";
  if (!arguments.tables.empty() && !TableSet::Parse(arguments.tables))
    return "--tables " + arguments.tables + ": tables are " + TableNames() + ", with commas between them";
  if (TablesOf(arguments).size() > 1 && (arguments.output.empty() || arguments.output == "-"))
    return "several tables go into a folder: add -o FOLDER, or name one with --tables";
  return "";
}

// Returns an error message if `arguments` select blocks although this export cannot select blocks. Otherwise empty.
std::string ComplaintAboutBlocks(const ExportArguments& arguments) {
  const std::string& what = arguments.what;
  if (!arguments.chooses_blocks()) return "";
  if (what == "memory-tracker")
    return "--module and --min-size do not work with memory-tracker, which shows the allocator's totals; --root "
           "chooses a part of the model";
  if (what == "memory-timeline" || arguments.rules == "torch")
    return "--module and --min-size do not work with torch's rules, whose categories follow from all blocks together; "
           "use export categories";
  if (what == "tree" && arguments.tree.format == "torch")
    return "--module and --min-size work only with --format json: --format torch prints what torch.profiler would";
  const TableSet tables = TablesOf(arguments);
  const bool has_blocks = tables.has(CaptureTable::kBlocks) || tables.has(CaptureTable::kEvents) ||
                          tables.has(CaptureTable::kOperators) || tables.has(CaptureTable::kSummary);
  if (IsTableFiles(what) && !has_blocks)
    return "--module and --min-size work only with the tables blocks, events, operators and summary: add one of them "
           "to --tables";
  return "";
}

bool ChoosesPart(const ExportArguments& arguments) {
  return arguments.chooses_blocks() || arguments.rank || arguments.run != "last" ||
         !(arguments.range + arguments.steps + arguments.device + arguments.from + arguments.to).empty();
}

std::string Complaint(const ExportArguments& arguments) {
  const std::string& what = arguments.what;
  if (what.empty()) return "nothing to export: memoir export events CAPTURE, or memoir export memory-tracker CAPTURE";
  if (std::ranges::find(kKnown, what) == kKnown.end())
    return "cannot export '" + what + "', only " + absl::StrJoin(kKnown, ", ") + DidYouMean(what, kKnown);
  if (arguments.capture.empty()) return "no capture given: memoir export " + what + " CAPTURE";
  if (const std::string wrong = WindowComplaint(arguments); !wrong.empty()) return wrong;
  if (what != "redacted" && !arguments.key.empty()) return "--key works only with redacted";
  if (what == "redacted" && ChoosesPart(arguments))
    return "a redacted capture is the whole one: it takes -o and --key alone";
  if (what == "redacted") return ComplaintAbout(RedactedExportOf(arguments));
  if (what == "sqlite" && (arguments.output.empty() || arguments.output == "-"))
    return "a database goes into a file: add -o FILE";
  if (const std::string wrong = ComplaintAboutTables(arguments); !wrong.empty()) return wrong;
  if (IsBinary(what) && (arguments.output.empty() || arguments.output == "-") && isatty(STDOUT_FILENO) == 1)
    return what + " is no text and cannot be written to a terminal: add -o FILE";
  if (arguments.force && what != "events" && !HasNodes(what))
    return "--force works only with events, tree, perfetto and chrome";
  if (what != "memory-tracker" && !(arguments.root + arguments.tracker).empty())
    return "--root and --tracker work only with memory-tracker";
  if (what != "chrome" && !arguments.merge.empty()) return "--merge works only with chrome";
  std::error_code none;
  if (!arguments.merge.empty() && std::filesystem::equivalent(arguments.merge, arguments.output, none))
    return "-o " + arguments.output + " is the trace to merge: give another file";
  if (arguments.forget_before && !IsCategoryExport(what))
    return "--forget-before works only with categories, data-flow and memory-timeline";
  if (const std::string wrong = ComplaintAbout(CategoryExportOf(arguments)); !wrong.empty()) return wrong;
  if (what == "torch-snapshot" && !(arguments.range + arguments.steps + arguments.from + arguments.to).empty())
    return "torch-snapshot exports a whole recording; leave out --range, --steps, --from and --to";
  if (const std::string wrong = ComplaintAboutBlocks(arguments); !wrong.empty()) return wrong;
  if (const std::string wrong = ComplaintAbout(arguments.tree, what); !wrong.empty()) return wrong;
  return ComplaintAbout(arguments.flame, what);
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
