#include "tools/analyze/ranks/job/job_overview.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/analyze/ranks/job/job_summary_builder.h"
#include "tools/analyze/ranks/job/recording_summary.h"
#include "tools/read/capture_folder.h"

namespace memoir {
namespace {

using Value = std::function<std::optional<std::uint64_t>(const v1::DeviceSummary&)>;
struct Figure {
  std::string_view name, json_key;
  Value value;
};

std::optional<std::uint64_t> If(bool known, std::uint64_t value) { return known ? std::optional(value) : std::nullopt; }

const std::vector<Figure>& Figures() {
  static const std::vector<Figure> figures = {
      {"allocated", "peak_allocated_bytes", [](const auto& of) { return If(true, of.peak_allocated_bytes()); }},
      {"active", "peak_active_bytes", [](const auto& of) { return If(of.caching(), of.peak_active_bytes()); }},
      {"reserved", "peak_reserved_bytes", [](const auto& of) { return If(of.caching(), of.peak_reserved_bytes()); }},
      {"device used", "peak_used_bytes",
       [](const auto& of) { return If(of.peak_used_bytes() > 0, of.peak_used_bytes()); }},
      {"non-PyTorch", "outside_bytes", [](const auto& of) { return If(of.outside_bytes() > 0, of.outside_bytes()); }},
      {"reserved, not active", "fragmented_bytes",
       [](const auto& of) {
         return If(of.caching() && of.reserved_at_peak() >= of.active_at_peak(),
                   of.reserved_at_peak() - of.active_at_peak());
       }},
      {"at the end", "live_bytes_at_end", [](const auto& of) { return If(true, of.live_at_end()); }}};
  return figures;
}

using RankKey = std::pair<std::uint32_t, std::uint32_t>;  // rank and restart

bool IsRank(const v1::RecordingSummary& recording) { return HasRank(recording.process()); }
RankKey KeyOf(const v1::RecordingSummary& recording) {
  return {recording.process().rank(), recording.process().restart()};
}

// Leaves out idle recordings, as model/job.h does. A recording without events is idle if it has no rank, or if another
// recording of its rank is used.
std::vector<const v1::RecordingSummary*> ActiveRecordings(const v1::JobSummary& job) {
  // By rank: the first recording that has events, or else the first recording.
  std::map<RankKey, const v1::RecordingSummary*> chosen;
  for (const v1::RecordingSummary& recording : job.recordings()) {
    if (!IsRank(recording)) continue;
    const v1::RecordingSummary*& known = chosen[KeyOf(recording)];
    if (known == nullptr || (known->events() == 0 && recording.events() > 0)) known = &recording;
  }
  std::vector<const v1::RecordingSummary*> used;
  for (const v1::RecordingSummary& recording : job.recordings()) {
    if (recording.events() > 0 || (IsRank(recording) && chosen[KeyOf(recording)] == &recording))
      used.push_back(&recording);
  }
  return used;
}

Job JobOf(const std::vector<const v1::RecordingSummary*>& recordings) {
  std::vector<JobMember> members;
  for (const v1::RecordingSummary* const recording : recordings)
    members.push_back({&recording->process(), IsRank(*recording)});
  return DescribeJob(members);
}

FigureSpread SpreadOf(const Figure& figure, const std::vector<RankDevice>& devices) {
  FigureSpread spread{figure.name, figure.json_key, 0, 0, 0, 0, {}, {}};
  std::vector<std::uint64_t> values;
  const v1::RecordingSummary *least = nullptr, *most = nullptr;
  for (const RankDevice& of : devices) {
    const std::optional<std::uint64_t> value = figure.value(*of.device);
    if (!value) continue;
    if (least == nullptr || *value < spread.least) std::tie(least, spread.least) = std::pair(of.recording, *value);
    if (most == nullptr || *value > spread.most) std::tie(most, spread.most) = std::pair(of.recording, *value);
    values.push_back(*value);
  }
  spread.devices = values.size();
  if (values.empty()) return spread;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  spread.median = *middle;
  spread.least_of = RankLabel(*least);
  spread.most_of = RankLabel(*most);
  return spread;
}

// In a job on GPUs, host memory is less important, so it comes last.
std::vector<DeviceKind> KindsOf(const std::map<std::string, std::vector<RankDevice>>& by_kind) {
  std::vector<DeviceKind> kinds;
  for (const auto& [name, devices] : by_kind) {
    DeviceKind kind{name, devices.size(), 0, {}};
    for (const RankDevice& of : devices) kind.sum_peaks += of.device->peak_allocated_bytes();
    for (const Figure& figure : Figures()) {
      FigureSpread spread = SpreadOf(figure, devices);
      if (spread.devices > 0) kind.spreads.push_back(std::move(spread));
    }
    if (kind.sum_peaks > 0) kinds.push_back(std::move(kind));
  }
  std::ranges::stable_sort(kinds, [](const DeviceKind& a, const DeviceKind& b) {
    const auto on_host = [](const DeviceKind& kind) { return kind.kind == "cpu" || kind.kind == "pinned"; };
    return on_host(a) < on_host(b);
  });
  return kinds;
}

void FindDifferences(JobOverview& overview) {
  using Text = std::string (*)(const v1::ProcessInfo&);
  const std::pair<const char*, Text> alike[] = {
      {"torch", [](const v1::ProcessInfo& info) { return info.torch_version(); }},
      {"python", [](const v1::ProcessInfo& info) { return info.python_version(); }},
      {"memoir", [](const v1::ProcessInfo& info) { return info.memoir_version(); }},
      {"program", [](const v1::ProcessInfo& info) { return std::string(info.program()); }},
      {"device", [](const v1::ProcessInfo& info) { return info.simulated_device(); }},
      {"settings of the allocator", [](const v1::ProcessInfo& info) { return info.allocator_settings(); }}};
  for (const auto& [what, text] : alike) {
    RankDifference difference{what, {}};
    for (const v1::RecordingSummary* const recording : overview.recordings) {
      if (IsRank(*recording)) difference.who[text(recording->process())].push_back(RankLabel(*recording));
    }
    if (difference.who.size() > 1) overview.differences.push_back(std::move(difference));
  }
}

}  // namespace

JobOverview OverviewOf(const v1::JobSummary& job) {
  JobOverview overview;
  overview.recordings = ActiveRecordings(job);
  overview.ranks = JobOf(overview.recordings);
  std::map<std::string, std::vector<RankDevice>> by_kind;
  bool any_rank = false;
  for (const v1::RecordingSummary* const recording : overview.recordings) {
    overview.events += recording->events();
    overview.lost_events += recording->counters().dropped_records() + recording->counters().lost_events();
    overview.damaged += recording->damage_count() > 0;
    overview.duration_ns = std::max(overview.duration_ns, recording->duration_ns());
    for (const v1::DeviceSummary& device : recording->devices())
      by_kind[KindOfDevice(device.name())].push_back({recording, &device});
    if (!IsRank(*recording)) continue;
    overview.least_steps = any_rank ? std::min(overview.least_steps, recording->steps()) : recording->steps();
    any_rank = true;
    overview.most_steps = std::max(overview.most_steps, recording->steps());
  }
  overview.kinds = KindsOf(by_kind);
  if (!overview.kinds.empty()) overview.devices = by_kind[overview.kinds.front().kind];
  std::ranges::stable_sort(overview.devices, std::greater(),
                           [](const RankDevice& of) { return of.device->peak_allocated_bytes(); });
  FindDifferences(overview);
  return overview;
}

std::string WhoText(const std::vector<std::string>& who) {
  constexpr std::size_t kNamed = 3;
  if (who.size() > kNamed) return absl::StrCat(who.size(), " ranks");
  std::string text;
  for (const std::string& one : who) absl::StrAppend(&text, text.empty() ? "" : ", ", one);
  return text;
}

}  // namespace memoir
