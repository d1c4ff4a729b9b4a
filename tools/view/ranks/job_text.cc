#include "tools/view/ranks/job_text.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/ranks/recording_summary.h"
#include "tools/model/job.h"
#include "tools/view/terminal/table.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::string Line(const Terminal& terminal, const std::string& text) { return Wrapped(text, terminal.width, 2) + "\n"; }
std::string Heading(const Terminal& terminal, const std::string& text) {
  return Painted(terminal, Color::kBold, Wrapped(text, terminal.width, 2)) + "\n";
}
std::string Warning(const Terminal& terminal, const std::string& text) {
  return Painted(terminal, Color::kRed, Wrapped("! " + text, terminal.width, 2)) + "\n";
}

std::string RanksText(const std::set<std::uint32_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + RankList(ranks);
}

// What all have, or the first: differences are said below.
std::string WhatRan(const JobOverview& overview, const Terminal& terminal) {
  const v1::ProcessInfo& info = overview.recordings.front()->process();
  std::string text = info.program().empty() ? "(program not known)" : Escaped(info.program());
  if (!info.torch_version().empty()) text += ", torch " + Escaped(info.torch_version());
  if (!info.python_version().empty()) text += ", python " + Escaped(info.python_version());
  if (!info.simulated_device().empty()) text += ", on a SIMULATED GPU: " + Escaped(info.simulated_device());
  return Line(terminal, text);
}

std::string WhereText(const JobOverview& overview) {
  std::string text = FormatCounted(overview.recordings.size(), "process", "processes") + " on " +
                     (overview.ranks.hosts.size() == 1 ? Escaped(*overview.ranks.hosts.begin())
                                                       : FormatCounted(overview.ranks.hosts.size(), "host", "hosts"));
  for (const Attempt& attempt : overview.ranks.attempts) {
    text += &attempt == &overview.ranks.attempts.front() ? ", " : "; ";
    if (attempt.restart > 0) text += fmt::format("restart {}: ", attempt.restart);
    text += RanksText(attempt.ranks);
    if (attempt.world_size > 1) text += fmt::format(" of {}", FormatCount(attempt.world_size));
    if (!attempt.missing.empty())
      text += fmt::format("; {} {} missing", RanksText(attempt.missing), attempt.missing.size() == 1 ? "is" : "are");
  }
  if (overview.ranks.without_rank > 0)
    text += fmt::format("; {} of the processes {} no rank", overview.ranks.without_rank,
                        overview.ranks.without_rank == 1 ? "has" : "have");
  return text;
}

std::string RecordedText(const JobOverview& overview) {
  std::string text =
      FormatDuration(overview.duration_ns) + " recorded, " + FormatCounted(overview.events, "event", "events");
  if (overview.most_steps == 0) return text;
  if (overview.least_steps == overview.most_steps)
    return text + ", " + FormatCounted(overview.most_steps, "step", "steps") + " of each rank";
  return text +
         fmt::format(", {} to {} steps of a rank", FormatCount(overview.least_steps), FormatCount(overview.most_steps));
}

std::string LackText(const JobReading& reading, SummaryLack lack) {
  std::size_t count = 0;
  const LackingSummary* first = nullptr;
  for (const LackingSummary& lacking : reading.lacking) {
    if (lacking.lack != lack) continue;
    if (first == nullptr) first = &lacking;
    ++count;
  }
  if (count == 0) return "";
  const std::string name = Escaped(first->name) + (count > 1 ? ", ..." : "");
  switch (lack) {
    case SummaryLack::kMissing:
      return fmt::format("{} without a summary", FormatCount(count));
    case SummaryLack::kDamaged:
      return fmt::format("{} whose summary is {} ({})", FormatCount(count), Escaped(first->why), name);
    case SummaryLack::kOlder:
      return fmt::format("{} whose summary is older than the recording ({})", FormatCount(count), name);
    case SummaryLack::kBehind:
      break;
  }
  return "";
}

std::string SummariesText(const JobReading& reading) {
  std::string from;
  for (const SummaryLack lack : {SummaryLack::kMissing, SummaryLack::kDamaged, SummaryLack::kOlder}) {
    const std::string text = LackText(reading, lack);
    if (!text.empty()) from += (from.empty() ? "" : ", ") + text;
  }
  std::string text = "from " + FormatCounted(reading.summaries, "summary", "summaries");
  if (!from.empty()) text += "; from recordings: " + from;
  std::uint64_t most_behind = 0, behind = 0;
  for (const LackingSummary& lacking : reading.lacking) {
    behind += lacking.lack == SummaryLack::kBehind;
    most_behind = std::max(most_behind, lacking.behind_ns);
  }
  if (behind > 0)
    text += fmt::format("; {} still recording, up to {} behind", behind == 1 ? "1 is" : FormatCount(behind) + " are",
                        FormatDuration(most_behind));
  if (reading.summaries == 0 && !reading.lacking.empty()) text += " (memoir summarize writes them)";
  return text;
}

std::string SpreadTable(const DeviceKind& kind, const Terminal& terminal) {
  Table table({"", "least", "median", "most", "of"});
  for (const Spread& spread : kind.spreads)
    table.AddRow({std::string(spread.name), FormatBytes(spread.least), FormatBytes(spread.median),
                  FormatBytes(spread.most), spread.least == spread.most ? "all" : spread.most_of});
  return Heading(terminal, fmt::format("Peaks of {} {}", FormatCount(kind.devices),
                                       kind.kind + (kind.devices == 1 ? " device" : " devices"))) +
         table.Render(terminal, 2);
}

