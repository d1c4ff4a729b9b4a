#include "tools/view/capture/capture_text.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "tools/model/import_source.h"
#include "tools/model/job.h"
#include "tools/model/repeated_step_counts.h"
#include "tools/model/snapshot_trigger.h"
#include "tools/view/capture/process_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/terminal/signal_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Collects warnings.
class LossLines {
 public:
  explicit LossLines(const Terminal& terminal) : terminal_(terminal) {}
  void Add(const std::string& line) {
    lines_.push_back("! " + line);
    lossless_ = false;
  }
  // Adds a line that is as important as a loss, although no event is missing.
  void AddLossless(const std::string& line) { lines_.push_back("! " + line); }
  bool lossless() const { return lossless_; }
  std::string Render(std::size_t most) const {
    std::string text;
    for (std::size_t i = 0; i < std::min(most, lines_.size()); ++i)
      text += Painted(terminal_, Color::kRed, Wrapped(lines_[i], terminal_.width, 2)) + "\n";
    if (lines_.size() > most) {
      const std::string more = FormatCounted(lines_.size() - most, "more such line", "more such lines");
      text += Painted(terminal_, Color::kRed, "! " + more + " (all: --json)") + "\n";
    }
    return text;
  }

 private:
  const Terminal& terminal_;
  std::vector<std::string> lines_;
  bool lossless_ = true;
};

void AddCounters(const std::string& who, const v1::Counters& counters, LossLines& lines) {
  // Records are dropped for two reasons, which have different remedies. The number of bytes covers both reasons.
  const std::uint64_t slotless = std::min(counters.slotless_records(), counters.dropped_records());
  const std::uint64_t full = counters.dropped_records() - slotless;
  const std::string bytes = fmt::format(" ({} of allocations)", FormatBytes(counters.dropped_allocated_bytes()));
  if (full > 0) {
    lines.Add(fmt::format(
        "{}: {} dropped{}: the ring was full (or ranges were nested deeper than 8,190); record again with a larger "
        "--ring-size",
        who, FormatCounted(full, "event", "events"), bytes));
  }
  if (slotless > 0) {
    lines.Add(fmt::format("{}: {} dropped{}: more than 2,048 threads ran at once; those beyond are not recorded", who,
                          FormatCounted(slotless, "event", "events"), full > 0 ? "" : bytes));
  }
  if (counters.lost_events() > 0) {
    lines.Add(fmt::format("{}: {} not written: {}", who,
                          FormatCounted(counters.lost_events(), "event was", "events were"),
                          Escaped(counters.last_write_error())));
  }
  if (counters.lost_events() == 0 && counters.lost_chunks() > 0) {
    lines.Add(fmt::format("{}: its newest part may be incomplete: {}", who, Escaped(counters.last_write_error())));
  }
  if (counters.untracked_blocks() > 0) {
    lines.Add(fmt::format("{}: {} missing from keyframes: too many were live at once", who,
                          FormatCounted(counters.untracked_blocks(), "block is", "blocks are")));
  }
  if (counters.unread_stacks() > 0) {
    lines.Add(fmt::format("{}: {} could not be read: their blocks have the line of the stack before", who,
                          FormatCounted(counters.unread_stacks(), "Python stack", "Python stacks")));
  }
  if (counters.cut_stacks() > 0) {
    lines.AddLossless(fmt::format("{}: {} deeper than 1,024 frames: the outermost frames are left out", who,
                                  FormatCounted(counters.cut_stacks(), "Python stack is", "Python stacks are")));
  }
  if (counters.deep_calls() > 0) {
    lines.AddLossless(fmt::format(
        "{}: {} not recorded: each is nested in 8,000 others", who,
        FormatCounted(counters.deep_calls(), "call of a Python function is", "calls of Python functions are")));
  }
}

void AddEnd(const std::string& who, const v1::End& end, bool is_whole, LossLines& lines) {
  switch (end.reason()) {
    case v1::End::MERGED:
      lines.AddLossless(who + ": " +
                        (end.signal() == 0 ? kEndedWithoutStopping : "killed by " + SignalText(end.signal())) +
                        (is_whole ? "; all events until then are in the capture" : ""));
      break;
    case v1::End::FAILED:
      lines.Add(who + ": the recording ended early: " + Escaped(end.message()));
      break;
    case v1::End::STOPPED:
      break;
    case v1::End::EXITED:
      if (!end.message().empty()) lines.AddLossless(who + ": ended by an uncaught " + Escaped(end.message()));
      break;
    default:
      lines.Add(who + ": no end is recorded (killed, or still running): its newest events may be missing");
  }
}

