#include "tools/view/ranks/job_text.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/analyze/ranks/failed_ranks.h"
#include "tools/analyze/ranks/job/recording_summary.h"
#include "tools/view/ranks/job_lines.h"
#include "tools/view/ranks/roles_text.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::string Heading(const Terminal& terminal, const std::string& text) {
  return Painted(terminal, Color::kBold, Wrapped(text, terminal.width, 2)) + "\n";
}
std::string SpreadTable(const DeviceKind& kind, const Terminal& terminal) {
  TextTable table({"", "least", "median", "most", "of"});
  for (const FigureSpread& spread : kind.spreads)
    table.AddRow({std::string(spread.name), FormatBytes(spread.least), FormatBytes(spread.median),
                  FormatBytes(spread.most), spread.least == spread.most ? "all" : spread.most_of});
  return Heading(terminal, fmt::format("Peaks of {} {}", FormatCount(kind.devices),
                                       kind.kind + (kind.devices == 1 ? " device" : " devices"))) +
         table.Render(terminal, 2);
}

std::string StepText(const v1::DeviceSummary& device) {
  return device.peak_step_known() ? FormatCount(device.peak_step()) : "-";
}

// Returns a table of the ranks with the highest peaks, and the sum over all ranks.
std::string RanksTable(const JobOverview& overview, std::size_t top, const Terminal& terminal) {
  if (overview.devices.empty()) return "";
  const bool caching = overview.devices.front().device->caching();
  const bool several = std::ranges::any_of(overview.devices, [&](const RankDevice& of) {
    return of.device->name() != overview.devices.front().device->name();
  });
  const bool placed = std::ranges::any_of(
      overview.devices, [](const RankDevice& of) { return !DescribeCoordinates(of.recording->process()).empty(); });
  std::vector<std::string> titles = {"rank", "peak", caching ? "reserved" : "allocated in all", "at the end", "step"};
  if (placed) titles.emplace_back("place");
  titles.emplace_back("host");
  TextTable table(std::move(titles));
  const std::size_t shown = top == 0 || overview.devices.size() <= top + 1 ? overview.devices.size() : top;
  std::uint64_t all = 0, rest = 0;
  for (std::size_t i = 0; i < overview.devices.size(); ++i) {
    const v1::DeviceSummary& device = *overview.devices[i].device;
    all += device.peak_allocated_bytes();
    rest += i < shown ? 0 : device.peak_allocated_bytes();
    if (i >= shown) continue;
    const v1::RecordingSummary& recording = *overview.devices[i].recording;
    std::vector<std::string> cells = {RankLabel(recording) + (several ? " " + Escaped(device.name()) : ""),
                                      FormatBytes(device.peak_allocated_bytes()),
                                      FormatBytes(caching ? device.peak_reserved_bytes() : device.allocated_bytes()),
                                      FormatBytes(device.live_at_end()), StepText(device)};
    const std::string place = DescribeCoordinates(recording.process());
    if (placed) cells.push_back(place.empty() ? "" : ShownName(place));
    cells.push_back(Escaped(recording.process().host()));
    table.AddRow(std::move(cells));
  }
  const auto sum = [&](const std::string& name, std::uint64_t bytes) {
    std::vector<std::string> cells = {name, FormatBytes(bytes), "", "", "", ""};
    if (placed) cells.emplace_back();
    return cells;
  };
  const std::size_t left = overview.devices.size() - shown;
  if (left > 0) table.AddRow(sum(fmt::format("other ({} devices)", FormatCount(left)), rest));
  table.AddTotal(sum("total", all));
  return Heading(terminal, "Ranks with the highest peaks, on " + overview.kinds.front().kind) +
         table.Render(terminal, 2);
}

// Maps "/src/me/train.py:12 main" to "train.py:12 main" if no other file has that name.
std::map<std::string, std::string> ShortLines(const std::vector<const v1::JobHeldRow*>& rows) {
  std::map<std::string, std::set<std::string>> folders;
  const auto split = [](const std::string& name) {
    const std::size_t slash = name.rfind('/', name.find(':'));
    return slash == std::string::npos ? std::pair(std::string(), name)
                                      : std::pair(name.substr(0, slash), name.substr(slash + 1));
  };
  for (const auto* row : rows)
    folders[split(row->name()).second.substr(0, split(row->name()).second.find(':'))].insert(split(row->name()).first);
  std::map<std::string, std::string> names;
  for (const auto* row : rows) {
    const auto [folder, rest] = split(row->name());
    names[row->name()] = folders[rest.substr(0, rest.find(':'))].size() == 1 ? rest : row->name();
  }
  return names;
}

std::string HeldTable(const v1::JobComposition& composition, std::size_t top, const Terminal& terminal) {
  std::vector<const v1::JobHeldRow*> rows;
  for (const v1::JobHeldRow& row : composition.rows()) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::greater(), [](const auto* row) { return row->bytes(); });
  const bool lines = composition.by() == "line";
  const std::map<std::string, std::string> names = lines ? ShortLines(rows) : std::map<std::string, std::string>();
  TextTable table({composition.by(), "live", "share", "devices", "most", "of"});
  if (lines) table.CutNamesAtEnd();
  const std::size_t shown = top == 0 || rows.size() <= top + 1 ? rows.size() : top;
  std::uint64_t rest = composition.other_bytes();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const v1::JobHeldRow& row = *rows[i];
    if (i >= shown) {
      rest += row.bytes();
      continue;
    }
    table.AddRow({ShownName(lines ? names.at(row.name()) : row.name()), FormatBytes(row.bytes()),
                  FormatShare(row.bytes(), composition.bytes()), FormatCount(row.devices()),
                  FormatBytes(row.most_bytes()), row.most_of()});
  }
  if (rest > 0) table.AddRow({"other", FormatBytes(rest), FormatShare(rest, composition.bytes()), "", "", ""});
  table.AddTotal({"total", FormatBytes(composition.bytes()), FormatShare(composition.bytes(), composition.bytes()),
                  FormatCount(composition.devices()), "", ""});
  return "\n" +
         Heading(terminal, fmt::format("Live at the peaks, by {} (of all {} devices, each at its own)",
                                       composition.by(), composition.device())) +
         table.Render(terminal, 2);
}

