#include "tools/view/compare/compare_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/pass/layer_pattern.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/model/job.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/compare/change_text.h"
#include "tools/view/compare/headline.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::string Heading(const Terminal& terminal, const std::string& text) {
  return Painted(terminal, Color::kBold, Wrapped(text, terminal.width, 2)) + "\n";
}

std::string Warning(const Terminal& terminal, const std::string& text) {
  return Painted(terminal, Color::kYellow, "! " + Wrapped(text, terminal.width, 2)) + "\n";
}

// Returns "+1,234" or "-3"; "" for 0.
std::string SignedCount(std::int64_t count) {
  if (count == 0) return "";
  return (count < 0 ? "-" : "+") + FormatCount(static_cast<std::uint64_t>(count < 0 ? -count : count));
}

std::int64_t Minus(std::uint64_t b, std::uint64_t a) {
  return static_cast<std::int64_t>(b) - static_cast<std::int64_t>(a);
}

// Describes the program of a capture in a few lines.
std::string ProgramText(std::string_view letter, const Capture& capture, const Terminal& terminal) {
  Terminal narrower = terminal;
  narrower.width = terminal.width > 4 ? terminal.width - 3 : terminal.width;
  std::string lines = RenderProgram(capture, narrower);
  while (lines.ends_with('\n')) lines.pop_back();
  std::string text = fmt::format("{}  {}\n   ", letter, Shortened(Escaped(capture.path()), narrower.width));
  for (const char letter_of_line : lines) text += letter_of_line == '\n' ? "\n   " : std::string(1, letter_of_line);
  return text + "\n";
}

std::string UnlikeText(const RecordingDifference& unlike) {
  const std::string a = Escaped(unlike.a), b = Escaped(unlike.b);
  if (unlike.what != "modules") return fmt::format("{}: {} in A, {} in B", unlike.what, a, b);
  const std::string only_a = a.empty() ? "" : fmt::format(" only in A: {}", a);
  const std::string only_b = b.empty() ? "" : fmt::format(" only in B: {}", b);
  return "modules" + only_a + (a.empty() || b.empty() ? "" : ";") + only_b;
}

// Returns the remarks that precede the figures.
std::string Reservations(const Capture& a, const Capture& b, const Comparison& comparison, const Terminal& terminal) {
  std::string text;
  for (const RecordingDifference& unlike : comparison.unlike) text += Warning(terminal, UnlikeText(unlike));
  const ComparedDevice* const focus = comparison.focus();
  std::vector<std::string> in_headline;
  if (focus != nullptr && focus->difference() != 0) in_headline = NamedCauses(*focus);
  for (const ProgramChange& change : comparison.changes) {
    if (change.kind <= ProgramChange::Kind::kLayers) continue;  // changes of modules are among `unlike`
    const std::string of_change = ChangeText(change);
    if (std::ranges::find(in_headline, of_change) == in_headline.end()) text += Warning(terminal, of_change);
  }
  const bool lossy_a = LossesOf(a, comparison.report_a, terminal).is_lossy;
  const bool lossy_b = LossesOf(b, comparison.report_b, terminal).is_lossy;
  if (lossy_a || lossy_b)
    text += Warning(
        terminal, fmt::format("events are missing in {}: the difference may be due to that", lossy_a && lossy_b ? "both"
                                                                                             : lossy_a          ? "A"
                                                                                                                : "B"));
  for (const Rename& rename : comparison.unused_renames)
    text += Warning(terminal,
                    fmt::format("--map {}={}: nothing in A is called that", Escaped(rename.from), Escaped(rename.to)));
  return text;
}

// Lists the devices that only one capture has, by name and with their ranks.
std::string OnlyInOne(const Comparison& comparison, const Terminal& terminal) {
  std::map<std::pair<int, std::string>, std::pair<std::set<std::uint32_t>, std::uint64_t>> only;
  for (const ComparedDevice& device : comparison.devices) {
    if (device.has_both()) continue;
    const int side = device.sides[0] ? 0 : 1;
    auto& [ranks, peak] = only[{side, device.name}];
    peak = std::max(peak, device.sides[side]->device.peak_allocated_bytes);
    if (const auto rank = side == 0 ? device.rank_a : device.rank_b) ranks.insert(*rank);
  }
  const bool job = std::ranges::any_of(comparison.devices, [](const ComparedDevice& device) {
    return device.rank_a.value_or(0) > 0 || device.rank_b.value_or(0) > 0;
  });
  std::string text;
  for (const auto& [where, what] : only) {
    const std::string of_ranks =
        job && !what.first.empty()
            ? fmt::format(" of {} {}", what.first.size() == 1 ? "rank" : "ranks", FormatRankList(what.first))
            : "";
    text += Warning(terminal,
                    fmt::format("only in {}: {}{} (peak {}{})", where.first == 0 ? "A" : "B", Escaped(where.second),
                                of_ranks, what.first.size() > 1 ? "at most " : "", FormatBytes(what.second)));
  }
  return text;
}

