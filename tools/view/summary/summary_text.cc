#include "tools/view/summary/summary_text.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/summary/device_focus.h"
#include "tools/model/import_source.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/device_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/capture/module_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/checkpointing/checkpoint_view.h"
#include "tools/view/oom/out_of_memory_text.h"
#include "tools/view/summary/ending_text.h"
#include "tools/view/summary/parameter_text.h"
#include "tools/view/summary/steps_text.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// One row of a table, or the sum of the rows that are not shown.
struct Line {
  std::string name;
  std::uint64_t count = 0;
  SummaryColumns columns;
};

constexpr std::size_t kNameInLine = 40;

using Measure = std::function<std::uint64_t(const SummaryColumns&)>;
std::uint64_t Allocated(const SummaryColumns& columns) { return columns.allocated_bytes; }
std::uint64_t Kept(const SummaryColumns& columns) { return columns.net_bytes; }
std::uint64_t AtPeak(const SummaryColumns& columns) { return columns.bytes_at_peak; }
// Returns 0 if the columns have no bytes. Allocated bytes alone would not show blocks from before a window.
std::uint64_t AnyBytes(const SummaryColumns& columns) {
  return columns.allocated_bytes | columns.net_bytes | columns.bytes_at_peak;
}

Line SumOfLines(std::span<const Line> lines, const GroupingFacts& names) {
  Line rest{fmt::format("other ({} {})", FormatCount(lines.size()), lines.size() == 1 ? names.one : names.many), 0, {}};
  for (const Line& line : lines) {
    rest.count += line.count;
    rest.columns += line.columns;
  }
  return rest;
}

// Returns the `top` largest rows by `measure`, and one row for the rest. Equal rows keep their order.
std::vector<Line> TopLines(std::vector<Line> lines, std::size_t top, const Measure& measure,
                           const GroupingFacts& names) {
  std::ranges::stable_sort(lines,
                           [&](const Line& a, const Line& b) { return measure(a.columns) > measure(b.columns); });
  // If only one row is left, it is kept, because a row for the rest would take as much room.
  if (top == 0 || lines.size() <= top + 1) return lines;
  Line rest = SumOfLines(std::span(lines).subspan(top), names);
  lines.resize(top);
  lines.push_back(std::move(rest));
  return lines;
}

// Like TopLines() by allocated bytes, but all rows without bytes are part of the rest, so that the calls add up.
std::vector<Line> TopAllocating(std::vector<Line> lines, std::size_t top, const GroupingFacts& names) {
  std::ranges::stable_sort(lines,
                           [](const Line& a, const Line& b) { return Allocated(a.columns) > Allocated(b.columns); });
  std::erase_if(lines, [](const Line& line) { return AnyBytes(line.columns) == 0 && line.count == 0; });
  const auto quiet = std::ranges::stable_partition(lines, [](const Line& line) { return AnyBytes(line.columns) != 0; });
  std::size_t shown = lines.size() - quiet.size();
  if (top != 0 && lines.size() > top + 1) shown = std::min(shown, top);
  if (shown == lines.size()) return lines;
  Line rest = SumOfLines(std::span(lines).subspan(shown), names);
  lines.resize(shown);
  lines.push_back(std::move(rest));
  return lines;
}

std::vector<Line> AllLines(const Summary& summary) {
  std::vector<Line> lines;
  for (const SummaryRow& row : summary.rows) lines.push_back({ShownName(row.name), row.count, row.total});
  return lines;
}

// Leaves out rows with 0 in `measure`; JSON contains them.
std::vector<Line> LinesWith(std::vector<Line> lines, const Measure& measure) {
  std::erase_if(lines, [&](const Line& line) { return measure(line.columns) == 0; });
  return lines;
}

std::vector<Line> DeviceLines(const Summary& summary, std::size_t device) {
  std::vector<Line> lines;
  for (const SummaryRow& row : summary.rows) {
    if (device < row.by_device.size()) lines.push_back({ShownName(row.name), row.count, row.by_device[device]});
  }
  return lines;
}

std::string Heading(const Terminal& terminal, const std::string& text) {
  return Painted(terminal, Color::kBold, Wrapped(text, terminal.width, 2)) + "\n";
}

// Describes which operators were recorded, because operators below autograd differ from operators above autograd.
std::string WhichOperators(const Capture& capture) {
  const auto& processes = capture.processes();
  const auto below = std::ranges::count_if(processes, [](const ProcessSummary& process) {
    return std::ranges::find(process.info.sources(), "dispatch") != process.info.sources().end();
  });
  if (below == 0) return "";
  if (static_cast<std::size_t>(below) == processes.size()) return " below autograd (--ops dispatch)";
  return fmt::format(" (in {} of {} processes those below autograd)", below, processes.size());
}