std::string HeldTables(const LoadedJob& reading, const JobOverview& overview, std::size_t top,
                       const Terminal& terminal) {
  std::string text;
  for (const char* const by : {"category", "module", "operator", "line"}) {
    for (const v1::JobComposition& composition : reading.job.at_peak()) {
      if (composition.by() != by || composition.device() != overview.kinds.front().kind) continue;
      // For recordings without stacks, the table of lines would have only one row, which is useless.
      if (composition.rows_size() == 0 || (composition.by() == "line" && composition.rows_size() == 1)) continue;
      text += HeldTable(composition, top, terminal);
    }
  }
  return text;
}

std::string ErrorLines(const JobOverview& overview, const Terminal& terminal) {
  constexpr std::size_t kShown = 3;
  std::string text;
  std::size_t errors = 0, growing = 0;
  std::uint64_t retries = 0;
  std::vector<std::string> retried;
  for (const v1::RecordingSummary* const recording : overview.recordings) {
    for (const v1::RefusedSummary& refused : recording->refused()) {
      if (++errors > kShown) continue;
      text +=
          Warning(terminal, fmt::format("{} {}: out of memory, asked for {}{}{}{}", RankLabel(*recording),
                                        Escaped(refused.device()), FormatBytes(refused.asked_bytes()),
                                        refused.step_known() ? fmt::format(", step {}", refused.step()) : "",
                                        refused.operator_name().empty() ? "" : ", " + Escaped(refused.operator_name()),
                                        refused.place().empty() ? "" : " at " + Escaped(refused.place())));
    }
    std::uint64_t own = 0;
    for (const v1::DeviceSummary& device : recording->devices()) own += device.retries();
    retries += own;
    if (own > 0) retried.push_back(RankLabel(*recording));
  }
  if (errors > kShown)
    text += Warning(terminal,
                    "and " + FormatCounted(errors - kShown, "more out-of-memory error", "more out-of-memory errors"));
  if (retries > 0)
    text += Line(terminal, fmt::format("{} of the allocator on {}", FormatCounted(retries, "retry", "retries"),
                                       WhoText(retried)));
  for (const v1::RecordingSummary* const recording : overview.recordings) {
    for (const v1::GrowthSummary& growth : recording->growth()) {
      if (++growing > kShown || growth.steps() == 0) continue;
      text +=
          Warning(terminal, fmt::format("{} {}: {} more in every step since step {} ({}, {})", RankLabel(*recording),
                                        Escaped(growth.device()), FormatBytes(growth.bytes() / growth.steps()),
                                        growth.since_step(), growth.kind(), ShownName(growth.place())));
    }
  }
  if (growing > kShown)
    text += Warning(terminal, "and " + FormatCounted(growing - kShown, "more place keeps", "more places keep") +
                                  " more in every step");
  return text;
}

// Returns the table of roles, and the number of findings. Empty for a job with a single rank.
std::string RolesPart(const OddRanks& found, std::size_t top, const std::string& path, const Terminal& terminal) {
  if (found.ranks.size() < 2) return "";
  std::string text = "\n" + Heading(terminal, "Roles of ranks, by the modules that they called, with their peaks") +
                     RolesTable(found, top, terminal);
  const NamedRanks named = NamedRanksOf(found);
  const std::size_t failed = named.failed.size(), odd = named.out_of_line.size();
  std::vector<std::string> findings;
  if (failed > 0) findings.push_back(FormatCounted(failed, "rank", "ranks") + " failed");
  if (odd == 1) findings.push_back("1 rank is out of line with its role");
  if (odd > 1) findings.push_back(FormatCount(odd) + " ranks are out of line with their roles");
  if (findings.empty()) return text;
  return text +
         Warning(terminal, fmt::format("{}: {}", fmt::join(findings, "; "), PrintedCommand("check ranks " + path)));
}

}  // namespace

std::string RenderJob(const LoadedJob& reading, const JobOverview& overview, const OddRanks& found, std::size_t top,
                      const std::string& path, const Terminal& terminal) {
  if (overview.recordings.empty()) return "No process of this job recorded an event.\n";
  std::string text = JobHeading(reading, overview, terminal) + "\n";
  if (overview.kinds.empty()) {
    text += "No allocation was recorded.\n";
  } else {
    for (const DeviceKind& kind : overview.kinds) text += SpreadTable(kind, terminal) + "\n";
    text += RanksTable(overview, top, terminal) + RolesPart(found, top, path, terminal) +
            HeldTables(reading, overview, top, terminal);
  }
  return text + "\n" + ErrorLines(overview, terminal) + DifferenceLines(reading, overview, terminal);
}

}  // namespace memoir
