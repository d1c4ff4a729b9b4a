#include "tools/model/job.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/read/process_info_rules.h"

namespace memoir {
namespace {

// Bounds memory if the world size in a capture is damaged.
constexpr std::uint32_t kMostRanks = 1u << 20;

bool SameRank(const ProcessSummary& a, const ProcessSummary& b) {
  return a.is_rank && b.is_rank && a.info.rank() == b.info.rank() && a.info.restart() == b.info.restart();
}

// Returns true if only this process of a simulated job was run, so that no rank is missing.
// simcuda/configuration/configuration.cc writes the text ", alone of".
bool IsAloneByIntent(const JobMember& process) {
  return process.info->simulated_device().find(", alone of ") != std::string::npos;
}

void FindMissing(JobAttempt& attempt) {
  if (attempt.world_size > kMostRanks) attempt.world_size = 0;
  for (std::uint32_t rank = 0; rank < attempt.world_size; ++rank) {
    if (!attempt.ranks.contains(rank)) attempt.missing.insert(attempt.missing.end(), rank);
  }
}

}  // namespace

bool IsIdle(const Capture& capture, ProcessId process) {
  const std::vector<ProcessSummary>& all = capture.processes();
  const ProcessSummary& own = all[process.value];
  if (own.events > 0) return false;
  // A process that a rank starts inherits the environment of the rank, including the rank's number, but is not a rank.
  const bool only_inherits = std::any_of(all.begin(), all.end(), [&](const ProcessSummary& other) {
    return SameRank(own, other) && (other.events > 0 || other.id.value < own.id.value);
  });
  return !own.is_rank || only_inherits;
}

Job DescribeJob(const Capture& capture) {
  std::vector<JobMember> members;
  for (const ProcessSummary& process : capture.processes()) {
    if (!IsIdle(capture, process.id)) members.push_back({&process.info, process.is_rank});
  }
  return DescribeJob(members);
}

Job DescribeJob(const std::vector<JobMember>& members) {
  Job job;
  std::map<std::uint32_t, JobAttempt> attempts;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::pair<std::string, std::uint64_t>>> processes;
  const bool alone = std::ranges::any_of(members, IsAloneByIntent);
  for (const auto& [info, is_rank] : members) {
    ++job.processes;
    job.hosts.insert(info->host());
    if (!is_rank) {
      ++job.without_rank;
      continue;
    }
    JobAttempt& attempt = attempts[info->restart()];
    attempt.restart = info->restart();
    attempt.world_size = std::max(attempt.world_size, info->world_size());
    attempt.ranks.insert(info->rank());
    auto& same = processes[{info->rank(), info->restart()}];
    same.emplace(info->host(), info->pid());
    if (same.size() > 1) attempt.twice.insert(info->rank());
  }
  for (auto& [restart, attempt] : attempts) {
    if (!alone) FindMissing(attempt);
    job.attempts.push_back(std::move(attempt));
  }
  return job;
}

std::string RankLabel(const ProcessSummary& process) { return RankLabel(process.info, process.is_rank); }

std::string RankLabel(const v1::ProcessInfo& info, bool is_rank) {
  if (!is_rank) return absl::StrCat("no rank (pid ", info.pid(), ")");
  const std::string restart = info.restart() == 0 ? "" : absl::StrCat(" restart ", info.restart());
  return absl::StrCat("rank ", info.rank(), restart);
}

std::string ProcessLabel(const Capture& capture, ProcessId process) {
  const ProcessSummary& own = capture.processes()[process.value];
  const auto shared = std::ranges::count_if(capture.processes(), [&](const ProcessSummary& other) {
    return SameRank(own, other) && !IsIdle(capture, other.id);
  });
  return RankLabel(own) + (shared > 1 ? absl::StrCat(" (pid ", own.info.pid(), ")") : "");
}

std::string DescribeCoordinates(const v1::ProcessInfo& info) {
  std::string text;
  for (int i = 0; i < std::min(info.coordinates_size(), kMostCoordinates); ++i) {
    const v1::Coordinate& of = info.coordinates(i);
    if (of.size() > 1) absl::StrAppend(&text, text.empty() ? "" : ", ", of.dimension(), " ", of.index());
  }
  return text;
}

std::string FormatRankList(const std::set<std::uint32_t>& ranks) {
  std::string text;
  for (auto it = ranks.begin(); it != ranks.end();) {
    const std::uint32_t first = *it;
    std::uint32_t last = first;
    for (++it; it != ranks.end() && *it == last + 1; ++it) last = *it;
    absl::StrAppend(&text, text.empty() ? "" : ", ", first);
    if (last != first) absl::StrAppend(&text, "-", last);
  }
  return text;
}

}  // namespace memoir