std::string RecordedLine(const Capture& capture, const Summary& summary, bool windowed, const Terminal& terminal) {
  // The duration is counted from the start of the recording, as all printed times are, and not from the first event.
  std::string line =
      windowed ? FormatDuration(summary.duration_ns) + " in the window" : FormatDuration(summary.end_ns) + " recorded";
  if (windowed && summary.windows == 1)
    line += fmt::format(" (from {} to {})", FormatMoment(summary.begin_ns), FormatMoment(summary.end_ns));
  if (windowed && summary.windows > 1) line += fmt::format(" (from {} ranges)", FormatCount(summary.windows));
  line += ", " + FormatCounted(summary.events, "event", "events");
  const std::string calls = FormatCounted(summary.operator_calls, "operator call", "operator calls");
  const std::string threads = FormatCounted(summary.threads, "thread", "threads");
  if (HasOperatorCalls(capture)) line += ", " + calls + WhichOperators(capture) + ", " + threads;
  if (const std::string steps = StepsText(summary); !steps.empty())
    line += ", " + steps + (summary.is_partly_evicted ? " in the parts that are left" : "");
  if (summary.mark_count > 0) line += ", " + FormatCounted(summary.mark_count, "mark", "marks");
  return Wrapped(line, terminal.width, 2) + "\n";
}

std::string PeakTable(const Capture& capture, const Summary& summary, const SummaryTextOptions& options,
                      const Terminal& terminal) {
  const std::size_t index = LargestDevice(summary);
  const DeviceRow& device = summary.devices[index];
  const GroupingFacts names = GroupingFactsOf(summary.by);
  const std::string label = DeviceLabel(capture, device.name, device.process);
  if (device.peak_is_evicted) {
    return Heading(terminal, "Live at the peak of " + label) + "  " +
           Wrapped("evicted by --max-size; --at peak shows the highest moment in the parts that are left",
                   terminal.width, 2) +
           "\n";
  }
  TextTable table({std::string(names.one), "live", "share", "blocks"});
  if (names.needs_stacks) table.CutNamesAtEnd();
  const auto lines = TopLines(LinesWith(DeviceLines(summary, index), AtPeak), options.top, AtPeak, names);
  for (const Line& line : lines) {
    table.AddRow({line.name, FormatBytes(line.columns.bytes_at_peak),
                  FormatShare(line.columns.bytes_at_peak, device.peak_allocated_bytes),
                  FormatCount(line.columns.blocks_at_peak)});
  }
  table.AddTotal({"total", FormatBytes(device.peak_allocated_bytes),
                  FormatShare(device.peak_allocated_bytes, device.peak_allocated_bytes),
                  FormatCount(device.peak_blocks)});
  return Heading(terminal, fmt::format("Live at the peak of {}, by {}", label, names.one)) + table.Render(terminal, 2) +
         (summary.by == GroupBy::kCategory ? CheckpointLine(capture, device, terminal) : "");
}

std::string MeanLife(const SummaryColumns& columns) {
  return columns.lives == 0 ? "-" : FormatDuration(static_cast<std::uint64_t>(columns.mean_life_ns()));
}

// `caching`: for devices with a caching allocator, shows newly reserved bytes instead of how long blocks lived.
std::vector<std::string> AllocationCells(const Line& line, bool has_calls, bool caching) {
  const SummaryColumns& columns = line.columns;
  std::vector<std::string> cells = {line.name};
  if (has_calls) cells.push_back(line.count == 0 ? "" : FormatCount(line.count));
  cells.insert(cells.end(),
               {FormatCount(columns.allocations), FormatBytes(columns.allocated_bytes), FormatBytes(columns.net_bytes),
                FormatBytes(columns.bytes_at_peak), caching ? FormatBytes(columns.reserved_bytes) : MeanLife(columns)});
  return cells;
}

// Names the columns that include evicted parts. Empty if no parts were evicted.
std::string EvictedNote(const Summary& summary, const Terminal& terminal) {
  if (!summary.is_partly_evicted) return "";
  std::string note = "Evicted parts are included in ";
  switch (summary.by) {
    case GroupBy::kOperator:
      note += "calls, allocs, allocated and kept.";
      break;
    case GroupBy::kRank:
      note += "allocs, allocated and kept.";
      break;
    default:
      note += fmt::format("the total; by {}, they are one row.", GroupingFactsOf(summary.by).one);
  }
  note += " They are not included in mean life, temporaries, threads, steps and marks.";
  return "  " + Wrapped(note, terminal.width, 2) + "\n";
}

