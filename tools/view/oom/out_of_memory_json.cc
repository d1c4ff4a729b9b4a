#include "tools/view/oom/out_of_memory_json.h"

#include "tools/analyze/categories/block_categories.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/capture/pool_text.h"
#include "tools/view/oom/out_of_memory_text.h"

namespace memoir {
namespace {

Json HoldersJson(const std::vector<HoldingRow>& holders) {
  Json json = Json::array();
  for (const HoldingRow& holder : holders)
    json.push_back({{"name", holder.name}, {"bytes", holder.bytes}, {"blocks", holder.blocks}});
  return json;
}

Json LineHoldersJson(const std::vector<LineHolding>& holders) {
  Json json = Json::array();
  for (const LineHolding& holder : holders) {
    json.push_back({{"line", LineJson(holder.line)},
                    {"operator", holder.operator_name},
                    {"category", LabelOfCategory(holder.category)},
                    {"bytes", holder.bytes},
                    {"blocks", holder.blocks}});
  }
  return json;
}

std::uint64_t SumOf(const std::vector<HoldingRow>& holders) {
  std::uint64_t bytes = 0;
  for (const HoldingRow& holder : holders) bytes += holder.bytes;
  return bytes;
}

Json GrownJson(const std::vector<HoldingGrowth>& grown) {
  Json json = Json::array();
  for (const HoldingGrowth& one : grown) json.push_back({{"name", one.name}, {"bytes", one.bytes}});
  return json;
}

template <class Value>
Json OrNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Returns null if there is nothing earlier to compare with.
Json GrowthJson(const OutOfMemoryGrowth& growth) {
  if (!growth.kind || growth.first) return nullptr;
  return {{"since", ToString(*growth.kind)},
          {"same_call", growth.same_call},
          {"step", OrNull(growth.step)},
          {"time_ns", growth.ns},
          {"allocated_bytes", growth.allocated},
          {"reserved_bytes", growth.reserved},
          {"asked_bytes_then", OrNull(growth.asked_then)},
          {"by_operator", GrownJson(growth.by_operator)},
          {"by_module", GrownJson(growth.by_module)}};
}

Json FittingJson(const FittingInput& input) {
  return {{"steps", input.steps}, {"input_bytes", input.input_bytes}, {"fitting_input_bytes", input.fitting_bytes}};
}

Json RoomJson(const OutOfMemoryRoom& room) {
  return {{"bytes", room.free},
          {"usable_bytes", room.own_free},
          {"usable_holes", room.own_holes},
          {"largest_hole_bytes", room.largest_hole},
          {"other_pool_bytes", room.other_pool_free},
          {"other_stream_bytes", room.other_stream_free},
          {"other_size_bytes", room.other_size_free}};
}

Json LeakingJson(const LeakTotals& leaking) {
  return {
      {"places", leaking.places},         {"bytes", leaking.bytes},         {"bytes_per_step", leaking.bytes_per_step},
      {"since_step", leaking.since_step}, {"line", LineJson(leaking.line)}, {"operator", leaking.operator_name}};
}

Json ErrorJson(const OutOfMemory& error) {
  const OutOfMemoryRoom& room = error.room;
  return {{"device", error.device},
          {"rank", RankJson(error.rank)},
          {"process", error.process.value},
          {"time_ns", error.ns},
          {"asked_bytes", error.asked_bytes},
          {"kind", error.refusal ? Json(ToString(error.refusal->call)) : Json("caching_allocator")},
          {"library", error.refusal ? Json(error.refusal->library) : Json(nullptr)},
          {"error", error.refusal ? Json(error.refusal->error) : Json(nullptr)},
          {"device_free_bytes", error.device_free_known ? Json(error.device_free) : Json(nullptr)},
          {"device_limit_bytes", OrNull(error.device_limit)},
          {"device_total_bytes", OrNull(error.device_total)},
          {"operator", error.operator_name},
          {"leaf", error.leaf_name},
          {"line", LineJson(error.line)},
          {"backward_line", LineJson(error.backward_line)},
          {"range", error.range_name},
          {"module", error.module},
          {"class", error.module_class},
          {"phase", ToString(error.phase)},
          {"step", OrNull(error.step)},
          {"optimizer_steps", error.optimizer_steps},
          {"steps_after", error.steps_after},
          {"pool", PoolJson(room.pool)},
          {"stream", StreamName(room.stream)},
          {"cause", ToString(room.cause)},
          {"allocated_bytes", error.allocated_bytes},
          {"active_bytes", error.active_bytes},
          {"waiting_bytes", room.waiting},
          {"reserved_bytes", error.reserved_bytes},
          {"private_pools_reserved_bytes", room.private_reserved},
          {"private_pools_allocated_bytes", room.private_allocated},
          {"outside_torch_bytes", error.outside ? Json(SumOf(*error.outside)) : Json(nullptr)},
          {"outside_torch", error.outside ? HoldersJson(*error.outside) : Json(nullptr)},
          {"other_processes_bytes", OrNull(error.other_processes)},
          {"unaccounted_bytes", error.unaccounted},
          {"host_pinned_by", HoldersJson(error.pinned)},
          {"free", RoomJson(room)},
          {"by_operator", HoldersJson(error.by_operator)},
          {"by_module", HoldersJson(error.by_module)},
          {"by_category", HoldersJson(error.by_category)},
          {"by_line", LineHoldersJson(error.by_line)},
          {"batch_bytes", error.batch_bytes},
          {"pinned_by", HoldersJson(room.pinned_by)},
          {"growth", GrowthJson(error.growth)},
          {"leaking", error.leaking ? LeakingJson(*error.leaking) : Json(nullptr)},
          {"smaller_input", error.fitting_input ? FittingJson(*error.fitting_input) : Json(nullptr)}};
}

Json PeakJson(const DeviceRow& device) {
  return {{"device", device.name},
          {"rank", RankJson(device.rank)},
          {"process", device.process.value},
          {"peak_allocated_bytes", device.peak_allocated_bytes},
          {"peak_active_bytes", device.peak_active_bytes},
          {"peak_reserved_bytes", device.peak_reserved_bytes},
          {"num_alloc_retries", OrNull(device.num_alloc_retries)},
          {"num_ooms", device.num_ooms},
          {"least_free_bytes", OrNull(device.least_free)}};
}

}  // namespace

Json OutOfMemoryJson(const Summary& summary) {
  Json json = Json::array();
  for (const OutOfMemory& error : summary.out_of_memory) json.push_back(ErrorJson(error));
  return json;
}

Json CheckOutOfMemoryJson(const Capture& capture, const Summary& summary) {
  Json json = CaptureJson(capture, summary.report, "check_oom");
  json["out_of_memory"] = OutOfMemoryJson(summary);
  json["num_ooms_without_detail"] = CountOutOfMemory(summary) - summary.out_of_memory.size();
  json["sure"] = RecordingWasOff(summary.report).empty();
  json["devices"] = Json::array();
  for (const DeviceRow& device : summary.devices) {
    if (device.caching) json["devices"].push_back(PeakJson(device));
  }
  return json;
}

}  // namespace memoir
