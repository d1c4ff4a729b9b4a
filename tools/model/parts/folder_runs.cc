#include "tools/model/parts/folder_runs.h"

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

// The value of ChunkHeader::complete_until_tick in the last chunk of a recording.
constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();

// Lifetimes with a gap of up to kSlackNs count as overlapping, because a process begins before its first event and ends
// after its last event. The slack is shorter than the import of torch, so processes that ran one after another do not
// overlap.
constexpr std::uint64_t kSlackNs = 1'000'000'000;

// The pieces of ProcessInfo::run, the name of one `memoir run`: "slurm-71.4/node1-100-1700000000000000000".
struct RunName {
  std::string_view launched;  // the launcher's name for the job: "slurm-71.4"; "": no launcher named the job
  std::string_view launcher;  // "slurm"
  std::string_view job;       // "71", without Slurm's job step, because a job may have one step for each host
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

struct ProcessLifetime {
  const v1::ProcessInfo* info = nullptr;
  RunName name;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

std::uint64_t NanosecondsOf(std::uint64_t ticks, std::uint64_t per_second) {
  if (per_second == 0) return 0;
  const double ns = static_cast<double>(ticks) * 1e9 / static_cast<double>(per_second);
  constexpr double kMost = 1e18;  // limit for a damaged clock
  return static_cast<std::uint64_t>(std::min(ns, kMost));
}

ProcessLifetime LifetimeOf(const ProcessFiles& process) {
  ProcessLifetime life{&process.parts.back().process, NameOf(process.parts.back().process),
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

// Returns true if `process` has this process id and this start. A start of 0 is unknown and equals any start. The start
// is compared because process ids are used again: in containers, the first program always has the same process id.
bool IsSame(std::uint64_t pid, std::uint64_t start, const v1::ProcessInfo& process) {
  return pid == process.pid() && (start == 0 || process.process_start() == 0 || start == process.process_start());
}

// Returns true if `parent` is the parent that `child` recorded. A comparison of lifetimes would not be enough, because
// a parent may have its last event long before it starts the child.
bool Started(const v1::ProcessInfo& parent, const v1::ProcessInfo& child) {
  const bool known = child.parent_start() != 0 && child.parent_start() == parent.process_start();
  return (known && child.parent_pid() == parent.pid()) || child.forked_from() == parent.pid();
}

// Returns true if `a` and `b` name different jobs of the same launcher. Names of different launchers cannot be
// compared, because one job may have two launchers (mpirun in a job of Slurm).
bool AreOfTwoJobs(const RunName& a, const RunName& b) {
  return !a.launched.empty() && a.launcher == b.launcher && a.job != b.job;
}

// Returns true if `a` and `b` belong to the same run, apart from the rule about ranks of one world (AreOneWorld).
bool AreTogether(const ProcessLifetime& a, const ProcessLifetime& b) {
  if (!a.info->run().empty() && a.info->run() == b.info->run()) return true;
  if (AreOfTwoJobs(a.name, b.name)) return false;
  if (a.begin_ns <= b.end_ns + kSlackNs && b.begin_ns <= a.end_ns + kSlackNs) return true;
  if (a.info->host() != b.info->host()) return false;
  return IsSame(a.info->pid(), a.info->process_start(), *b.info) || Started(*a.info, *b.info) ||
         Started(*b.info, *a.info);
}

// Divides members into groups. `first_` contains, for each member, the first member of its group.
class Groups {
 public:
  explicit Groups(std::size_t members) : first_(members) { std::iota(first_.begin(), first_.end(), std::size_t{0}); }
  void Join(std::size_t a, std::size_t b) {
    const auto [to, from] = std::minmax(first_[a], first_[b]);
    for (std::size_t& first : first_) first = first == from ? to : first;
  }
  std::size_t GroupOf(std::size_t member) const { return first_[member]; }

 private:
  std::vector<std::size_t> first_;
};

struct RankSet {
  std::set<std::pair<std::uint32_t, std::uint32_t>> there;  // rank and restart
  std::uint32_t world_size = 0;
};

RankSet RanksOf(const FolderRun& run, const std::vector<ProcessLifetime>& lives) {
  RankSet ranks;
  for (const std::size_t process : run.processes) {
    const v1::ProcessInfo& info = *lives[process].info;
    if (!HasRank(info)) continue;
    ranks.there.emplace(info.rank(), info.restart());
    ranks.world_size = std::max(ranks.world_size, info.world_size());
  }
  return ranks;
}

bool HaveOneInCommon(const RankSet& a, const RankSet& b) {
  return std::ranges::any_of(a.there, [&](const auto& rank) { return b.there.contains(rank); });
}

// Returns true if `a` and `b` can be parts of one job: ranks that ran one after another, or attempts of a job that was
// restarted. The two parts have the same world size, and no rank of the same attempt is in both.
bool AreOneWorld(const FolderRun& a, const FolderRun& b, const std::vector<ProcessLifetime>& lives) {
  if (AreOfTwoJobs(lives[a.processes[0]].name, lives[b.processes[0]].name)) return false;
  const RankSet left = RanksOf(a, lives), right = RanksOf(b, lives);
  return !left.there.empty() && !right.there.empty() && left.world_size == right.world_size &&
         !HaveOneInCommon(left, right);
}

void Add(std::size_t process, const std::vector<ProcessLifetime>& lives, FolderRun& run) {
  run.start_ns = run.processes.empty() ? lives[process].begin_ns : std::min(run.start_ns, lives[process].begin_ns);
  run.processes.push_back(process);
}

std::string_view RunOf(const ProcessLifetime& life) { return life.info->run(); }
std::string_view StepOrRunOf(const ProcessLifetime& life) {
  return life.name.launched.empty() ? RunOf(life) : life.name.launched;
}

// Divides `run`, whose processes existed at the same time, into one run for each name. The names must all be known, and
// any two of them must have processes of the same rank. Otherwise the names may belong to one job, and `run` stays
// whole.
std::vector<FolderRun> DividedBy(std::string_view (*name_of)(const ProcessLifetime&), FolderRun run,
                                 const std::vector<ProcessLifetime>& lives) {
  std::map<std::string_view, FolderRun> by_name;
  for (const std::size_t process : run.processes) Add(process, lives, by_name[name_of(lives[process])]);
  std::vector<FolderRun> divided;
  std::vector<RankSet> ranks;
  FolderRun others;  // processes without a rank
  bool apart = true;
  for (auto& [name, of] : by_name) {
    const RankSet own = RanksOf(of, lives);
    if (own.there.empty()) {
      for (const std::size_t process : of.processes) Add(process, lives, others);
      continue;
    }
    apart = apart && !name.empty();
    for (const RankSet& other : ranks) apart = apart && HaveOneInCommon(own, other);
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

// Divides `run` by the launcher's name for the job, then by the name of `memoir run`. A job has one `memoir run`, or
// one for each rank. A job of torchrun is not divided by `memoir run`: when a host joins, torchrun numbers the ranks
// anew, so two `memoir run` of one job may have started a process of the same rank.
std::vector<FolderRun> Divided(FolderRun run, const std::vector<ProcessLifetime>& lives) {
  std::vector<FolderRun> divided;
  for (FolderRun& step : DividedBy(StepOrRunOf, std::move(run), lives)) {
    if (lives[step.processes.front()].name.launcher == "torchrun") {
      divided.push_back(std::move(step));
      continue;
    }
    for (FolderRun& of : DividedBy(RunOf, std::move(step), lives)) divided.push_back(std::move(of));
  }
  return divided;
}

}  // namespace

std::vector<FolderRun> FindRuns(const CaptureFolder& folder) {
  std::vector<ProcessLifetime> lives;
  lives.reserve(folder.processes.size());
  for (const ProcessFiles& process : folder.processes) lives.push_back(LifetimeOf(process));
  Groups groups(lives.size());
  for (std::size_t a = 0; a < lives.size(); ++a) {
    for (std::size_t b = a + 1; b < lives.size(); ++b) {
      if (groups.GroupOf(a) != groups.GroupOf(b) && AreTogether(lives[a], lives[b])) groups.Join(a, b);
    }
  }
  std::vector<FolderRun> groups_of(lives.size());
  for (std::size_t i = 0; i < lives.size(); ++i) Add(i, lives, groups_of[groups.GroupOf(i)]);
  std::vector<FolderRun> all;
  for (FolderRun& run : groups_of) {
    if (run.processes.empty()) continue;
    for (FolderRun& of : Divided(std::move(run), lives)) all.push_back(std::move(of));
  }
  std::ranges::stable_sort(all, {}, &FolderRun::start_ns);
  std::vector<FolderRun> runs;
  for (FolderRun& run : all) {
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