// Returns "step 3, backward of layers.2.fc1, aten::mm".
std::string InstantLine(const ComparedSide& side) {
  std::string text;
  const auto add = [&](const std::string& words) {
    if (!words.empty()) text += (text.empty() ? "" : ", ") + words;
  };
  constexpr std::size_t kName = 40;
  if (side.device.peak_step) add(fmt::format("step {}", *side.device.peak_step));
  const std::string phase = side.phase && *side.phase != Phase::kOther ? std::string(ToString(*side.phase)) : "";
  const std::string module = side.module.empty() ? "" : Shortened(Escaped(side.module), kName);
  add(phase.empty() || module.empty() ? phase + module : phase + " of " + module);
  if (!side.device.peak_operator.empty()) add(Shortened(Escaped(side.device.peak_operator), kName));
  return text.empty() ? "not known" : text;
}

std::string WithLine(const std::string& instant, const ComparedSide& side) {
  constexpr std::size_t kName = 40;
  return side.device.peak_line.known() ? instant + ", " + ShownPlace(side.device.peak_line, kName) : instant;
}

// Describes the instants of the two peaks, or one instant if they are equal. Source lines are not compared, because an
// edit may have moved them.
std::string InstantLines(const ComparedDevice& device, const Terminal& terminal) {
  const std::string in_a = InstantLine(device.a()), in_b = InstantLine(device.b());
  const auto line = [&](const std::string& title, const std::string& text) {
    constexpr std::size_t kIndent = 17;
    return "  " + PaddedRight(title, kIndent - 2) + Wrapped(text, terminal.width, kIndent) + "\n";
  };
  if (in_a == in_b) return line("peak in both", WithLine(in_b, device.b()));
  return line("peak moved: A", WithLine(in_a, device.a())) + line("            B", WithLine(in_b, device.b()));
}

std::string SumsTable(const ComparedDevice& device, bool at_peak, const std::string& at, const Terminal& terminal) {
  TextTable table({"", "A", "B", "difference"});
  const auto bytes = [&](const std::string& name, std::uint64_t a, std::uint64_t b) {
    table.AddRow({name, FormatBytes(a), FormatBytes(b), a == b ? "" : FormatSignedBytes(Minus(b, a))});
  };
  const auto count = [&](const std::string& name, std::uint64_t a, std::uint64_t b) {
    table.AddRow({name, FormatCount(a), FormatCount(b), SignedCount(Minus(b, a))});
  };
  const DeviceRow &a = device.a().device, &b = device.b().device;
  if (!at_peak) bytes("live at " + at, device.a().held.bytes, device.b().held.bytes);
  if (!at_peak) count("blocks then", device.a().held.blocks, device.b().held.blocks);
  const bool live_alone = a.allocations == 0 && b.allocations == 0;  // as in snapshots
  bytes(live_alone ? "allocated" : "peak, allocated", a.peak_allocated_bytes, b.peak_allocated_bytes);
  if (at_peak) count(live_alone ? "blocks" : "blocks at the peak", device.a().held.blocks, device.b().held.blocks);
  if (a.caching && b.caching) {
    bytes(live_alone ? "reserved" : "reserved at most", a.peak_reserved_bytes, b.peak_reserved_bytes);
    const auto unused = [](const DeviceRow& row) {
      return row.reserved_bytes_at_peak - std::min(row.peak_allocated_bytes, row.reserved_bytes_at_peak);
    };
    const bool known = a.reserved_bytes_at_peak > 0 && b.reserved_bytes_at_peak > 0;
    if (known) bytes("waste at the peak", unused(a), unused(b));
  }
  if (!live_alone) bytes("live at the end", a.live_bytes_at_end, b.live_bytes_at_end);
  if (!live_alone) count("allocations", a.allocations, b.allocations);
  return table.Render(terminal, 2);
}

// One row, or the sum of the rows of several layers that have the same difference.
struct Line {
  std::string name;
  std::int64_t difference = 0;
  std::int64_t more_blocks = 0;
  Amount a, b;
  std::string state;
};

Line LineOf(const ComparedRow& row) {
  std::string name = ShownName(row.name);
  return {std::move(name), row.difference(), row.more_blocks(), row.a, row.b, std::string(ToString(row.state()))};
}

