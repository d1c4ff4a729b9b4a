#include "tools/model/runs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace memoir {
namespace {

// Of the last chunk of all: everything is complete.
constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();

// A process begins before its first event and ends behind its last; to import torch takes longer than this.
constexpr std::uint64_t kSlackNs = 1'000'000'000;

// Of "slurm-71.4/node1-100-1700000000000000000", which `memoir run` calls itself.
struct RunName {
  std::string_view launched;  // "slurm-71.4"; "": no launcher named it
  std::string_view launcher;  // "slurm"
  std::string_view job;       // "71": a job of Slurm's can have one step for each host
};

RunName NameOf(const v1::ProcessInfo& info) {
  const std::string_view run = info.run();
  const std::size_t ends = run.find('/');
  RunName name;
  if (ends == std::string_view::npos) return name;
  name.launched = run.substr(0, ends);
  name.launcher = name.launched.substr(0, name.launched.find('-'));
  name.job = name.launched.substr(std::min(name.launched.size(), name.launcher.size() + 1));
  if (name.launcher == "slurm") name.job = name.job.substr(0, name.job.find('.'));
  return name;
}

struct Life {
  const v1::ProcessInfo* info = nullptr;
  RunName name;
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
  Life life{&process.parts.back().process, NameOf(process.parts.back().process),
            process.parts[0].process.start().realtime_ns(), 0};
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

// Where two launchers are at work (mpirun in a job of Slurm's), names of two kinds say nothing.
bool AreOfTwoJobs(const RunName& a, const RunName& b) {
  return !a.launched.empty() && a.launcher == b.launcher && a.job != b.job;
}

bool AreTogether(const Life& a, const Life& b) {
  if (!a.info->run().empty() && a.info->run() == b.info->run()) return true;
  if (AreOfTwoJobs(a.name, b.name)) return false;
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

bool HaveOneInCommon(const Ranks& a, const Ranks& b) {
  return std::ranges::any_of(a.there, [&](const auto& rank) { return b.there.contains(rank); });
}

// Ranks that were started one after another, or a job that its launcher started anew.
bool AreOneWorld(const RunFiles& a, const RunFiles& b, const std::vector<Life>& lives) {
  if (AreOfTwoJobs(lives[a.processes[0]].name, lives[b.processes[0]].name)) return false;
  const Ranks left = RanksOf(a, lives), right = RanksOf(b, lives);
  return !left.there.empty() && !right.there.empty() && left.world_size == right.world_size &&
         !HaveOneInCommon(left, right);
}

void Add(std::size_t process, const std::vector<Life>& lives, RunFiles& run) {
  run.start_ns = run.processes.empty() ? lives[process].begin_ns : std::min(run.start_ns, lives[process].begin_ns);
  run.processes.push_back(process);
}

std::string_view RunOf(const Life& life) { return life.info->run(); }
std::string_view StepOrRunOf(const Life& life) { return life.name.launched.empty() ? RunOf(life) : life.name.launched; }

// Divides processes that were there at the same time by `name`, where any two of the names have a rank in common.
// Where two have none, one job may have had both, and nothing says which others belong to it.
std::vector<RunFiles> DividedBy(std::string_view (*name_of)(const Life&), RunFiles run,
                                const std::vector<Life>& lives) {
  std::map<std::string_view, RunFiles> by_name;
  for (const std::size_t process : run.processes) Add(process, lives, by_name[name_of(lives[process])]);
  std::vector<RunFiles> divided;
  std::vector<Ranks> ranks;
  RunFiles others;  // without a rank
  bool apart = true;
  for (auto& [name, of] : by_name) {
    const Ranks own = RanksOf(of, lives);
    if (own.there.empty()) {
      for (const std::size_t process : of.processes) Add(process, lives, others);
      continue;
    }
    apart = apart && !name.empty();
    for (const Ranks& other : ranks) apart = apart && HaveOneInCommon(own, other);
    ranks.push_back(own);
    divided.push_back(std::move(of));
  }
  if (!apart || divided.size() < 2) {
    divided.clear();
    divided.push_back(std::move(run));
    return divided;
  }
  for (const std::size_t process : others.processes) Add(process, lives, divided.front());
  return divided;
}

// By what the launcher named; then by `memoir run`, of which a job has one for each rank, or one. Not so torchrun's:
// one job of several has ranks that are numbered anew when a host joins.
std::vector<RunFiles> Divided(RunFiles run, const std::vector<Life>& lives) {
  std::vector<RunFiles> divided;
  for (RunFiles& step : DividedBy(StepOrRunOf, std::move(run), lives)) {
    if (lives[step.processes.front()].name.launcher == "torchrun") {
      divided.push_back(std::move(step));
      continue;
    }
    for (RunFiles& of : DividedBy(RunOf, std::move(step), lives)) divided.push_back(std::move(of));
  }
  return divided;
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
  std::vector<RunFiles> groups_of(lives.size());
  for (std::size_t i = 0; i < lives.size(); ++i) Add(i, lives, groups_of[groups.Of(i)]);
  std::vector<RunFiles> all;
  for (RunFiles& run : groups_of) {
    if (run.processes.empty()) continue;
    for (RunFiles& of : Divided(std::move(run), lives)) all.push_back(std::move(of));
  }
  std::ranges::stable_sort(all, {}, &RunFiles::start_ns);
  std::vector<RunFiles> runs;
  for (RunFiles& run : all) {
    if (runs.empty() || !AreOneWorld(runs.back(), run, lives)) {
      runs.push_back(std::move(run));
      continue;
    }
    runs.back().processes.insert(runs.back().processes.end(), run.processes.begin(), run.processes.end());
    std::ranges::sort(runs.back().processes);
  }
  return runs;
}

}  // namespace memoir