std::uint64_t Dropped(const ReplayReport& report) {
  std::uint64_t dropped = 0;
  for (const ReplayReport::Process& process : report.processes) {
    if (process.replayed) dropped += process.counters.dropped_records();
  }
  return dropped;
}

// Returns true if no event of the process is missing. A loss whose process is unknown counts for every process.
bool IsWhole(const ProcessSummary& process, const v1::Counters& counters, const ReplayReport& report) {
  return MissingParts(process, counters) == 0 && counters.dropped_records() == 0 && counters.lost_chunks() == 0 &&
         counters.lost_events() == 0 && report.lost_records <= Dropped(report) && report.lost_chunks == 0 &&
         report.damage.empty();
}

std::string EvictedLine(const std::string& who, const ReplayReport::Process& process) {
  const std::string parts = FormatCounted(process.counters.folded_parts(), "part", "parts");
  const std::string events = FormatCounted(process.counters.folded_events(), "event", "events");
  // Remaining parts can lie before and between the evicted spans.
  if (process.evicted.size() > 1 || (process.evicted.size() == 1 && !process.evicted_at_start)) {
    constexpr std::size_t kMostSpans = 3;
    std::string spans;
    for (std::size_t i = 0; i < std::min(kMostSpans, process.evicted.size()); ++i) {
      spans += fmt::format("{}{} to {}", i == 0 ? "" : ", ", FormatMoment(process.evicted[i].begin_ns),
                           FormatMoment(process.evicted[i].end_ns));
    }
    if (process.evicted.size() > kMostSpans)
      spans += fmt::format(" and {} times more", process.evicted.size() - kMostSpans);
    return fmt::format("{}: --max-size evicted {} ({}) and kept their sums: from {}", who, parts, events, spans);
  }
  std::string peaks;
  for (const auto& peak : process.evicted_peaks) {
    if (peak.bytes == 0) continue;
    peaks += fmt::format(", {} peak {} at {}", Escaped(peak.device), FormatBytes(peak.bytes), FormatMoment(peak.ns));
  }
  return fmt::format("{}: --max-size evicted its first {} ({}{}) and kept their sums", who, parts, events, peaks);
}

constexpr char kKnownInSnapshot[] =
    "in a snapshot, blocks of steps that were recorded without operators have no operator; for the recording itself, "
    "memoir show --at TIME infers it";

// Describes the spans that were recorded at `level`: the first few with their times, and the total length of all,
// because there may be thousands of spans.
std::string GapLine(const std::string& who, const ReplayReport::Process& process, v1::RecordingLevel level) {
  constexpr std::size_t kMostSpans = 3;
  std::string spans;
  std::size_t count = 0;
  std::uint64_t total_ns = 0;
  for (const auto& gap : process.gaps) {
    if (gap.level != level) continue;
    total_ns += gap.end_ns - gap.begin_ns;
    if (++count > kMostSpans) continue;
    spans += fmt::format("{}from {} to {}", count == 1 ? "" : ", ", FormatMoment(gap.begin_ns),
                         gap.ended ? FormatMoment(gap.end_ns) : "the end");
  }
  if (count == 0) return "";
  if (count > kMostSpans)
    spans += fmt::format(" and {} times more, {} in all", count - kMostSpans, FormatDuration(total_ns));
  if (level == v1::LEVEL_MEMORY) return who + ": only memory was recorded, no operators, " + spans;
  std::string line = who + ": recording was off " + spans;
  if (process.unknown_blocks > 0) {
    line += fmt::format("; {} in {} may have been freed meanwhile", FormatBytes(process.unknown_bytes),
                        FormatCounted(process.unknown_blocks, "block", "blocks"));
  }
  return line;
}

