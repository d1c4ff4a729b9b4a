#include "tools/view/capture/process_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

#include "fmt/format.h"
#include "tools/model/import_source.h"
#include "tools/model/job.h"
#include "tools/model/snapshot_trigger.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::string RestartPrefix(const JobAttempt& attempt) {
  return attempt.restart == 0 ? "" : fmt::format("restart {}: ", attempt.restart);
}

std::string AttemptRanks(const JobAttempt& attempt) {
  const std::string text = (attempt.ranks.size() == 1 ? "rank " : "ranks ") + FormatRankList(attempt.ranks);
  return attempt.world_size > 1 ? text + fmt::format(" of {}", attempt.world_size) : text;
}

std::string MissingText(const JobAttempt& attempt) {
  const bool one = attempt.missing.size() == 1;
  return fmt::format("{} {} {} missing", one ? "rank" : "ranks", FormatRankList(attempt.missing), one ? "is" : "are");
}

std::string TwiceText(const JobAttempt& attempt) {
  const bool one = attempt.twice.size() == 1;
  return fmt::format("{} {} {} there several times: several jobs, or more than ranks", one ? "rank" : "ranks",
                     FormatRankList(attempt.twice), one ? "is" : "are");
}

std::string HostsText(const Job& job) {
  return job.hosts.size() == 1 ? Escaped(*job.hosts.begin()) : fmt::format("{} hosts", job.hosts.size());
}

std::string AttemptsText(const Job& job) {
  std::string text;
  for (const JobAttempt& attempt : job.attempts) {
    if (!text.empty()) text += "; ";
    text += RestartPrefix(attempt) + AttemptRanks(attempt);
    if (!attempt.missing.empty()) text += "; " + MissingText(attempt);
    if (!attempt.twice.empty()) text += "; " + TwiceText(attempt);
  }
  return text;
}

// Returns the first process that is not idle, or the first process if all are idle.
const ProcessSummary& OnlyProcess(const Capture& capture) {
  const auto& all = capture.processes();
  const auto busy = std::ranges::find_if(all, [&](const ProcessSummary& p) { return !IsIdle(capture, p.id); });
  return busy == all.end() ? all.front() : *busy;
}

// Returns "SNAPSHOT (signal), ", with the trigger of the first process. Empty if the capture is not a snapshot.
std::string SnapshotText(const Capture& capture) {
  return IsSnapshot(capture) ? "SNAPSHOT (" + SnapshotTrigger(capture.processes().front()) + "), " : "";
}

// Returns a text such as "a trace of torch.profiler, rank 3 of 8, pid 4711".
std::string ImportedText(const Capture& capture) {
  const v1::ProcessInfo& info = capture.processes().front().info;
  std::string text = DescribeImport(ImportSourceOf(capture));
  if (info.world_size() > 0) text += fmt::format(", rank {} of {}", info.rank(), info.world_size());
  if (info.pid() != 0) text += fmt::format(", pid {}", info.pid());
  return text;
}

// Returns the coordinates of one rank in the job, such as " (pp 1, tp 0)".
std::string PlaceText(const v1::ProcessInfo& info) {
  const std::string place = DescribeCoordinates(info);
  return place.empty() ? "" : " (" + Escaped(place) + ")";
}

}  // namespace

std::string RenderProcesses(const Capture& capture) {
  if (IsImported(capture)) return ImportedText(capture);
  const Job job = DescribeJob(capture);
  if (job.processes <= 1) {
    const v1::ProcessInfo& info = OnlyProcess(capture).info;
    const std::string where = fmt::format("pid {} on {}", info.pid(), Escaped(info.host()));
    const JobAttempt* attempt = job.attempts.empty() ? nullptr : &job.attempts.front();
    if (attempt == nullptr) return where;
    const std::string missing = attempt->missing.empty() ? "" : "; " + MissingText(*attempt);
    return SnapshotText(capture) + RestartPrefix(*attempt) + AttemptRanks(*attempt) + PlaceText(info) + ", " + where +
           missing;
  }
  std::string text =
      SnapshotText(capture) + fmt::format("{} processes on {}, {}", job.processes, HostsText(job), AttemptsText(job));
  if (job.without_rank > 0) {
    text += fmt::format("; {} of the processes {} no rank", job.without_rank, job.without_rank == 1 ? "has" : "have");
  }
  return text;
}

std::string ProcessName(const Capture& capture, ProcessId process) {
  const ProcessSummary& own = capture.processes()[process.value];
  if (IsImported(own)) return Escaped(own.info.program());
  const std::string label = own.is_rank ? RankLabel(own) : "no rank";
  return fmt::format("{} (pid {} on {})", label, own.info.pid(), Escaped(own.info.host()));
}

std::string RenderRankConflicts(const Capture& capture, const ReplayReport& report) {
  std::string text;
  std::size_t more = 0;
  for (const ProcessSummary& process : capture.processes()) {
    if (!report.processes[process.id.value].replayed) continue;
    if (process.info.rank_conflict().empty() || IsIdle(capture, process.id)) continue;
    if (!text.empty()) {
      ++more;
      continue;
    }
    text = ProcessName(capture, process.id) + ": " + Escaped(process.info.rank_conflict());
  }
  if (more > 0) text += fmt::format("; also in {}", FormatCounted(more, "more process", "more processes"));
  return text;
}

std::string RenderForkedChildren(const Capture& capture, const ReplayReport& report) {
  std::uint64_t children = 0;
  std::uint64_t recorded = 0;
  std::set<std::uint64_t> parents;  // ids of the replayed processes
  for (const ProcessSummary& process : capture.processes()) {
    const auto& seen = report.processes[process.id.value];
    children += seen.counters.forked_children();
    if (seen.replayed) parents.insert(process.info.pid());
  }
  for (const ProcessSummary& process : capture.processes()) recorded += parents.count(process.info.forked_from());
  if (children <= recorded) return "";
  const std::uint64_t rest = children - recorded;
  return fmt::format("{} not recorded, because {} did not train (data loader workers, for example)",
                     FormatCounted(rest, "forked child was", "forked children were"), rest == 1 ? "it" : "they");
}

}  // namespace memoir
