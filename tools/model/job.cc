#include "tools/model/job.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

// A damaged number must not cost memory.
constexpr std::uint32_t kMostRanks = 1u << 20;

bool SameRank(const ProcessSummary& a, const ProcessSummary& b) {
  return a.is_rank && b.is_rank && a.info.rank() == b.info.rank() && a.info.restart() == b.info.restart();
}

// One process that stood for a simulated world: its other ranks never were. As interpose/simcuda/configuration.cc says
// it.
bool IsAloneByIntent(const ProcessSummary& process) {
  const std::string& device = process.info.simulated_device();
  return device.find(", alone of ") != std::string::npos;
}

void FindMissing(Attempt& attempt) {
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
  // What a rank starts inherits its variables: it is the rank's shadow.
  const bool shadow = std::any_of(all.begin(), all.end(), [&](const ProcessSummary& other) {
    return SameRank(own, other) && (other.events > 0 || other.id.value < own.id.value);
  });
  return !own.is_rank || shadow;
}

Job DescribeJob(const Capture& capture) {
  Job job;
  std::map<std::uint32_t, Attempt> attempts;
  const bool alone = std::ranges::any_of(capture.processes(), IsAloneByIntent);
  for (const ProcessSummary& process : capture.processes()) {
    if (IsIdle(capture, process.id)) continue;
    ++job.processes;
    job.hosts.insert(process.info.host());
    if (!process.is_rank) {
      ++job.without_rank;
      continue;
    }
    Attempt& attempt = attempts[process.info.restart()];
    attempt.restart = process.info.restart();
    attempt.world_size = std::max(attempt.world_size, process.info.world_size());
    attempt.ranks.insert(process.info.rank());
  }
  for (auto& [restart, attempt] : attempts) {
    if (!alone) FindMissing(attempt);
    job.attempts.push_back(std::move(attempt));
  }
  return job;
}

std::string RankLabel(const ProcessSummary& process) {
  if (!process.is_rank) return absl::StrCat("no rank (pid ", process.info.pid(), ")");
  const std::string restart = process.info.restart() == 0 ? "" : absl::StrCat(" restart ", process.info.restart());
  return absl::StrCat("rank ", process.info.rank(), restart);
}

std::string ProcessLabel(const Capture& capture, ProcessId process) {
  const ProcessSummary& own = capture.processes()[process.value];
  const auto shared = std::ranges::count_if(capture.processes(), [&](const ProcessSummary& other) {
    return SameRank(own, other) && !IsIdle(capture, other.id);
  });
  return RankLabel(own) + (shared > 1 ? absl::StrCat(" (pid ", own.info.pid(), ")") : "");
}

std::string RankList(const std::set<std::uint32_t>& ranks) {
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