void AddTo(Line& sum, const Line& line) {
  sum.difference += line.difference;
  sum.more_blocks += line.more_blocks;
  sum.a.bytes += line.a.bytes;
  sum.b.bytes += line.b.bytes;
  sum.a.blocks += line.a.blocks;
  sum.b.blocks += line.b.blocks;
}

// Joins rows of several layers that have the same difference: "layers.*.fc1: activation (12 alike)".
std::vector<Line> WithLayersTogether(const std::vector<ComparedRow>& rows) {
  std::map<std::pair<std::string, std::int64_t>, std::size_t> seen;
  std::vector<Line> lines;
  std::vector<std::pair<std::string, std::size_t>> patterns;
  for (const ComparedRow& row : rows) {
    Line line = LineOf(row);
    const std::string pattern = WithLayersMerged(row.name);
    const auto [found, is_new] = seen.try_emplace({pattern + "\n" + line.state, line.difference}, lines.size());
    if (is_new || pattern == row.name) {
      lines.push_back(std::move(line));
      patterns.emplace_back(pattern, 1);
      continue;
    }
    AddTo(lines[found->second], line);
    ++patterns[found->second].second;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (patterns[i].second > 1)
      lines[i].name = fmt::format("{} ({} alike)", ShownName(patterns[i].first), patterns[i].second);
  }
  std::ranges::stable_sort(
      lines, [](const Line& x, const Line& y) { return std::abs(x.difference) > std::abs(y.difference); });
  return lines;
}

std::vector<Line> LinesOf(const ComparedDevice& device, GroupBy by, std::size_t top) {
  // Files of A and B may be in different folders; this is not a difference.
  std::vector<ComparedRow> rows = device.rows;
  const auto of_b = std::ranges::stable_partition(rows, &ComparedRow::is_line_of_a);
  std::span<ComparedRow> rows_of_a(rows.begin(), of_b.begin()), rows_of_b(of_b);
  ShortenFiles(rows_of_a);
  ShortenFiles(rows_of_b);
  std::ranges::stable_sort(rows, [](const ComparedRow& x, const ComparedRow& y) {
    return std::abs(x.difference()) > std::abs(y.difference());
  });
  if (top > 0 && (by == GroupBy::kModule || by == GroupBy::kCategoryModule)) return WithLayersTogether(rows);
  std::vector<Line> lines;
  for (const ComparedRow& row : rows) lines.push_back(LineOf(row));
  return lines;
}

std::vector<std::string> Cells(const Line& line) {
  return {line.name,
          FormatSignedBytes(line.difference),
          line.state,
          SignedCount(line.more_blocks),
          FormatBytes(line.a.bytes),
          FormatBytes(line.b.bytes)};
}

std::string RowsTable(const ComparedDevice& device, const Comparison& comparison, const CompareTextOptions& options,
                      const Terminal& terminal) {
  const GroupingFacts names = GroupingFactsOf(comparison.by);
  const std::vector<Line> lines = LinesOf(device, comparison.by, options.top);
  TextTable table({std::string(names.one), "difference", "", "blocks", "A", "B"});
  if (names.needs_stacks) table.CutNamesAtEnd();
  Line rest, same, total;
  total.name = "total";
  std::size_t shown = 0, left = 0, alike = 0;
  const auto differs = [](const Line& line) { return line.difference != 0 || line.more_blocks != 0; };
  const auto differing = static_cast<std::size_t>(std::ranges::count_if(lines, differs));
  for (const Line& line : lines) {
    AddTo(total, line);
    if (!differs(line)) {
      AddTo(same, line);
      ++alike;
    } else if (options.top == 0 || shown < options.top || differing == options.top + 1) {
      table.AddRow(Cells(line));
      ++shown;
    } else {
      AddTo(rest, line);
      ++left;
    }
  }
  rest.name = fmt::format("other ({})", FormatCount(left));
  same.name = fmt::format("same in both ({})", FormatCount(alike));
  if (left > 0) table.AddRow(Cells(rest));
  if (alike > 0) table.AddRow(Cells(same));
  table.AddTotal(Cells(total));
  return Heading(terminal, fmt::format("Differences at {} {}, by {}", InstantWords(options.at),
                                       DeviceWord(device, comparison), names.one)) +
         table.Render(terminal, 2);
}