std::string StepText(const v1::DeviceSummary& device) {
  return device.peak_step_known() ? FormatCount(device.peak_step()) : "-";
}

// Ranks with the highest peaks; the sum of all is the total.
std::string RanksTable(const JobOverview& overview, std::size_t top, const Terminal& terminal) {
  if (overview.devices.empty()) return "";
  const bool caching = overview.devices.front().device->caching();
  const bool several = std::ranges::any_of(overview.devices, [&](const RankDevice& of) {
    return of.device->name() != overview.devices.front().device->name();
  });
  Table table({"rank", "peak", caching ? "reserved" : "allocated", "at the end", "step", "host"});
  const std::size_t shown = top == 0 || overview.devices.size() <= top + 1 ? overview.devices.size() : top;
  std::uint64_t all = 0, rest = 0;
  for (std::size_t i = 0; i < overview.devices.size(); ++i) {
    const v1::DeviceSummary& device = *overview.devices[i].device;
    all += device.peak_allocated_bytes();
    rest += i < shown ? 0 : device.peak_allocated_bytes();
    if (i >= shown) continue;
    const v1::RecordingSummary& recording = *overview.devices[i].recording;
    table.AddRow({RankLabel(recording) + (several ? " " + Escaped(device.name()) : ""),
                  FormatBytes(device.peak_allocated_bytes()),
                  FormatBytes(caching ? device.peak_reserved_bytes() : device.allocated_bytes()),
                  FormatBytes(device.live_at_end()), StepText(device), Escaped(recording.process().host())});
  }
  const std::size_t left = overview.devices.size() - shown;
  if (left > 0) table.AddRow({fmt::format("other ({} devices)", FormatCount(left)), FormatBytes(rest), "", "", "", ""});
  table.AddTotal({"total", FormatBytes(all), "", "", "", ""});
  return Heading(terminal, "Ranks with the highest peaks, on " + overview.kinds.front().kind) +
         table.Render(terminal, 2);
}

// "/src/me/train.py:12 main" as "train.py:12 main", where no other file has that name.
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
  Table table({composition.by(), "live", "share", "devices", "most", "of"});
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

std::string HeldTables(const JobReading& reading, const JobOverview& overview, std::size_t top,
                       const Terminal& terminal) {
  std::string text;
  for (const char* const by : {"category", "module", "operator", "line"}) {
    for (const v1::JobComposition& composition : reading.job.at_peak()) {
      if (composition.by() != by || composition.device() != overview.kinds.front().kind) continue;
      // A recording without stacks has one row of lines, which says nothing.
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
  if (errors > kShown) text += Warning(terminal, fmt::format("and {} more out-of-memory errors", errors - kShown));
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
    text += Warning(terminal, fmt::format("and {} more places that keep more in every step", growing - kShown));
  return text;
}

std::string DifferenceLines(const JobReading& reading, const JobOverview& overview, const Terminal& terminal) {
  std::string text;
  for (const Difference& difference : overview.differences) {
    std::string values;
    for (const auto& [value, who] : difference.who)
      values +=
          (values.empty() ? "" : "; ") + (value.empty() ? std::string("none") : Escaped(value)) + " on " + WhoText(who);
    text += Warning(terminal, "not all ranks have the same " + difference.what + ": " + values);
  }
  for (const Attempt& attempt : overview.ranks.attempts) {
    if (attempt.twice.empty()) continue;
    text += Warning(terminal, RanksText(attempt.twice) + (attempt.twice.size() == 1 ? " is" : " are") +
                                  " there several times: jobs that ran at one time record into this folder, or a rank "
                                  "started more that train");
  }
  std::size_t conflicts = 0;
  for (const v1::RecordingSummary* const recording : overview.recordings) {
    const std::string& conflict = recording->process().rank_conflict();
    if (!conflict.empty() && ++conflicts == 1)
      text += Warning(terminal, RankLabel(*recording) + ": " + Escaped(conflict));
  }
  if (conflicts > 1) text += Warning(terminal, fmt::format("and so in {} more processes", conflicts - 1));
  for (std::size_t i = 0; i < std::min<std::size_t>(reading.unreadable.size(), 3); ++i)
    text += Warning(terminal, "not read: " + Escaped(reading.unreadable[i]));
  if (reading.unreadable.size() > 3)
    text += Warning(terminal, fmt::format("and {} more that cannot be read", reading.unreadable.size() - 3));
  if (overview.damaged > 0)
    text += Warning(terminal, FormatCounted(overview.damaged, "recording", "recordings") +
                                  " with damage (memoir show " + "--rank N tells where)");
  text += overview.lost_events > 0
              ? Warning(terminal, FormatCounted(overview.lost_events, "event", "events") + " dropped")
              : std::string("0 events dropped\n");
  return text;
}

}  // namespace

std::string RenderJob(const JobReading& reading, const JobOverview& overview, std::size_t top,
                      const Terminal& terminal) {
  if (overview.recordings.empty()) return "No process of this job recorded an event.\n";
  std::string text = WhatRan(overview, terminal) + Line(terminal, WhereText(overview)) +
                     Line(terminal, RecordedText(overview)) + Line(terminal, SummariesText(reading)) + "\n";
  if (overview.kinds.empty()) {
    text += "No allocation was recorded.\n";
  } else {
    for (const DeviceKind& kind : overview.kinds) text += SpreadTable(kind, terminal) + "\n";
    text += RanksTable(overview, top, terminal) + HeldTables(reading, overview, top, terminal);
  }
  return text + "\n" + ErrorLines(overview, terminal) + DifferenceLines(reading, overview, terminal);
}

}  // namespace memoir