// Explains the column "at peak" if it sums several devices, because a sum of peaks at different times looks like a
// single peak.
std::string ManyPeaksNote(const Summary& summary, const Terminal& terminal) {
  const auto used = std::ranges::count_if(
      summary.devices, [&](const auto& row) { return row.peak_allocated_bytes > 0 && IsInFocus(summary, row); });
  if (used < 2) return "";
  std::string note = "at peak: summed over the devices, each at its own peak.";
  if (summary.processes.size() > 1) note += " One rank alone, with its table of the peak: --rank N.";
  return "  " + Wrapped(note, terminal.width, 2) + "\n";
}

std::string MissingNote(const Summary& summary, const Terminal& terminal) {
  return summary.missing.empty() ? "" : "  " + Wrapped(summary.missing, terminal.width, 2) + "\n";
}

std::string AllocationTable(const Capture& capture, const Summary& summary, const SummaryTextOptions& options,
                            const Terminal& terminal) {
  const GroupingFacts names = GroupingFactsOf(summary.by);
  const bool has_calls = names.has_calls && HasOperatorCalls(capture);
  std::vector<std::string> titles = {std::string(names.one)};
  if (has_calls) titles.emplace_back("calls");
  // The column "reserved" is useless if nothing was newly reserved in the window.
  const bool caching =
      !summary.devices.empty() && summary.devices[LargestDevice(summary)].caching && summary.total().reserved_bytes > 0;
  titles.insert(titles.end(), {"allocs", "allocated", "kept", "at peak", caching ? "reserved" : "mean life"});
  TextTable table(std::move(titles));
  if (names.needs_stacks) table.CutNamesAtEnd();
  const auto lines = TopAllocating(AllLines(summary), options.top, names);
  Line total{"total", 0, {}};
  for (const Line& line : lines) {
    total.count += line.count;
    total.columns += line.columns;
    table.AddRow(AllocationCells(line, has_calls, caching));
  }
  table.AddTotal(AllocationCells(total, has_calls, caching));
  return Heading(terminal,
                 fmt::format("Who allocates{}, by {} ({}kept: still live at the end)", SelectedDevicesText(summary),
                             names.one, has_calls ? "calls: at any depth; " : "")) +
         table.Render(terminal, 2) + ManyPeaksNote(summary, terminal) + EvictedNote(summary, terminal);
}

// Returns "aten::empty 1.2 GiB, aten::mm 3.0 MiB, other 12 B".
std::string Holders(const Summary& summary, std::size_t top) {
  std::string text;
  for (const Line& line : TopLines(LinesWith(AllLines(summary), Kept), top, Kept, GroupingFactsOf(summary.by))) {
    text += (text.empty() ? "" : ", ") + Shortened(line.name, kNameInLine) + " " + FormatBytes(line.columns.net_bytes);
  }
  return text;
}

std::string FactLine(const Terminal& terminal, std::string_view name, const std::string& text) {
  constexpr std::size_t kIndent = 17;
  return Painted(terminal, Color::kBold, PaddedRight(name, kIndent)) + Wrapped(text, terminal.width, kIndent) + "\n";
}

// Returns ", 6.4% of all". "" if nothing was allocated.
std::string ShareOf(std::uint64_t bytes, std::uint64_t all, std::string_view what = "of all") {
  return all == 0 ? "" : ", " + FormatShare(bytes, all) + " " + std::string(what);
}

// Facts over all devices.
struct Facts {
  SummaryColumns rows;
  std::uint64_t unattributed_bytes = 0;
  std::uint64_t evicted_bytes = 0;  // allocated in evicted parts
  std::uint64_t live_bytes = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t first_seen_storages = 0;
  std::uint64_t first_seen_bytes = 0;
};

Facts FactsOf(const Summary& summary) {
  Facts facts;
  facts.rows = summary.total();
  for (const DeviceRow& device : summary.devices) {
    if (!IsInFocus(summary, device)) continue;
    facts.unattributed_bytes += device.unattributed_bytes;
    facts.evicted_bytes += device.evicted_allocated_bytes;
    facts.live_bytes += device.live_bytes_at_end;
    facts.live_blocks += device.live_blocks_at_end;
    facts.first_seen_storages += device.first_seen_storages;
    facts.first_seen_bytes += device.first_seen_bytes;
  }
  return facts;
}

std::string BytesAndCountText(std::uint64_t bytes, std::uint64_t count, std::string_view one, std::string_view many) {
  return FormatBytes(bytes) + " in " + FormatCounted(count, one, many);
}

// Returns `at_end`, or a text that states for which devices the live blocks at the end are unknown.
std::string AsFarAsKnown(const std::string& at_end, const Summary& summary) {
  const auto unknown = [&](const DeviceRow& device) {
    return IsInFocus(summary, device) && UnknownMemoryAtEnd(summary.report, device.process, device.name) != nullptr;
  };
  const bool any = std::ranges::any_of(summary.report.processes,
                                       [](const auto& process) { return process.UnknownCudaMemoryAtEnd() != nullptr; });
  if (std::ranges::any_of(summary.devices, unknown)) return "not known: CUDA memory was not recorded then";
  return any ? at_end + "; of CUDA devices not known" : at_end;
}

