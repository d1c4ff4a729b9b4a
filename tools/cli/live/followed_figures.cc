#include "tools/cli/live/followed_figures.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <optional>
#include <string_view>

#include "tools/model/event/dictionary.h"
#include "tools/model/parts/process_liveness.h"
#include "tools/model/repeated_step_counts.h"
#include "tools/read/capture_folder.h"

namespace memoir {
namespace {

// A recording counts as silent after this time without new data. While a recording is followed, the tracker writes
// every second if there are new events.
constexpr double kSilentSeconds = 10;

std::uint64_t NowNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Returns the bytes in the line `field` of /proc/meminfo: "MemTotal: 16384 kB".
std::optional<std::uint64_t> HostMemory(std::string_view field) {
  std::ifstream file("/proc/meminfo");
  std::string name, rest;
  std::uint64_t kilobytes = 0;
  while (file >> name >> kilobytes && std::getline(file, rest)) {
    if (name == field) return kilobytes * 1024;
  }
  return std::nullopt;
}

// Sets the total size and the free bytes of host memory, which no device sample contains.
void AddHostMemory(LiveMemory& device) {
  const auto total = HostMemory("MemTotal:"), available = HostMemory("MemAvailable:");
  if (!total || !available) return;
  device.total = total;
  device.headroom = available;
}

std::string EndText(const v1::End& end) {
  const std::string message = ToUtf8(end.message());
  switch (end.reason()) {
    case v1::End::STOPPED:
      return message.empty() ? "memoir.stop()" : message;
    case v1::End::EXITED:
      return message;
    case v1::End::FAILED:
      return "the recording stopped: " + message;
    default:
      return message;
  }
}

// Returns the number of chunks of a step, including the chunks in which the step begins and ends.
std::uint64_t ChunksOfStep(double step_seconds, double chunks_per_second) {
  constexpr double kMost = 1000;
  return 2 + static_cast<std::uint64_t>(std::ceil(std::clamp(step_seconds * chunks_per_second, 0.0, kMost)));
}

double Seconds(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) / 1e9 : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FollowedFigures>> FollowedFigures::Open(const std::string& folder, double cpu_share) {
  std::unique_ptr<FollowedFigures> figures(new FollowedFigures(cpu_share));
  FollowedFigures* const own = figures.get();
  absl::StatusOr<std::unique_ptr<FollowedFolder>> opened =
      FollowedFolder::Open(folder, [own](const v1::ProcessInfo& info) -> Visitor& {
        own->rates_.emplace_back();
        return *own->passes_.emplace_back(std::make_unique<LivePass>(info));
      });
  if (!opened.ok()) return opened.status();
  own->folder_ = *std::move(opened);
  own->figures_.folder = folder;
  return figures;
}

void FollowedFigures::Update(const std::function<bool()>& go_on) {
  budget_.AdvanceTo(NowNs(CLOCK_MONOTONIC));
  folder_->ReadNewChunks(budget_, go_on);
  const std::uint64_t now = NowNs(CLOCK_REALTIME), cpu = NowNs(CLOCK_PROCESS_CPUTIME_ID);
  if (cpu_at_ns_ != 0 && now > cpu_at_ns_) {
    const double share = static_cast<double>(cpu - cpu_ns_) / static_cast<double>(now - cpu_at_ns_);
    figures_.reader_share = figures_.reader_share == 0 ? share : 0.9 * figures_.reader_share + 0.1 * share;
  }
  cpu_ns_ = cpu;
  cpu_at_ns_ = now;
  figures_.time_ns = now;
  figures_.processes.clear();
  for (std::size_t i = 0; i < folder_->recordings().size(); ++i) Describe(i, now);
  std::uint64_t chunks = 0;
  for (std::size_t i = 0; i < figures_.processes.size(); ++i)
    chunks += ChunksOfStep(figures_.processes[i].step_seconds, rates_[i].chunks_per_second);
  budget_.SetChunksOfStep(chunks);
  const bool any_rank =
      std::ranges::any_of(folder_->recordings(), [](const auto& recording) { return HasRank(recording->info()); });
  for (std::size_t i = 0; i < figures_.processes.size(); ++i) {
    const v1::ProcessInfo& info = folder_->recordings()[i]->info();
    if (!any_rank || HasRank(info)) figures_.processes[i].rank = info.rank();
  }
  // A process without a rank and without memory events is a launcher, or it only imported torch.
  std::erase_if(figures_.processes, [&](const LiveProcess& process) {
    return !process.rank && process.devices.empty() && figures_.processes.size() > 1;
  });
}

void FollowedFigures::DescribeState(const FollowedRecording& recording, LiveProcess& process) const {
  if (recording.has_end() && recording.end().reason() != v1::End::MERGED) {
    process.state = LiveState::kEnded;
    process.end = EndText(recording.end());
  } else if (recording.has_end() ||
             LivenessOf(recording.info(), recording.info().process_start()) == ProcessLiveness::kGone) {
    process.state = LiveState::kDied;
    process.is_whole = recording.has_end();
  } else if (recording.is_gone() || folder_->is_gone()) {
    process.state = LiveState::kFileGone;
  } else if (process.age_s > kSilentSeconds && process.level != v1::LEVEL_OFF) {
    process.state = LiveState::kSilent;
  }
}

void FollowedFigures::Describe(std::size_t at, std::uint64_t now_ns) {
  const FollowedRecording& recording = *folder_->recordings()[at];
  const v1::ProcessInfo& info = recording.info();
  LiveProcess& process = figures_.processes.emplace_back();
  process.program = ToUtf8(info.program());
  process.host = info.host();
  process.simulated = info.simulated_device();
  process.pid = info.pid();
  process.world_size = info.world_size();
  process.collapses_repeated_steps = HasRepeatedSteps(info);
  process.restart = info.restart();
  const std::uint64_t start = info.start().realtime_ns();
  const std::uint64_t newest = std::max<std::uint64_t>(recording.newest_realtime_ns(), start);
  process.age_s = Seconds(newest, now_ns);
  passes_[at]->AdvanceTo(recording.newest_tick());
  passes_[at]->Describe(process);
  DescribeState(recording, process);
  const bool runs = IsRunning(process.state);
  process.runs_s = Seconds(start, runs ? now_ns : newest);
  process.asked.open = process.asked.open && runs;
  process.events = recording.events();
  Rate& rate = rates_[at];
  // The rates describe the newest chunks. They stay unchanged if an update finds no new chunk.
  if (recording.chunks() > rate.chunks) {
    const double passed = Seconds(rate.time_ns == 0 ? start : rate.time_ns, newest);
    const auto chunks = static_cast<double>(recording.chunks() - rate.chunks);
    if (passed > 0) rate.events_per_second = static_cast<double>(process.events - rate.events) / passed;
    if (passed > 0) rate.chunks_per_second = chunks / passed;
    const double full = static_cast<double>(recording.chunks_in_full() - rate.in_full) / chunks;
    rate.full_share = rate.time_ns == 0 ? full : 0.95 * rate.full_share + 0.05 * full;
    rate.time_ns = newest;
    rate.events = process.events;
    rate.chunks = recording.chunks();
    rate.in_full = recording.chunks_in_full();
  }
  process.events_per_second = rate.events_per_second;
  process.full_share = rate.full_share;
  process.begun_late = recording.begun_late();
  const v1::Counters& counters = recording.counters();
  process.lost_events =
      std::max<std::uint64_t>(counters.dropped_records() + counters.lost_events(), recording.report().lost_records);
  process.write_error = ToUtf8(counters.last_write_error());
  if (!recording.damage().empty()) process.damage = ToString(recording.damage().back());
  if (LivenessOf(info, info.process_start()) != ProcessLiveness::kRuns) return;
  for (LiveMemory& device : process.devices) {
    if (device.name != "cpu") continue;
    AddHostMemory(device);
    Foresee(process.step_seconds, device);
  }
}

bool FollowedFigures::is_over() const {
  return std::ranges::none_of(figures_.processes, [](const LiveProcess& process) { return IsRunning(process.state); });
}

}  // namespace memoir
