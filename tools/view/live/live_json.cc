#include "tools/view/live/live_json.h"

#include <cmath>
#include <optional>

#include "tools/analyze/pass/window/step_counter.h"
#include "tools/view/json/json.h"
#include "tools/view/live/live_words.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// Rounds to four significant digits.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 4 - std::ceil(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

Json OrNull(const std::optional<std::uint64_t>& value) { return value ? Json(*value) : Json(nullptr); }
Json OrNull(const std::optional<double>& value) { return value ? Json(Rounded(*value)) : Json(nullptr); }

Json RowsJson(const std::vector<LiveShare>& rows) {
  constexpr std::size_t kMost = 10;
  Json json = Json::array();
  for (const LiveShare& row : rows) {
    if (json.size() == kMost) break;
    json.push_back({{"name", row.name}, {"bytes", row.bytes}});
  }
  return json;
}

Json DeviceJson(const LiveMemory& device) {
  Json json = {{"device", device.name},
               {"allocated_bytes", device.allocated},
               {"active_bytes", device.caching ? Json(device.active) : Json(nullptr)},
               {"reserved_bytes", device.caching ? Json(device.reserved) : Json(nullptr)},
               {"peak_allocated_bytes", device.peak},
               {"step_peak_bytes", device.step_peak},
               {"total_bytes", OrNull(device.total)},
               {"headroom_bytes", OrNull(device.headroom)},
               {"alloc_retries", device.retries},
               {"ooms", device.ooms},
               {"rows_step", device.categories.empty() ? Json(nullptr) : Json(device.rows_step)},
               {"categories", RowsJson(device.categories)},
               {"modules", RowsJson(device.modules)},
               {"growth", nullptr}};
  if (!device.growth) return json;
  json["growth"] = {{"since_step", device.growth->since_step},
                    {"bytes", device.growth->bytes},
                    {"bytes_per_step", Rounded(device.growth->bytes_per_step)},
                    {"steps_left", OrNull(device.steps_left)},
                    {"seconds_left", OrNull(device.seconds_left)}};
  return json;
}

Json AskedJson(const FullStepRequest& asked) {
  if (asked.times == 0) return nullptr;
  return {{"steps", asked.steps}, {"first", asked.first}, {"begun", asked.begun}, {"open", asked.open}};
}

Json ProcessJson(const LiveProcess& process) {
  Json json = {{"rank", RankJson(process.rank)},
               {"restart", process.restart},
               {"world_size", process.world_size},
               {"pid", process.pid},
               {"host", process.host},
               {"program", process.program},
               {"simulated_device", process.simulated},
               {"state", ToString(process.state)},
               {"end", process.end},
               {"runs_seconds", Rounded(process.runs_s)},
               {"data_age_seconds", Rounded(process.age_s)},
               {"step_source", std::string(ToString(process.step_source))},
               {"step", process.step},
               {"steps", process.steps},
               {"step_seconds", Rounded(process.step_seconds)},
               {"events", process.events},
               {"events_per_second", Rounded(process.events_per_second)},
               {"lost_events", process.lost_events},
               {"ooms", process.oom_count},
               {"recording", LevelName(process.level)},
               {"asked_steps", AskedJson(process.asked)},
               {"read_in_full", Rounded(process.full_share)},
               {"begun_late", process.begun_late},
               {"devices", Json::array()},
               {"findings", Json::array()}};
  for (const LiveMemory& device : process.devices) json["devices"].push_back(DeviceJson(device));
  for (const LiveFinding& finding : LiveFindings(process))
    json["findings"].push_back({{"kind", finding.kind}, {"text", finding.text}});
  return json;
}

}  // namespace

std::string LiveJsonLine(const LiveFigures& figures) {
  Json json = {{"version", 1},
               {"view", "live"},
               {"capture", figures.folder},
               {"time_ns", figures.time_ns},
               {"reader_cpu", Rounded(figures.reader_share)},
               {"processes", Json::array()}};
  for (const LiveProcess* process : ProcessesWorstFirst(figures)) json["processes"].push_back(ProcessJson(*process));
  return EscapedInJson(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace memoir
