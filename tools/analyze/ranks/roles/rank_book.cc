#include "tools/analyze/ranks/roles/rank_book.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tools/analyze/ranks/job/job_summary_builder.h"
#include "tools/analyze/ranks/job/recording_summary.h"
#include "tools/analyze/ranks/roles/usual_value.h"
#include "tools/analyze/summary/endings.h"
#include "tools/model/job.h"
#include "tools/read/capture_folder.h"
#include "tools/read/process_info_rules.h"

namespace memoir {
namespace {

// The writer of a process reads the clock every kBusyWaitNs while events arrive. Without events its wait doubles, up to
// kLongestWaitNs. So the next wait is at most kBusyWaitNs plus the time since the last event
// (tracker/writer/writer.cc).
constexpr std::uint64_t kBusyWaitNs = 10'000'000, kLongestWaitNs = 100'000'000;
constexpr std::uint64_t kLateNs = 10'000'000;  // on a loaded machine the writer may run later by this much

bool IsOnHost(const v1::DeviceSummary& device) {
  const std::string kind = KindOfDevice(device.name());
  return kind == "cpu" || kind == "pinned";
}

// Returns the device that RankFacts describes. nullptr if the recording has no device.
const v1::DeviceSummary* FullestOf(const v1::RecordingSummary& recording) {
  const auto key = [](const v1::DeviceSummary& device) {
    return std::tuple(!IsOnHost(device) && device.allocations() > 0, device.peak_allocated_bytes());
  };
  const auto fullest = std::ranges::max_element(recording.devices(), {}, key);
  return fullest == recording.devices().end() ? nullptr : &*fullest;
}

void TakeDevice(const v1::DeviceSummary& device, RankFacts& facts) {
  facts.device = device.name();
  facts.allocated = device.peak_allocated_bytes();
  facts.reserved = device.caching() ? device.peak_reserved_bytes() : 0;
  facts.outside = device.outside_bytes() - std::min(device.outside_bytes(), device.nccl_bytes());
  const bool has_buckets = device.peak_bucket_bytes() > 0;
  facts.own = has_buckets ? device.peak_without_buckets() : device.peak_allocated_bytes();
  facts.own_at_end = device.live_at_end() - std::min(device.live_at_end(), device.buckets_at_end());
  facts.most_buckets = device.peak_bucket_bytes();
  // A damaged file may contain any number. Windows need a power of two.
  while (facts.window_steps < device.window_steps() && facts.window_steps < (std::uint64_t{1} << 62))
    facts.window_steps *= 2;
  std::vector<std::uint64_t> at_begin;
  for (const v1::StepWindow& window : device.windows()) {
    std::uint64_t& most = facts.own_by_window[window.first_step() / facts.window_steps];
    most = std::max(most, has_buckets ? window.without_buckets() : window.allocated());
    const std::uint64_t buckets = window.buckets();
    if (buckets > 0) facts.buckets = facts.buckets == 0 ? buckets : std::min(facts.buckets, buckets);
    if (&window != &*device.windows().begin()) at_begin.push_back(window.at_begin());
  }
  facts.between_steps = QuarterOf(std::move(at_begin));
}

void TakeEnd(const v1::RecordingSummary& recording, RankFacts& facts) {
  facts.end = recording.end().reason();
  facts.has_failed = IsBadEnd(recording.end());
  facts.end_message = recording.end().message();
  facts.end_signal = recording.end().signal();
  const std::uint64_t last_event_ns = recording.process().start().realtime_ns() + recording.duration_ns();
  const std::uint64_t last_clock_ns = recording.last_clock_ns();
  facts.alive_until_ns = facts.ended_by_ns = std::max(last_event_ns, last_clock_ns);
  if (!facts.was_killed()) return;
  const std::uint64_t idle_ns = last_clock_ns == 0 ? kLongestWaitNs : facts.alive_until_ns - last_event_ns;
  facts.ended_by_ns += kLateNs + std::min(kBusyWaitNs + idle_ns, kLongestWaitNs);
}

std::vector<RankCoordinate> CoordinatesOf(const v1::ProcessInfo& process) {
  std::vector<RankCoordinate> coordinates;
  for (int i = 0; i < std::min(process.coordinates_size(), kMostCoordinates); ++i) {
    const v1::Coordinate& of = process.coordinates(i);
    if (of.size() > 1) coordinates.push_back({of.dimension(), of.index()});
  }
  return coordinates;
}

}  // namespace

std::uint32_t RankBook::Intern(const std::string& name) {
  const auto [known, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (added) names_.push_back(name);
  return known->second;
}

void RankBook::Add(const v1::RecordingSummary& recording) {
  const v1::ProcessInfo& info = recording.process();
  if (!HasRank(info)) return;
  const auto known = ranks_.find(info.rank());
  const auto key = [](std::uint64_t restart, std::uint64_t events) { return std::pair(restart, events); };
  if (known != ranks_.end() &&
      key(info.restart(), recording.events()) <= key(known->second.restart, known->second.events))
    return;
  RankEntry kept{info.restart(), recording.events(), {}};
  RankFacts& facts = kept.facts;
  facts.label = RankLabel(recording);
  facts.rank = info.rank();
  facts.host = info.host();
  facts.coordinates = CoordinatesOf(info);
  facts.place = DescribeCoordinates(info);
  facts.modules.assign(recording.modules().begin(), recording.modules().end());
  facts.kinds_of_modules.assign(recording.kinds_of_modules().begin(), recording.kinds_of_modules().end());
  facts.steps = recording.steps();
  constexpr std::uint64_t kFewestCalls = 4;
  facts.only_infers = recording.step_kind() == "module_call" && recording.steps() >= kFewestCalls &&
                      recording.end().reason() != v1::End::UNKNOWN && !facts.has_failed;
  facts.shards_parameters = recording.shards_parameters();
  facts.shards_optimizer = recording.shards_optimizer();
  TakeEnd(recording, facts);
  facts.growth.assign(recording.growth().begin(), recording.growth().end());
  if (const v1::DeviceSummary* const device = FullestOf(recording)) {
    TakeDevice(*device, facts);
    for (const v1::Composition& composition : device->at_peak()) {
      const auto by = std::ranges::find(kHeldBy, composition.by());
      if (by == kHeldBy.end()) continue;
      const auto i = static_cast<std::size_t>(by - kHeldBy.begin());
      for (const v1::HeldRow& row : composition.rows()) facts.rows[i].push_back({Intern(row.name()), row.bytes()});
    }
  }
  ranks_.insert_or_assign(info.rank(), std::move(kept));
}

std::vector<RankFacts> RankBook::Take() {
  std::vector<RankFacts> ranks;
  for (auto& [rank, kept] : ranks_) ranks.push_back(std::move(kept.facts));
  ranks_.clear();
  return ranks;
}

}  // namespace memoir