// Describes in how many steps operators were recorded. Printed for a recording with --detail auto, instead of the times
// without recorded operators.
std::string KnownStepsText(const RepeatedStepCounts& known) {
  constexpr char kNoSteps[] = "no steps were found (memoir.step(), optimizers, calls of a module): ";
  const std::string unknown = fmt::format("operators of {} in {} are not known", FormatBytes(known.unknown_bytes),
                                          FormatCounted(known.unknown_blocks, "block", "blocks"));
  if (known.steps == 0 && known.unknown_blocks > 0)
    return fmt::format("{}operators were not recorded throughout, and {}", kNoSteps, unknown);
  if (known.steps == 0) return fmt::format("{}operators were recorded throughout", kNoSteps);
  if (known.full_steps >= known.steps && known.unknown_blocks == 0)
    return fmt::format("no step was like those before: operators were recorded in all {}", known.steps);
  std::string text = fmt::format(
      "operators were recorded in {} of {} steps; in the others, operators of {} in {} are inferred", known.full_steps,
      known.steps, FormatBytes(known.inferred_bytes), FormatCounted(known.inferred_blocks, "block", "blocks"));
  return known.unknown_blocks > 0 ? text + ", and " + unknown : text;
}

}  // namespace

std::uint64_t MissingParts(const ProcessSummary& process, const v1::Counters& counters) {
  return process.missing_parts - std::min(process.missing_parts, counters.folded_parts());
}

std::string SimulatedDeviceText(const Capture& capture) {
  for (const ProcessSummary& process : capture.processes()) {
    const std::string& device = process.info.simulated_device();
    if (!device.empty()) return "on a SIMULATED GPU: " + Escaped(device);
  }
  return "";
}

std::string RenderProgram(const Capture& capture, const Terminal& terminal) {
  const v1::ProcessInfo& info = capture.processes().front().info;
  const std::string program = info.program().empty() ? "(unnamed program)" : Escaped(info.program());
  std::string line = program;
  if (!info.torch_version().empty()) line += ", torch " + Escaped(info.torch_version());
  if (!info.python_version().empty()) line += ", python " + Escaped(info.python_version());
  if (const std::string simulated = SimulatedDeviceText(capture); !simulated.empty()) line += ", " + simulated;
  const Job job = DescribeJob(capture);
  const bool alone = job.processes <= 1;
  const std::string where = RenderProcesses(capture);
  line = Wrapped(alone ? line + ", " + where : line, terminal.width, 0) + "\n";
  // The name is painted after the line is wrapped, because colour codes would count as columns. A name that contains a
  // line break stays plain.
  if (line.starts_with(program)) line = Painted(terminal, Color::kBold, program) + line.substr(program.size());
  if (alone) return line;
  const bool whole = std::ranges::all_of(
      job.attempts, [](const JobAttempt& attempt) { return attempt.missing.empty() && attempt.twice.empty(); });
  const std::string wrapped = Wrapped(where, terminal.width, 0);
  return line + (whole ? wrapped : Painted(terminal, Color::kRed, wrapped)) + "\n";
}

std::string DeviceLabel(const Capture& capture, const std::string& device, ProcessId process) {
  if (DescribeJob(capture).processes <= 1) return Escaped(device);
  return ProcessLabel(capture, process) + " " + Escaped(device);
}

std::string RecordingWasOff(const ReplayReport& report) {
  std::uint64_t ns = 0;
  const ReplayReport::Process::Gap* open = nullptr;
  for (const ReplayReport::Process& process : report.processes) {
    for (const ReplayReport::Process::Gap& gap : process.gaps) {
      if (gap.level != v1::LEVEL_OFF) continue;
      ns += gap.end_ns - gap.begin_ns;
      if (!gap.ended) open = &gap;
    }
  }
  if (open != nullptr) return "recording was off from " + FormatMoment(open->begin_ns) + " to the end";
  return ns == 0 ? "" : "recording was off for " + FormatDuration(ns);
}

