#include "tools/view/ranks/job_lines.h"

#include <algorithm>
#include <set>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/ranks/job/recording_summary.h"
#include "tools/model/job.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::string RanksText(const std::set<std::uint32_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + FormatRankList(ranks);
}

// Describes the program of the first recording. DifferenceLines lists how the programs of other ranks differ.
std::string ProgramText(const JobOverview& overview, const Terminal& terminal) {
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
  for (const JobAttempt& attempt : overview.ranks.attempts) {
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

std::string LackText(const LoadedJob& reading, SummaryLack lack) {
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

// Counts the recordings that had not ended when they were summarized. Empty if the recordings are in the folder,
// because SummariesText then describes how old their summaries are.
std::string NotEndedText(const LoadedJob& reading, const JobOverview& overview) {
  if (reading.has_recordings) return "";
  const auto not_ended = std::ranges::count_if(overview.recordings, [](const v1::RecordingSummary* recording) {
    return recording->end().reason() == v1::End::UNKNOWN;
  });
  if (not_ended == 0) return "";
  return fmt::format("; {} of the recordings had not ended then", FormatCount(static_cast<std::uint64_t>(not_ended)));
}

std::string SummariesText(const LoadedJob& reading) {
  std::string from;
  for (const SummaryLack lack : {SummaryLack::kMissing, SummaryLack::kDamaged, SummaryLack::kOlder}) {
    const std::string text = LackText(reading, lack);
    if (!text.empty()) from += (from.empty() ? "" : ", ") + text;
  }
  std::string text;
  if (reading.summaries > 0 || from.empty())
    text = "from " + FormatCounted(reading.summaries, "summary", "summaries") + (from.empty() ? "" : "; ");
  if (!from.empty()) text += "from recordings: " + from;
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

}  // namespace

std::string Line(const Terminal& terminal, const std::string& text) { return Wrapped(text, terminal.width, 2) + "\n"; }
std::string Warning(const Terminal& terminal, const std::string& text) {
  return Painted(terminal, Color::kRed, Wrapped("! " + text, terminal.width, 2)) + "\n";
}

std::string JobHeading(const LoadedJob& reading, const JobOverview& overview, const Terminal& terminal) {
  return ProgramText(overview, terminal) + Line(terminal, WhereText(overview)) +
         Line(terminal, RecordedText(overview)) +
         Line(terminal, SummariesText(reading) + NotEndedText(reading, overview));
}

std::string DifferenceLines(const LoadedJob& reading, const JobOverview& overview, const Terminal& terminal) {
  std::string text;
  for (const RankDifference& difference : overview.differences) {
    std::string values;
    for (const auto& [value, who] : difference.who)
      values +=
          (values.empty() ? "" : "; ") + (value.empty() ? std::string("none") : Escaped(value)) + " on " + WhoText(who);
    text += Warning(terminal, "not all ranks have the same " + difference.what + ": " + values);
  }
  for (const JobAttempt& attempt : overview.ranks.attempts) {
    if (!attempt.missing.empty())
      text += Warning(terminal, RanksText(attempt.missing) + (attempt.missing.size() == 1 ? " is" : " are") +
                                    " missing: no recording was made, or it was not copied here");
    if (attempt.twice.empty()) continue;
    text += Warning(terminal, RanksText(attempt.twice) + (attempt.twice.size() == 1 ? " is" : " are") +
                                  " there several times: several jobs recorded into this folder at once, or a rank "
                                  "started other processes that train");
  }
  std::size_t conflicts = 0;
  for (const v1::RecordingSummary* const recording : overview.recordings) {
    const std::string& conflict = recording->process().rank_conflict();
    if (!conflict.empty() && ++conflicts == 1)
      text += Warning(terminal, RankLabel(*recording) + ": " + Escaped(conflict));
  }
  if (conflicts > 1)
    text += Warning(terminal, "and so in " + FormatCounted(conflicts - 1, "more process", "more processes"));
  for (std::size_t i = 0; i < std::min<std::size_t>(reading.unreadable.size(), 3); ++i)
    text += Warning(terminal, "not read: " + Escaped(reading.unreadable[i]));
  if (reading.unreadable.size() > 3)
    text += Warning(terminal, fmt::format("and {} more that cannot be read", reading.unreadable.size() - 3));
  if (overview.damaged > 0)
    text += Warning(terminal, FormatCounted(overview.damaged, "recording", "recordings") +
                                  " with damage (memoir show " + "--rank N shows where)");
  text += overview.lost_events > 0
              ? Warning(terminal, FormatCounted(overview.lost_events, "event", "events") + " dropped")
              : std::string("0 events dropped\n");
  return text;
}

}  // namespace memoir
