#include "tools/view/ranks/job_json.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tools/analyze/ranks/job/recording_summary.h"
#include "tools/read/capture_folder.h"
#include "tools/view/ranks/roles_text.h"

namespace memoir {
namespace {

const char* LackName(SummaryLack lack) {
  switch (lack) {
    case SummaryLack::kMissing:
      return "missing";
    case SummaryLack::kDamaged:
      return "damaged";
    case SummaryLack::kOlder:
      return "older";
    case SummaryLack::kBehind:
      return "behind";
  }
  return "";
}

Json SummariesJson(const LoadedJob& reading) {
  Json json = {{"read", reading.summaries}, {"lacking", Json::array()}};
  for (const LackingSummary& lacking : reading.lacking)
    json["lacking"].push_back({{"name", lacking.name},
                               {"lack", LackName(lacking.lack)},
                               {"why", lacking.why},
                               {"behind_ns", lacking.behind_ns}});
  json["unreadable"] = reading.unreadable;
  return json;
}

Json AttemptsJson(const JobOverview& overview) {
  Json attempts = Json::array();
  for (const JobAttempt& attempt : overview.ranks.attempts) {
    attempts.push_back({{"restart", attempt.restart},
                        {"world_size", attempt.world_size},
                        {"ranks", attempt.ranks},
                        {"missing_ranks", attempt.missing},
                        {"ranks_twice", attempt.twice}});
  }
  return attempts;
}

Json DeviceJson(const v1::DeviceSummary& device) {
  return {{"device", device.name()},
          {"product", device.product()},
          {"peak_allocated_bytes", device.peak_allocated_bytes()},
          {"peak_in_folded_parts", device.peak_is_folded()},
          {"peak_time_ns", device.peak_ns()},
          {"peak_step", device.peak_step_known() ? Json(device.peak_step()) : Json(nullptr)},
          {"peak_operator", device.peak_operator()},
          {"peak_active_bytes", device.caching() ? Json(device.peak_active_bytes()) : Json(nullptr)},
          {"peak_reserved_bytes", device.caching() ? Json(device.peak_reserved_bytes()) : Json(nullptr)},
          {"peak_used_bytes", device.peak_used_bytes() > 0 ? Json(device.peak_used_bytes()) : Json(nullptr)},
          {"total_bytes", device.total_bytes() > 0 ? Json(device.total_bytes()) : Json(nullptr)},
          {"active_bytes_at_peak", device.active_at_peak()},
          {"requested_bytes_at_peak", device.requested_at_peak()},
          {"reserved_bytes_at_peak", device.reserved_at_peak()},
          {"outside_bytes", device.outside_bytes()},
          {"live_bytes_at_end", device.live_at_end()},
          {"reserved_bytes_at_end", device.reserved_at_end()},
          {"allocations", device.allocations()},
          {"allocated_bytes", device.allocated_bytes()},
          {"num_alloc_retries", device.retries_known() ? Json(device.retries()) : Json(nullptr)},
          {"num_ooms", device.ooms()}};
}

Json RecordingJson(const v1::RecordingSummary& recording) {
  const v1::ProcessInfo& info = recording.process();
  Json json = {{"name", RankLabel(recording)},
               {"rank", RankJson(HasRank(info) ? std::optional(info.rank()) : std::nullopt)},
               {"restart", info.restart()},
               {"host", info.host()},
               {"pid", info.pid()},
               {"start_realtime_ns", info.start().realtime_ns()},
               {"torch_version", info.torch_version()},
               {"coordinates", CoordinatesJson(info)},
               {"allocator_settings", info.allocator_settings()},
               {"events", recording.events()},
               {"duration_ns", recording.duration_ns()},
               {"steps", recording.steps()},
               {"step_kind", recording.step_kind().empty() ? Json(nullptr) : Json(recording.step_kind())},
               {"has_ended", recording.end().reason() != v1::End::UNKNOWN},
               {"lost_events", recording.counters().dropped_records() + recording.counters().lost_events()},
               {"damage_count", recording.damage_count()},
               {"devices", Json::array()}};
  for (const v1::DeviceSummary& device : recording.devices()) json["devices"].push_back(DeviceJson(device));
  return json;
}

Json SpreadsJson(const JobOverview& overview) {
  Json kinds = Json::array();
  for (const DeviceKind& kind : overview.kinds) {
    Json json = {{"device", kind.kind}, {"devices", kind.devices}, {"sum_of_peaks_bytes", kind.sum_peaks}};
    for (const FigureSpread& spread : kind.spreads) {
      json[spread.json_key] = {{"devices", spread.devices}, {"least", spread.least}, {"least_of", spread.least_of},
                               {"median", spread.median},   {"most", spread.most},   {"most_of", spread.most_of}};
    }
    kinds.push_back(std::move(json));
  }
  return kinds;
}

Json RowsJson(const v1::JobComposition& composition, std::size_t top) {
  std::vector<const v1::JobHeldRow*> rows;
  for (const v1::JobHeldRow& row : composition.rows()) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::greater(), [](const auto* row) { return row->bytes(); });
  std::uint64_t other = composition.other_bytes();
  Json json = Json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (top != 0 && i >= top) {
      other += rows[i]->bytes();
      continue;
    }
    json.push_back({{"name", rows[i]->name()},
                    {"bytes", rows[i]->bytes()},
                    {"devices", rows[i]->devices()},
                    {"most_bytes", rows[i]->most_bytes()},
                    {"most_of", rows[i]->most_of()}});
  }
  if (other > 0) json.push_back({{"name", "(other)"}, {"bytes", other}});
  return json;
}