// Describes the lines that an edit of the source has moved.
std::string MovedNote(const ComparedDevice& device, const Terminal& terminal) {
  const auto place = [](const std::string& name) { return name.substr(name.rfind('/') + 1); };
  std::size_t moved = 0;
  const ComparedRow* first = nullptr;
  for (const ComparedRow& row : device.rows) {
    if (row.name_a.empty() || !row.source.known() || place(row.name_a) == place(row.name)) continue;
    ++moved;
    if (first == nullptr) first = &row;
  }
  if (first == nullptr) return "";
  constexpr std::size_t kName = 50;
  return "  " +
         Wrapped(fmt::format("{} stood elsewhere in A: {} was {}", FormatCounted(moved, "line", "lines"),
                             ShownPlace(first->source, kName), Shortened(Escaped(place(first->name_a)), kName)),
                 terminal.width, 2) +
         "\n";
}

// Returns "7 lines, +83.9 MiB together, are about 2.0 times as large in B, ...". "" if a cause is known.
std::string FactorNote(const ComparedDevice& device, const Terminal& terminal) {
  const CommonFactor& common = device.factor;
  if (common.factor == 0 || !device.causes.empty()) return "";
  return "  " +
         Wrapped(
             fmt::format("{} lines, {} together, are about {:.1f} times as large in B, as with another batch, sequence "
                         "or data type",
                         FormatCount(common.rows), FormatSignedBytes(common.bytes), common.factor),
             terminal.width, 2) +
         "\n";
}

// Describes the line and category that differ most at an instant other than the peak, and counts the other lines.
std::string BelowNote(const ComparedDevice& device, const Terminal& terminal) {
  if (device.below.empty()) return "";
  const std::size_t more = device.below.size() - 1;
  const std::string others =
      more == 0 ? "" : "; " + FormatCounted(more, "more difference", "more differences") + " below it";
  return "  " + Wrapped("below the peak: " + BelowPeakText(device) + others, terminal.width, 2) + "\n";
}

// Returns a table of the devices that both captures have. Empty if there are fewer than two such devices.
std::string DevicesTable(const Comparison& comparison, std::size_t top, const Terminal& terminal) {
  std::size_t both = 0;
  for (const ComparedDevice& device : comparison.devices) both += device.has_both();
  if (both < 2) return "";
  TextTable table({"device", "A", "B", "difference"});
  std::size_t left = 0, shown = 0;
  for (const ComparedDevice& device : comparison.devices) {
    if (!device.has_both()) continue;
    if (top > 0 && shown >= top) {
      ++left;
      continue;
    }
    ++shown;
    table.AddRow({DeviceWord(device, comparison), FormatBytes(device.a().held.bytes),
                  FormatBytes(device.b().held.bytes), device.is_same() ? "" : FormatSignedBytes(device.difference())});
  }
  std::string text = Heading(terminal, "Devices that both have") + table.Render(terminal, 2);
  if (left > 0) text += fmt::format("  and {} with smaller differences (--top 0, --rank N)\n", FormatCount(left));
  return text + "\n";
}

std::string LossLinesOf(std::string_view letter, const Capture& capture, const ReplayReport& report,
                        const Terminal& terminal) {
  const Losses losses = LossesOf(capture, report, terminal);
  return losses.lines.empty() ? "" : fmt::format("\nOf {}:\n{}", letter, losses.lines);
}

}  // namespace

std::string RenderComparison(const Capture& a, const Capture& b, const Comparison& comparison,
                             const CompareTextOptions& options, const Terminal& terminal) {
  std::string text =
      Painted(terminal, Color::kBold, Wrapped(Headline(comparison, options.at), terminal.width, 2)) + "\n";
  text += Reservations(a, b, comparison, terminal) + OnlyInOne(comparison, terminal) + "\n" + options.chosen;
  text += ProgramText("A", a, terminal) + ProgramText("B", b, terminal) + "\n";
  const bool at_peak = comparison.at.kind == InstantChoice::Kind::kPeak;
  text += DevicesTable(comparison, options.top, terminal);
  if (const ComparedDevice* device = comparison.focus()) {
    text += SumsTable(*device, at_peak, options.at, terminal);
    if (at_peak && !comparison.of_snapshots) text += InstantLines(*device, terminal);
    text += '\n';
    text += RowsTable(*device, comparison, options, terminal) + FactorNote(*device, terminal) +
            (at_peak && !comparison.of_snapshots ? BelowNote(*device, terminal) : "") + MovedNote(*device, terminal);
  }
  if (!comparison.missing.empty()) text += "  " + Wrapped(Escaped(comparison.missing), terminal.width, 2) + "\n";
  if (!options.more.empty()) text += "\nmore: " + options.more + "\n";
  return text + LossLinesOf("A", a, comparison.report_a, terminal) + LossLinesOf("B", b, comparison.report_b, terminal);
}

}  // namespace memoir