std::string FactLines(const Capture& capture, const Summary& summary, const Terminal& terminal) {
  const Facts facts = FactsOf(summary);
  std::string live = BytesAndCountText(facts.live_bytes, facts.live_blocks, "block", "blocks");
  if (facts.live_bytes > 0) live += ": " + Holders(summary, 3);
  const std::string at_end = FactLine(terminal, "live at the end", AsFarAsKnown(live, summary));
  if (!HasOperatorCalls(capture)) return at_end;  // the other lines are about calls and tensors
  std::string text =
      FactLine(terminal, "temporaries",
               BytesAndCountText(facts.rows.temporary_bytes, facts.rows.temporaries, "allocation", "allocations") +
                   " freed within " + (facts.rows.temporaries == 1 ? "its" : "their") + " operator call" +
                   ShareOf(facts.rows.temporary_bytes, facts.rows.allocated_bytes - facts.evicted_bytes,
                           summary.is_partly_evicted ? "of what the newest parts allocated" : "of all")) +
      at_end;
  if (facts.first_seen_storages > 0) {
    text += FactLine(terminal, "first seen",
                     BytesAndCountText(facts.first_seen_bytes, facts.first_seen_storages, "storage", "storages") +
                         " allocated elsewhere, in no sum above");
  } else if (!IsImported(capture)) {
    text += FactLine(terminal, "first seen", "no storage allocated elsewhere (numpy, files, before recording)");
  }
  if (summary.compiled_allocations > 0) {
    text +=
        FactLine(terminal, "compiled",
                 BytesAndCountText(summary.compiled_bytes, summary.compiled_allocations, "allocation", "allocations") +
                     " of compiled regions, in which modules are not told apart" +
                     ShareOf(summary.compiled_bytes, facts.rows.allocated_bytes));
  }
  return text + FactLine(terminal, "unattributed",
                         FormatBytes(facts.unattributed_bytes) + " allocated outside of any operator" +
                             ShareOf(facts.unattributed_bytes, facts.rows.allocated_bytes));
}

// Explains autograd detail if it is at least 1/10 of the sum of all peaks.
std::string AutogradDetailLine(const Summary& summary, const Terminal& terminal) {
  std::uint64_t bytes = 0;
  for (const SummaryRow& row : summary.rows) bytes += row.category == "AUTOGRAD_DETAIL" ? row.total.bytes_at_peak : 0;
  if (bytes == 0 || bytes < summary.total().bytes_at_peak / 10) return "";
  return FactLine(terminal, "autograd detail",
                  "gradients of activations, on their way from one node of autograd to the next");
}

std::string Tables(const Capture& capture, const Summary& summary, const SummaryTextOptions& options,
                   const Terminal& terminal) {
  if (summary.devices.empty() || summary.devices[LargestDevice(summary)].peak_allocated_bytes == 0) {
    const std::string unknown = CudaMemoryNotKnown(summary.report);
    return "No allocation was recorded" + std::string(options.windowed ? " in this window" : "") +
           (unknown.empty() ? "" : "; CUDA memory is not known") + ".\n";
  }
  if (summary.by == GroupBy::kModule) {
    return RenderModules(summary, options.top, terminal) + ManyPeaksNote(summary, terminal) +
           EvictedNote(summary, terminal);
  }
  if (summary.by == GroupBy::kParameter) {
    return RenderParameters(summary, options.top, terminal) + ManyPeaksNote(summary, terminal) +
           EvictedNote(summary, terminal) + MissingNote(summary, terminal);
  }
  return PeakTable(capture, summary, options, terminal) + "\n" + AllocationTable(capture, summary, options, terminal) +
         MissingNote(summary, terminal);
}

}  // namespace

std::string RenderSummary(const Capture& capture, const Summary& whole, const SummaryTextOptions& options,
                          const Terminal& terminal) {
  Summary summary = FocusSummary(whole);
  ShortenFiles(summary.rows);
  std::string text = EndingLine(capture, summary.endings, {}, terminal);
  text += RenderProgram(capture, terminal) + RecordedLine(capture, summary, options.windowed, terminal);
  text += RenderDevices(capture, summary, options.top, terminal) + "\n";
  text += Tables(capture, summary, options, terminal) + "\n";
  text += FactLines(capture, summary, terminal) + AutogradDetailLine(summary, terminal);
  text += RenderOutOfMemory(capture, summary, kLinesOfOutOfMemory, "more: " + PrintedCommand("check oom"), terminal);
  return text + RenderLosses(capture, summary.report, terminal);
}

}  // namespace memoir
