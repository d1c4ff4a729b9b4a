#include "tools/view/ranks/odd_ranks_view.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/ranks/failed_ranks.h"
#include "tools/model/job.h"
#include "tools/view/compare/change_text.h"
#include "tools/view/ranks/job_lines.h"
#include "tools/view/ranks/roles_text.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/signal_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::string ComparisonText(const OddRanks& found, const OddRank& odd) {
  if (found.roles[odd.role].is_unlike_pair) return "the other replica of its stage";
  return fmt::format("the median of {} role of {}", odd.ranks.size() > 1 ? "their" : "its",
                     FormatCount(found.roles[odd.role].members.size()));
}

std::string WhoText(const OddRanks& found, const OddRank& odd) {
  const RankFacts& first = found.ranks[odd.ranks[0]];
  const std::string ranks = RanksText(found, odd.ranks);
  if (!odd.place.empty()) return Escaped(odd.place) + ", " + ranks;
  if (odd.figure == OddFigure::kFailed || (odd.figure == OddFigure::kKilled && odd.ranks.size() > 1)) return ranks;
  if (odd.ranks.size() > 1) return "host " + Escaped(first.host) + ", " + ranks;
  return first.label + " (" + Escaped(first.host) + (first.place.empty() ? "" : ", " + Escaped(first.place)) + ")";
}

std::string MoreOrLess(const OddRank& odd) {
  return FormatBytes(odd.difference()) + (odd.value > odd.usual ? " more" : " less");
}

std::string SinceText(const OddRank& odd) {
  if (!odd.since_step) return "";
  if (odd.since_within <= 1) return fmt::format(", since step {}", FormatCount(*odd.since_step));
  return fmt::format(", since a step of {} to {}", FormatCount(*odd.since_step),
                     FormatCount(*odd.since_step + odd.since_within - 1));
}

// Returns "was killed by signal 9 (SIGKILL)", "was killed (or left by os._exit or exec)" or
// "ended by an uncaught RuntimeError: ...,".
std::string EndText(const RankFacts& rank, bool several = false) {
  constexpr std::size_t kMessage = 80;
  const std::string message = Shortened(Escaped(rank.end_message), kMessage);
  const std::string killed = several ? "were killed" : "was killed";
  if (rank.was_killed() && rank.end_signal != 0) return killed + " by " + SignalText(rank.end_signal);
  if (rank.was_killed()) return killed + " (or left by os._exit or exec)";
  return message.empty() ? "ended" : "ended by an uncaught " + message + ",";
}

// Returns "; it was killed by signal 9 (SIGKILL) after 9 steps, its role made 10", for a finding that is not about the
// end of the rank. Empty if the rank ended as its role did.
std::string EndRemark(const OddRanks& found, const OddRank& odd) {
  const RankFacts& rank = found.ranks[odd.ranks[0]];
  if (odd.ranks.size() > 1 || odd.is_about_the_end()) return "";
  const std::string usual = odd.usual_steps ? ", its role made " + FormatCount(*odd.usual_steps) : "";
  const std::string steps = " after " + FormatCounted(rank.steps, "step", "steps");
  if (rank.was_killed()) return "; it " + EndText(rank) + steps + usual;
  return usual.empty() ? "" : "; it ended" + steps + usual;
}

// Returns "; it ended first, 250 ms before the next failed rank".
std::string FirstText(const OddRank& odd) {
  if (!odd.first) return "";
  return "; it ended first, " + FormatDuration(odd.first->before_ns) + " before the next failed rank";
}

// Returns "ranks 0-3: were killed (or left by os._exit or exec) after 6 steps". If one of these ranks ended first,
// returns "rank 2: was killed (or left by os._exit or exec) after 6 steps; it ended first, 38 ms before the next failed
// rank; then ranks 0-1, 3 likewise".
std::string FailedText(const OddRanks& found, const OddRank& odd) {
  const RankFacts& first = found.ranks[odd.ranks.front()];
  const bool is_about_one = odd.first || odd.ranks.size() == 1;
  const std::string who = is_about_one ? first.label : RanksText(found, odd.ranks);
  const std::string text =
      who + ": " + EndText(first, !is_about_one) + " after " + FormatCounted(first.steps, "step", "steps");
  if (!odd.first || odd.ranks.size() == 1) return text + FirstText(odd);
  return text + FirstText(odd) + "; then " + RanksText(found, {odd.ranks.begin() + 1, odd.ranks.end()}) + " likewise";
}