namespace {

void AddHistory(const ProcessSummary& process, LossLines& lines) {
  if (HasNoHistory(process)) {
    lines.AddLossless(
        "no history: torch.cuda.memory._record_memory_history() was not on; only what was live at the dump is known");
  }
  if (HasCutHistory(process) && ImportSourceOf(process) == ImportSource::kTrace) {
    lines.AddLossless("the trace begins with memory in use: who allocated it, and a peak before, is not known");
  } else if (HasCutHistory(process)) {
    lines.AddLossless(
        "the history begins with memory in use: it was switched on late, or older entries were overwritten "
        "(max_entries); a peak before it is not known");
  }
}

constexpr char kNotInSnapshots[] =
    "not in a memory snapshot: modules, tensors and their categories, host memory, what came before its history, and "
    "without stacks=\"all\" operators; memoir run records them (docs/imports.md)";

constexpr char kNotInTraces[] =
    "not in a trace of torch.profiler: tensors and their categories, requested sizes, active bytes, segments and "
    "what of them cannot be used, host memory past PyTorch, and without with_stack=True modules and lines of Python; "
    "memoir run records them (docs/imports.md)";

}  // namespace

Losses LossesOf(const Capture& capture, const ReplayReport& report, const Terminal& terminal) {
  constexpr std::size_t kMostLines = 8;
  LossLines lines(terminal);
  std::string notes;  // remarks that are not warnings
  const auto add_note = [&](const std::string& note) {
    if (!note.empty()) notes += Wrapped(note, terminal.width, 2) + "\n";
  };
  for (const ProcessSummary& process : capture.processes()) {
    const std::string who = ProcessName(capture, process.id);
    const ReplayReport::Process& end = report.processes[process.id.value];
    if (!end.replayed) continue;
    AddHistory(process, lines);
    if (const std::uint64_t missing = MissingParts(process, end.counters); missing > 0) {
      lines.Add(who + ": " + FormatCounted(missing, "part is", "parts are") +
                " missing: removed, or not copied with the others");
    }
    AddCounters(who, end.counters, lines);
    for (const std::string& line : UnrecordedLines(end)) lines.Add(who + ": " + line);
    if (!IsIdle(capture, process.id)) AddEnd(who, end.end, IsWhole(process, end.counters, report), lines);
    add_note(GapLine(who, end, v1::LEVEL_OFF));
    if (HasRepeatedSteps(process.info)) {
      const std::string known =
          SnapshotTrigger(process).empty() ? KnownStepsText(end.repeated_steps) : kKnownInSnapshot;
      add_note(who + ": --detail auto: " + known);
    } else {
      add_note(GapLine(who, end, v1::LEVEL_MEMORY));
    }
    if (end.counters.folded_events() > 0) add_note(EvictedLine(who, end));
  }
  if (const std::uint64_t dropped = Dropped(report); report.lost_records > dropped) {
    lines.Add(fmt::format("{} missing in the parts",
                          FormatCounted(report.lost_records - dropped, "record is", "records are")));
  }
  if (report.repeated_records > 0) {
    lines.Add(fmt::format("{} in the parts twice: sums may be too large",
                          FormatCounted(report.repeated_records, "record is", "records are")));
  }
  if (report.lost_chunks > 0) {
    lines.Add(fmt::format("{} missing: never written (a full disk), or in a missing part",
                          FormatCounted(report.lost_chunks, "chunk is", "chunks are")));
  }
  for (const Damage& damage : report.damage) lines.Add("damaged: " + Escaped(ToString(damage)));
  if (report.keyframe_mismatches > 0) {
    lines.Add(fmt::format("sums of the events differ from the recorder's at {}",
                          FormatCounted(report.keyframe_mismatches, "keyframe", "keyframes")));
  }
  if (report.statistics_mismatches > 0) {
    lines.Add(fmt::format("sums of the events differ from the CUDA allocator's statistics, {}",
                          FormatCounted(report.statistics_mismatches, "time", "times")));
  }
  if (const std::string conflict = RenderRankConflicts(capture, report); !conflict.empty()) lines.AddLossless(conflict);
  add_note(RenderForkedChildren(capture, report));
  const bool is_lossy = !lines.lossless();
  std::string closing = is_lossy ? "" : kNothingLost;
  if (const ImportSource import = ImportSourceOf(capture); import != ImportSource::kNone)
    closing = Wrapped(import == ImportSource::kTrace ? kNotInTraces : kNotInSnapshots, terminal.width, 2) + "\n";
  return {notes, lines.Render(kMostLines), closing, is_lossy};
}

std::string RenderLosses(const Capture& capture, const ReplayReport& report, const Terminal& terminal) {
  const Losses losses = LossesOf(capture, report, terminal);
  return losses.notes + losses.lines + losses.closing;
}

}  // namespace memoir
