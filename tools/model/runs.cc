#include "tools/model/runs.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <utility>

namespace memoir {
namespace {

// Of the last chunk of all: everything is complete.
constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();

// A process begins before its first event and ends behind its last; to import torch takes longer than this.
constexpr std::uint64_t kSlackNs = 1'000'000'000;

struct Life {
  const v1::ProcessInfo* info = nullptr;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

std::uint64_t NanosecondsOf(std::uint64_t ticks, std::uint64_t per_second) {
  if (per_second == 0) return 0;
  const double ns = static_cast<double>(ticks) * 1e9 / static_cast<double>(per_second);
  constexpr double kMost = 1e18;  // a damaged clock
  return static_cast<std::uint64_t>(std::min(ns, kMost));
}

Life LifeOf(const ProcessFiles& process) {
  Life life{&process.parts.back().process, process.parts[0].process.start().realtime_ns(), 0};
  std::uint64_t last = life.info->start().tick();
  for (const PartFile& part : process.parts) {
    for (const ChunkHeader& chunk : part.chunks) {
      last = std::max(last, chunk.last_tick);
      if (chunk.complete_until_tick != kForever) last = std::max(last, chunk.complete_until_tick);
    }
  }
  life.end_ns = life.begin_ns + NanosecondsOf(last - life.info->start().tick(), life.info->ticks_per_second());
  return life;
}

// A number is used again, most often in containers, where each first program has the same one.
bool IsSame(std::uint64_t pid, std::uint64_t start, const v1::ProcessInfo& process) {
  return pid == process.pid() && (start == 0 || process.process_start() == 0 || start == process.process_start());
}

// The parent may have written nothing for long, and end without a word: its last event says little.
bool Started(const v1::ProcessInfo& parent, const v1::ProcessInfo& child) {
  const bool known = child.parent_start() != 0 && child.parent_start() == parent.process_start();
  return (known && child.parent_pid() == parent.pid()) || child.forked_from() == parent.pid();
}

bool AreTogether(const Life& a, const Life& b) {
  if (!a.info->run().empty() && a.info->run() == b.info->run()) return true;
  if (a.begin_ns <= b.end_ns + kSlackNs && b.begin_ns <= a.end_ns + kSlackNs) return true;
  if (a.info->host() != b.info->host()) return false;
  return IsSame(a.info->pid(), a.info->process_start(), *b.info) || Started(*a.info, *b.info) ||
         Started(*b.info, *a.info);
}

// Each value is the number of a group's first member.
class Groups {
 public:
  explicit Groups(std::size_t members) : first_(members) { std::iota(first_.begin(), first_.end(), std::size_t{0}); }
  void Join(std::size_t a, std::size_t b) {
    const auto [to, from] = std::minmax(first_[a], first_[b]);
    for (std::size_t& first : first_) first = first == from ? to : first;
  }
  std::size_t Of(std::size_t member) const { return first_[member]; }

 private:
  std::vector<std::size_t> first_;
};

struct Ranks {
  std::set<std::pair<std::uint32_t, std::uint32_t>> there;  // rank and restart
  std::uint32_t world_size = 0;
};

Ranks RanksOf(const RunFiles& run, const std::vector<Life>& lives) {
  Ranks ranks;
  for (const std::size_t process : run.processes) {
    const v1::ProcessInfo& info = *lives[process].info;
    if (!HasRank(info)) continue;
    ranks.there.emplace(info.rank(), info.restart());
    ranks.world_size = std::max(ranks.world_size, info.world_size());
  }
  return ranks;
}

// Ranks that were started one after another, or a job that its launcher started anew.
bool AreOneWorld(const Ranks& a, const Ranks& b) {
  const auto is_there = [&](const auto& rank) { return b.there.contains(rank); };
  return !a.there.empty() && !b.there.empty() && a.world_size == b.world_size &&
         std::ranges::none_of(a.there, is_there);
}

}  // namespace

std::vector<RunFiles> FindRuns(const CaptureFolder& folder) {
  std::vector<Life> lives;
  lives.reserve(folder.processes.size());
  for (const ProcessFiles& process : folder.processes) lives.push_back(LifeOf(process));
  Groups groups(lives.size());
  for (std::size_t a = 0; a < lives.size(); ++a) {
    for (std::size_t b = a + 1; b < lives.size(); ++b) {
      if (groups.Of(a) != groups.Of(b) && AreTogether(lives[a], lives[b])) groups.Join(a, b);
    }
  }
  std::vector<RunFiles> all(lives.size());
  for (std::size_t i = 0; i < lives.size(); ++i) {
    RunFiles& run = all[groups.Of(i)];
    run.start_ns = run.processes.empty() ? lives[i].begin_ns : std::min(run.start_ns, lives[i].begin_ns);
    run.processes.push_back(i);
  }
  std::erase_if(all, [](const RunFiles& run) { return run.processes.empty(); });
  std::ranges::stable_sort(all, {}, &RunFiles::start_ns);
  std::vector<RunFiles> runs;
  for (RunFiles& run : all) {
    if (runs.empty() || !AreOneWorld(RanksOf(runs.back(), lives), RanksOf(run, lives))) {
      runs.push_back(std::move(run));
      continue;
    }
    runs.back().processes.insert(runs.back().processes.end(), run.processes.begin(), run.processes.end());
    std::ranges::sort(runs.back().processes);
  }
  return runs;
}

}  // namespace memoir