// Returns "; it keeps 16.0 MiB of this from step to step", if the rank also has more than usual when its steps begin.
std::string KeptText(const OddRank& odd) {
  if (odd.more_between_steps == 0 || odd.value < odd.usual) return "";
  if (odd.more_between_steps >= odd.difference()) return "; it keeps this memory from step to step";
  return "; it keeps " + FormatBytes(odd.more_between_steps) + " of this from step to step";
}

// Returns " without gradient buckets", if any rank of the role has gradient buckets.
std::string WithoutBuckets(const OddRanks& found, const OddRank& odd) {
  const bool has_buckets = std::ranges::any_of(
      found.roles[odd.role].members, [&](std::size_t member) { return found.ranks[member].most_buckets > 0; });
  return has_buckets ? " without gradient buckets" : "";
}

std::string FigureText(const OddRanks& found, const OddRank& odd) {
  const std::string who = WhoText(found, odd) + ": ";
  const bool several = odd.ranks.size() > 1;
  const std::string up_to = !several ? "" : odd.value > odd.usual ? "up to " : "down to ";
  const std::string of_peak = (several ? "peaks of " : "peak of ") + up_to;
  switch (odd.figure) {
    case OddFigure::kGrowth: {
      const v1::GrowthSummary& growth = *odd.growth;
      const std::string others = !found.roles[odd.role].is_judged() ? "most other ranks do not"
                                 : several                          ? "their role does not"
                                                                    : "its role does not";
      return who + fmt::format("{} {} more in every step, which {}{}: {} at {}{}", several ? "keep up to" : "keeps",
                               FormatBytes(growth.bytes() / std::max<std::uint64_t>(growth.steps(), 1)), others,
                               SinceText(odd), growth.kind(), ShortPlace(growth.place()),
                               growth.module().empty() ? "" : " in " + ShownName(growth.module()));
    }
    case OddFigure::kAllocated:
      return who +
             fmt::format("{}{}{}, {} than {}{}", of_peak, FormatBytes(odd.value), WithoutBuckets(found, odd),
                         MoreOrLess(odd), ComparisonText(found, odd), SinceText(odd)) +
             KeptText(odd);
    case OddFigure::kBetween:
      return who + fmt::format("{}{}{} allocated when its steps begin, {} than {}", up_to, FormatBytes(odd.value),
                               WithoutBuckets(found, odd), MoreOrLess(odd), ComparisonText(found, odd));
    case OddFigure::kBuckets:
      return who + fmt::format("{}{} in gradient buckets, {} than {}; what else is allocated is in line", up_to,
                               FormatBytes(odd.value), MoreOrLess(odd), ComparisonText(found, odd));
    case OddFigure::kReserved:
      return who + fmt::format("{}{} reserved, {} than {}; what is allocated is in line", up_to, FormatBytes(odd.value),
                               MoreOrLess(odd), ComparisonText(found, odd));
    case OddFigure::kOutside:
      return who +
             fmt::format("{}{} outside of torch and NCCL (libraries, context), {} than {}", up_to,
                         FormatBytes(odd.value), MoreOrLess(odd),
                         several && odd.place.empty() ? "the medians of their roles" : ComparisonText(found, odd));
    case OddFigure::kAtEnd:
      return who + fmt::format("{}{} allocated at the end, {} than {}; {} in line", up_to, FormatBytes(odd.value),
                               MoreOrLess(odd), ComparisonText(found, odd),
                               several ? "their peaks are" : "its peak is");
    case OddFigure::kRose:
      return who + fmt::format(
                       "needs up to {}{} in its last steps, {} more than in its own first steps{}; the other "
                       "ranks do not need more",
                       FormatBytes(odd.value), WithoutBuckets(found, odd), FormatBytes(odd.difference()),
                       SinceText(odd));
    case OddFigure::kFailed:
      return FailedText(found, odd);
    case OddFigure::kLeft:
      return fmt::format("{} ended without an error after {}; most other ranks failed", RanksText(found, odd.ranks),
                         FormatCounted(odd.value, "step", "steps"));
    case OddFigure::kKilled:
      if (several || !found.roles[odd.role].is_judged()) return FailedText(found, odd);
      [[fallthrough]];
    case OddFigure::kSteps:
      return who +
             fmt::format("{} after {}{}, {} role made {}", EndText(found.ranks[odd.ranks[0]]), up_to,
                         FormatCounted(odd.value, "step", "steps"), several ? "their" : "its", FormatCount(odd.usual)) +
             FirstText(odd);
  }
  return who;
}

std::string Sentence(const OddRanks& found, const OddRank& odd) {
  return FigureText(found, odd) + EndRemark(found, odd);
}

