#include "tools/view/compare/compare_json.h"

#include <optional>

#include "tools/analyze/pass/window/groupings.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/compare/change_text.h"

namespace memoir {
namespace {

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json RowJson(const ComparedRow& row, GroupBy by) {
  Json json = {{"name", row.name}};
  if (!row.name_a.empty()) json["name_in_a"] = row.name_a;
  if (by == GroupBy::kModule || by == GroupBy::kCategoryModule) {
    json["root"] = TextOrNull(row.module.root);
    json["path"] = row.module.root.empty() ? Json(nullptr) : Json(row.module.path);
  }
  if (NeedsStacks(by)) AddLine(json, row.source);
  json["state"] = ToString(row.state());
  json["difference_bytes"] = row.difference();
  json["difference_blocks"] = row.more_blocks();
  json["bytes_a"] = row.a.bytes;
  json["bytes_b"] = row.b.bytes;
  json["blocks_a"] = row.a.blocks;
  json["blocks_b"] = row.b.blocks;
  return json;
}

Json SideJson(const std::optional<ComparedSide>& side, std::optional<std::uint32_t> rank) {
  if (!side) return nullptr;
  const DeviceRow& device = side->device;
  Json json = {{"rank", RankJson(rank)},
               {"product", TextOrNull(device.product)},
               {"bytes", side->held.bytes},
               {"blocks", side->held.blocks},
               {"time_ns", side->ns},
               {"phase", side->phase ? Json(ToString(*side->phase)) : Json(nullptr)},
               {"module", TextOrNull(side->module)},
               {"peak_allocated_bytes", device.peak_allocated_bytes},
               {"peak_time_ns", device.peak_ns},
               {"peak_step", device.peak_step ? Json(*device.peak_step) : Json(nullptr)},
               {"peak_operator", TextOrNull(device.peak_operator)},
               {"peak_line", LineJson(device.peak_line)},
               {"peak_is_evicted", device.peak_is_evicted}};
  if (device.caching) {
    json["peak_reserved_bytes"] = device.peak_reserved_bytes;
    json["reserved_bytes_at_peak"] = device.reserved_bytes_at_peak;
  }
  json["live_bytes_at_end"] = device.live_bytes_at_end;
  json["allocations"] = device.allocations;
  json["allocated_bytes"] = device.allocated_bytes;
  return json;
}

Json CauseJson(const MainCause& cause) {
  if (cause.bytes == 0) return nullptr;
  return {{"difference_bytes", cause.bytes},
          {"line", LineJson(cause.source)},
          {"operator", TextOrNull(cause.operator_name)},
          {"module", TextOrNull(cause.module)},
          {"category", TextOrNull(cause.category)},
          {"category_difference_bytes", cause.category.empty() ? Json(nullptr) : Json(cause.bytes_of_category)},
          {"others", cause.others}};
}

// Segments have no category: `reserved_cause.category` is the name of their pool.
Json ReservedCauseJson(const ComparedDevice& device) {
  Json json = CauseJson(device.reserved_cause);
  if (json.is_null()) return json;
  json.erase("category_difference_bytes");
  json["pool"] = TextOrNull(device.reserved_cause.category);
  json.erase("category");
  return json;
}

Json ChangeJson(const ProgramChange& change) {
  return {{"kind", ToString(change.kind)}, {"text", ChangeText(change)}, {"where", TextOrNull(change.where)},
          {"a", TextOrNull(change.a)},     {"b", TextOrNull(change.b)},  {"count", change.count}};
}

Json DeviceJson(const ComparedDevice& device, GroupBy by) {
  Json json = {{"device", device.name},
               {"peak_difference_bytes", device.has_both() ? Json(device.peak_difference()) : Json(nullptr)},
               {"difference_bytes", device.has_both() ? Json(device.difference()) : Json(nullptr)},
               {"a", SideJson(device.sides[0], device.rank_a)},
               {"b", SideJson(device.sides[1], device.rank_b)},
               {"cause", CauseJson(device.cause)}};
  const bool reserved = device.has_both() && device.a().device.caching && device.b().device.caching;
  if (reserved) json["reserved_cause"] = ReservedCauseJson(device);
  json["common_factor"] = nullptr;
  const CommonFactor& common = device.factor;
  if (common.factor != 0)
    json["common_factor"] = {{"factor", common.factor}, {"lines", common.rows}, {"difference_bytes", common.bytes}};
  json["causes"] = Json::array();
  for (const ProgramChange& change : device.causes) json["causes"].push_back(ChangeJson(change));
  json["below_peak"] = Json::array();
  for (const LineBelowPeak& line : device.below)
    json["below_peak"].push_back({{"line", LineJson(line.source)},
                                  {"category", line.category},
                                  {"most_bytes_a", line.a},
                                  {"most_bytes_b", line.b},
                                  {"difference_bytes", line.difference()}});
  json["rows"] = Json::array();
  for (const ComparedRow& row : device.rows) json["rows"].push_back(RowJson(row, by));
  return json;
}

}  // namespace

Json CompareJson(const Capture& a, const Capture& b, const Comparison& comparison, const std::string& at,
                 const std::string& headline) {
  Json json = {{"version", 1}, {"view", "diff"}, {"headline", headline}};
  json["by"] = GroupingFactsOf(comparison.by).word;
  json["at"] = at;
  json["unlike"] = Json::array();
  for (const RecordingDifference& unlike : comparison.unlike)
    json["unlike"].push_back({{"what", unlike.what}, {"a", unlike.a}, {"b", unlike.b}});
  json["changes"] = Json::array();
  for (const ProgramChange& change : comparison.changes) json["changes"].push_back(ChangeJson(change));
  json["unused_maps"] = Json::array();
  for (const Rename& rename : comparison.unused_renames) json["unused_maps"].push_back(rename.from + "=" + rename.to);
  json["missing"] = TextOrNull(comparison.missing);
  json["devices"] = Json::array();
  for (const ComparedDevice& device : comparison.devices) json["devices"].push_back(DeviceJson(device, comparison.by));
  json["a"] = CaptureJson(a, comparison.report_a, "diff");
  json["b"] = CaptureJson(b, comparison.report_b, "diff");
  return json;
}

}  // namespace memoir
