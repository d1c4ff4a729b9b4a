#include "tools/view/fit/fit_json.h"

#include <algorithm>
#include <cstdint>

namespace memoir {
namespace {

const char* VerdictName(FitVerdict verdict) {
  switch (verdict) {
    case FitVerdict::kFits:
      return "fits";
    case FitVerdict::kDoesNotFit:
      return "does_not_fit";
    case FitVerdict::kWentOn:
      return "went_on";
    case FitVerdict::kDepends:
      return "depends";
    case FitVerdict::kFailed:
      return "failed";
    case FitVerdict::kUnused:
      return "unused";
    case FitVerdict::kInterrupted:
      return "interrupted";
  }
  return "";
}

const char* VerdictName(const FitCard& card) {
  return FitsBarely(card) ? "fits_barely" : VerdictName(VerdictOf(card));
}

Json DeviceJson(const SimulatedDevice& device) {
  return {{"device", "cuda:" + std::to_string(device.ordinal)},
          {"total_bytes", device.total},
          {"context_bytes", device.context},
          {"used_bytes_at_end", device.used},
          {"peak_bytes", device.peak},
          {"peak",
           {{"context_bytes", device.context},
            {"cuda_malloc_bytes", device.peak_blocks},
            {"expandable_segments_bytes", device.peak_mapped},
            {"cuda_malloc_async_bytes", device.peak_pools},
            {"libraries_bytes", device.peak_libraries}}},
          {"refusals", device.refusals},
          {"refused_bytes", device.refused},
          {"used_bytes_when_refused", device.refused > 0 ? device.refused_used : 0}};
}

Json RowsJson(const std::vector<FitRow>& rows) {
  Json json = Json::array();
  for (const FitRow& row : rows) json.push_back({{"name", row.name}, {"bytes", row.bytes}});
  return json;
}

Json RecordingJson(const std::optional<FitRecording>& recording) {
  if (!recording) return nullptr;
  Json json = {{"peak_allocated_bytes", recording->peak_allocated},
               {"peak_reserved_bytes", nullptr},
               {"at_peak",
                {{"operators", RowsJson(recording->by_operator)},
                 {"modules", RowsJson(recording->by_module)},
                 {"phases", RowsJson(recording->by_phase)}}},
               {"out_of_memory", nullptr}};
  if (recording->peak_reserved) json["peak_reserved_bytes"] = *recording->peak_reserved;
  if (recording->out_of_memory) {
    json["out_of_memory"] = {{"operator", recording->out_of_memory->operator_name},
                             {"module", recording->out_of_memory->module},
                             {"phase", std::string(ToString(recording->out_of_memory->phase))},
                             {"asked_bytes", recording->out_of_memory->asked}};
  }
  return json;
}

Json RunJson(const FitRun& run, const char* assumption, bool limited) {
  Json json = {{"assumption", assumption},
               {"limited_to_card", limited},
               {"exit_code", run.exit_code},
               {"signal", run.signal},
               {"verdict", VerdictName(VerdictOf(run))},
               {"unknown_shapes", run.unknown_shapes},
               {"read_unknown_numbers", run.unknown_numbers},
               {"processes", Json::array()},
               {"recording", RecordingJson(run.recording)}};
  for (const SimulatedProcess& process : run.processes) {
    Json devices = Json::array();
    for (const SimulatedDevice& device : process.devices) devices.push_back(DeviceJson(device));
    json["processes"].push_back({{"pid", process.pid}, {"devices", std::move(devices)}});
  }
  return json;
}

void AddTry(Json& runs, const FitAttempt& attempt, const char* assumption) {
  runs.push_back(RunJson(attempt.run, assumption, true));
  if (attempt.unlimited) runs.push_back(RunJson(*attempt.unlimited, assumption, false));
}

Json NeedJson(const std::optional<FitInterval>& need) {
  if (!need) return nullptr;
  return {{"low_bytes", need->low}, {"high_bytes", need->high}};
}

Json CardJson(const FitCard& card) {
  const auto need = NeedOf(card);
  Json json = {{"card", card.key},
               {"product", card.name},
               {"memory_bytes", card.memory},
               {"memory_most_bytes", std::max(card.memory, card.memory_most)},
               {"tables_are_exact_to_bytes", TablesAreExactTo(card.memory)},
               {"verdict", VerdictName(card)},
               {"need", NeedJson(need)},
               {"headroom_bytes", nullptr},
               {"unknowns", card.unknowns},
               {"processes_share_a_device", SharesADevice(card.low.run)},
               {"runs", Json::array()}};
  if (need) json["headroom_bytes"] = static_cast<std::int64_t>(card.memory) - static_cast<std::int64_t>(need->high);
  AddTry(json["runs"], card.low, "least");
  if (card.high) AddTry(json["runs"], *card.high, "most");
  return json;
}

Json Begin(const char* view, const std::vector<std::string>& command, const std::string& torch,
           std::uint64_t exact_to) {
  return {{"version", 1},
          {"view", view},
          {"simulated", true},
          {"from_tables", {"memory_bytes", "context_bytes", "libraries_bytes"}},
          {"tables_are_exact_to_bytes", exact_to},
          {"torch_version", torch.empty() ? Json() : Json(torch)},
          {"command", command}};
}

}  // namespace

Json FitJson(const std::vector<FitCard>& cards, const std::vector<std::string>& command) {
  std::uint64_t exact_to = 0;
  for (const FitCard& card : cards) exact_to = std::max(exact_to, TablesAreExactTo(card.memory));
  Json json = Begin("fit", command, cards.empty() ? "" : cards.front().torch, exact_to);
  json["cards"] = Json::array();
  for (const FitCard& card : cards) json["cards"].push_back(CardJson(card));
  return json;
}

Json FitCurveJson(const FitCurve& curve, const std::vector<std::string>& command) {
  Json json = Begin("fit_vary", command, curve.torch, TablesAreExactTo(curve.memory));
  json["card"] = curve.key;
  json["product"] = curve.name;
  json["memory_bytes"] = curve.memory;
  json["variable"] = curve.variable;
  json["first"] = curve.first;
  json["last"] = curve.last;
  json["step"] = curve.step;
  json["largest_that_fits"] = curve.largest ? Json(*curve.largest) : Json();
  json["next_that_does_not"] = curve.next_that_fails ? Json(*curve.next_that_fails) : Json();
  json["smaller_that_do_not"] = curve.contradictions;
  json["points"] = Json::array();
  for (const FitPoint& point : curve.points) {
    json["points"].push_back({{"value", point.value},
                              {"verdict", point.barely ? "fits_barely" : VerdictName(point.verdict)},
                              {"need", NeedJson(point.need)},
                              {"exit_code", point.exit_code}});
  }
  return json;
}

}  // namespace memoir