// Returns up to three changes of the program that may explain the difference, one line each.
std::string ProgramLines(const OddRanks& found, const OddRank& odd, const Terminal& terminal) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  if (!odd.program) return text;
  const std::string usual = found.ranks[odd.program->usual].label;
  for (const ProgramChange& change : odd.program->changes | std::views::take(kNamed))
    text += "  why: " + Wrapped(ChangeTextOfRank(change, usual), terminal.width, 7) + "\n";
  return text;
}

std::string RowsTable(const OddRank& odd, const Terminal& terminal) {
  if (odd.rows.empty()) return "";
  TextTable table({"at the peak", "here", "usual"});
  table.CutNamesAtEnd();
  for (const OddRow& row : odd.rows)
    table.AddRow({row.by + " " + ShortName(row), FormatBytes(row.bytes), FormatBytes(row.usual)});
  return table.Render(terminal, 4);
}

bool AnyMissing(const JobOverview& overview) {
  return std::ranges::any_of(overview.ranks.attempts, [](const JobAttempt& attempt) {
    return !attempt.missing.empty() || !attempt.twice.empty();
  });
}

// Returns " and by ep".
std::string SplitText(const OddRanks& found) {
  std::set<std::string> dimensions;
  for (const Role& role : found.roles) dimensions.insert(role.split_by);
  dimensions.erase("");
  std::string text;
  for (const std::string& dimension : dimensions) text += (text.empty() ? " and by " : ", ") + Escaped(dimension);
  return text;
}

// Counts the roles that have too few ranks to decide which rank is odd.
std::string NotJudgedText(const OddRanks& found) {
  std::size_t ranks = 0, roles = 0;
  for (const Role& role : found.roles) {
    if (role.is_judged()) continue;
    ++roles;
    ranks += role.members.size();
  }
  if (roles == 0) return "";
  return fmt::format("{} in {} of fewer than {} ranks {} compared with {} own first steps alone",
                     FormatCounted(ranks, "rank", "ranks"), FormatCounted(roles, "role", "roles"), kFewestOfRole,
                     ranks == 1 ? "is" : "are", ranks == 1 ? "its" : "their");
}

// Returns "4 compared, 1 is out of line" or "3 failed; 3 compared, otherwise none is out of line".
std::string CountsText(const OddRanks& found) {
  std::size_t compared = 0;
  for (const Role& role : found.roles) compared += role.is_judged() ? role.members.size() : 0;
  const auto [failed, out_of_line] = NamedRanksOf(found);
  const std::string out = out_of_line.empty()       ? "none is"
                          : out_of_line.size() == 1 ? "1 is"
                                                    : FormatCount(out_of_line.size()) + " are";
  const std::string failures = failed.empty() ? "" : FormatCount(failed.size()) + " failed; ";
  if (compared == 0)
    return failures + "none can be compared with others" + (out_of_line.empty() ? "" : ", " + out + " out of line");
  return failures +
         fmt::format("{} compared, {}{} out of line", FormatCount(compared), failed.empty() ? "" : "otherwise ", out);
}

// Describes the first finding.
std::string Headline(const JobOverview& overview, const OddRanks& found) {
  if (!found.odd.empty()) return Sentence(found, found.odd.front());
  for (const JobAttempt& attempt : overview.ranks.attempts) {
    const std::set<std::uint32_t>& ranks = attempt.missing.empty() ? attempt.twice : attempt.missing;
    if (ranks.empty()) continue;
    return (ranks.size() == 1 ? "rank " : "ranks ") + FormatRankList(ranks) + (ranks.size() == 1 ? " is " : " are ") +
           (attempt.missing.empty() ? "there several times" : "missing");
  }
  if (!overview.differences.empty()) return "not all ranks have the same " + overview.differences.front().what;
  return "no rank is out of line with its role";
}

Json ProgramJson(const OddRanks& found, const OddRank& odd) {
  if (!odd.program) return nullptr;
  const RankFacts& usual = found.ranks[odd.program->usual];
  Json changes = Json::array();
  for (const ProgramChange& change : odd.program->changes)
    changes.push_back({{"kind", ToString(change.kind)}, {"text", ChangeTextOfRank(change, usual.label)}});
  return {{"compared_with_rank", usual.rank}, {"changes", std::move(changes)}};
}

}  // namespace

bool IsFinding(const JobOverview& overview, const OddRanks& found) {
  return !found.odd.empty() || !overview.differences.empty() || AnyMissing(overview);
}