Json WindowsJson(const v1::JobSummary& job) {
  Json json = Json::array();
  for (const v1::JobWindows& windows : job.windows()) {
    Json of = {{"device", windows.device()}, {"window_steps", windows.window_steps()}, {"windows", Json::array()}};
    for (const v1::JobWindow& window : windows.windows()) {
      of["windows"].push_back({{"first_step", window.most().first_step()},
                               {"allocated_bytes", window.most().allocated()},
                               {"active_bytes", window.most().active()},
                               {"reserved_bytes", window.most().reserved()},
                               {"used_bytes", window.most().used()},
                               {"most_of", window.most_of()}});
    }
    json.push_back(std::move(of));
  }
  return json;
}

void AddErrors(const JobOverview& overview, Json& json) {
  json["out_of_memory"] = Json::array();
  json["growth"] = Json::array();
  for (const v1::RecordingSummary* const recording : overview.recordings) {
    for (const v1::RefusedSummary& refused : recording->refused()) {
      json["out_of_memory"].push_back({{"rank", RankLabel(*recording)},
                                       {"device", refused.device()},
                                       {"time_ns", refused.ns()},
                                       {"asked_bytes", refused.asked_bytes()},
                                       {"step", refused.step_known() ? Json(refused.step()) : Json(nullptr)},
                                       {"operator", refused.operator_name()},
                                       {"line", refused.place()},
                                       {"module", refused.module()}});
    }
    for (const v1::GrowthSummary& growth : recording->growth()) {
      json["growth"].push_back({{"rank", RankLabel(*recording)},
                                {"device", growth.device()},
                                {"kind", growth.kind()},
                                {"place", growth.place()},
                                {"module", growth.module()},
                                {"bytes", growth.bytes()},
                                {"steps", growth.steps()},
                                {"since_step", growth.since_step()}});
    }
  }
}

}  // namespace

Json JobJson(const LoadedJob& reading, const JobOverview& overview, const OddRanks& found, std::size_t top) {
  Json json = {{"version", 1},
               {"capture", reading.folder},
               {"view", "job"},
               {"run", reading.run},
               {"runs", reading.runs},
               {"summaries", SummariesJson(reading)},
               {"dropped_events", overview.lost_events},
               {"damaged_recordings", overview.damaged},
               {"attempts", AttemptsJson(overview)},
               {"hosts", overview.ranks.hosts.size()},
               {"processes_without_rank", overview.ranks.without_rank},
               {"events", overview.events},
               {"duration_ns", overview.duration_ns},
               {"kinds", SpreadsJson(overview)},
               {"roles", RolesJson(found)}};
  json["odd_ranks"] = Json::array();
  for (const OddRank& odd : found.odd) {
    for (const std::size_t i : odd.ranks) json["odd_ranks"].push_back(found.ranks[i].rank);
  }
  json["at_peak"] = Json::array();
  for (const v1::JobComposition& composition : reading.job.at_peak()) {
    json["at_peak"].push_back({{"device", composition.device()},
                               {"by", composition.by()},
                               {"bytes", composition.bytes()},
                               {"devices", composition.devices()},
                               {"rows", RowsJson(composition, top)}});
  }
  AddErrors(overview, json);
  json["differences"] = Json::array();
  for (const RankDifference& difference : overview.differences) {
    for (const auto& [value, who] : difference.who)
      json["differences"].push_back({{"what", difference.what}, {"value", value}, {"ranks", who}});
  }
  json["steps"] = WindowsJson(reading.job);
  json["recordings"] = Json::array();
  for (const v1::RecordingSummary* const recording : overview.recordings) {
    if (top == 0 || json["recordings"].size() < top) json["recordings"].push_back(RecordingJson(*recording));
  }
  return json;
}

}  // namespace memoir