std::string RenderOddRanks(const LoadedJob& reading, const JobOverview& overview, const OddRanks& found,
                           std::size_t top, const std::string& path, const Terminal& terminal) {
  if (overview.recordings.empty()) return "No process of this job recorded an event.\n";
  std::string text = JobHeading(reading, overview, terminal) + "\n";
  if (found.ranks.empty())
    return text + Line(terminal, "No process of this job is a rank: there is nothing to compare.");
  text += Line(
      terminal,
      fmt::format("{} in {}, by the modules that they called{}; {}", FormatCounted(found.ranks.size(), "rank", "ranks"),
                  FormatCounted(found.roles.size(), "role", "roles"), SplitText(found), CountsText(found)));
  text += RolesTable(found, top, terminal);
  if (const std::string left = NotJudgedText(found); !left.empty()) text += Line(terminal, left);
  const std::size_t shown = top == 0 || found.odd.size() <= top + 1 ? found.odd.size() : top;
  for (std::size_t i = 0; i < shown; ++i) {
    const OddRank& odd = found.odd[i];
    text +=
        "\n" + Warning(terminal, Sentence(found, odd)) + ProgramLines(found, odd, terminal) + RowsTable(odd, terminal);
    if (!reading.has_recordings) continue;
    const std::string rank = std::to_string(found.ranks[odd.ranks[0]].rank);
    const std::string verb = odd.figure == OddFigure::kGrowth    ? "check leaks"
                             : odd.figure == OddFigure::kOutside ? "check balance"
                             : odd.figure == OddFigure::kAtEnd   ? "show --by line --at end"
                                                                 : "show --by line";
    text += "  more: " + PrintedCommand(verb + " --rank " + rank + " " + path) + "\n";
  }
  if (shown < found.odd.size())
    text += "\n" + Warning(terminal, fmt::format("and {} more; --top 0 shows all", found.odd.size() - shown));
  if (shown > 0 && !reading.has_recordings)
    text += "\n" +
            Line(terminal, "More is in the recordings of these ranks, which are not here: memoir collect copies them.");
  return text + "\n" + DifferenceLines(reading, overview, terminal);
}

Json OddRanksJson(const LoadedJob& reading, const JobOverview& overview, const OddRanks& found) {
  Json json = {{"version", 1}, {"capture", reading.folder}, {"view", "check_ranks"}};
  json["found"] = IsFinding(overview, found);
  json["headline"] = Headline(overview, found);
  json["ranks"] = found.ranks.size();
  json["roles"] = RolesJson(found);
  json["odd"] = Json::array();
  for (const OddRank& odd : found.odd) {
    Json ranks = Json::array(), rows = Json::array();
    for (const std::size_t i : odd.ranks) ranks.push_back(found.ranks[i].rank);
    for (const OddRow& row : odd.rows) rows.push_back(RowJson(row));
    Json one = {{"who", WhoText(found, odd)},
                {"ranks", std::move(ranks)},
                {"host", found.ranks[odd.ranks[0]].host},
                {"place", odd.ranks.size() == 1 ? found.ranks[odd.ranks[0]].place : odd.place},
                {"role", odd.role},
                {"figure", ToString(odd.figure)},
                {"value", odd.value},
                {"usual", odd.usual},
                {"since_step", odd.since_step ? Json(*odd.since_step) : Json(nullptr)},
                {"since_within_steps", odd.since_within},
                {"more_between_steps_bytes", odd.more_between_steps},
                {"at_peak", std::move(rows)},
                {"growth", nullptr},
                {"program", ProgramJson(found, odd)}};
    if (odd.growth)
      one["growth"] = {{"kind", odd.growth->kind()},
                       {"place", odd.growth->place()},
                       {"module", odd.growth->module()},
                       {"bytes_per_step", odd.growth->bytes() / std::max<std::uint64_t>(odd.growth->steps(), 1)}};
    json["odd"].push_back(std::move(one));
  }
  json["differences"] = Json::array();
  for (const RankDifference& difference : overview.differences) {
    Json values = Json::array();
    for (const auto& [value, who] : difference.who)
      values.push_back({{"value", value}, {"who", WhoText(who)}, {"ranks", who}});
    json["differences"].push_back({{"what", difference.what}, {"values", std::move(values)}});
  }
  json["unreadable"] = reading.unreadable;
  json["attempts"] = Json::array();
  for (const JobAttempt& attempt : overview.ranks.attempts)
    json["attempts"].push_back(
        {{"restart", attempt.restart}, {"missing_ranks", attempt.missing}, {"ranks_twice", attempt.twice}});
  return json;
}

}  // namespace memoir
