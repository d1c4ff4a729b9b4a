#include "tools/view/summary/summary_json.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/analyze/summary/module_tree.h"
#include "tools/model/job.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/oom/out_of_memory_json.h"

namespace memoir {
namespace {

// Sets figures that were not recorded to null instead of 0.
void TakeUnknown(Json& json, const DeviceRow& device, const ReplayReport& report) {
  if (!device.active_known && device.caching) {
    for (const char* key : {"peak_active_bytes", "peak_active_time_ns", "active_bytes_at_end", "active_bytes_at_peak",
                            "requested_bytes_at_peak"})
      json[key] = nullptr;
  }
  if (UnknownMemory(report, device.process, device.name) == nullptr) return;
  const auto forget = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (json.contains(key)) json[key] = nullptr;
    }
  };
  json["memory_known"] = device.peak_allocated_bytes > 0 ? "in_part" : "no";
  if (device.peak_allocated_bytes == 0)
    forget({"peak_allocated_bytes", "peak_blocks", "peak_time_ns", "live_bytes_at_begin", "peak_active_bytes",
            "peak_active_time_ns", "peak_reserved_bytes", "peak_reserved_time_ns", "active_bytes_at_peak",
            "requested_bytes_at_peak", "reserved_bytes_at_peak"});
  if (UnknownMemoryAtEnd(report, device.process, device.name) != nullptr)
    forget({"live_bytes_at_end", "live_blocks_at_end", "active_bytes_at_end", "reserved_bytes_at_end"});
}

// Adds the figures that only a caching allocator has.
void AddCaching(Json& json, const DeviceRow& device) {
  if (!device.caching) return;
  json["peak_active_bytes"] = device.peak_active_bytes;
  json["peak_active_time_ns"] = device.peak_active_ns;
  json["peak_reserved_bytes"] = device.peak_reserved_bytes;
  json["peak_reserved_time_ns"] = device.peak_reserved_ns;
  json["active_bytes_at_peak"] = device.active_bytes_at_peak;
  json["requested_bytes_at_peak"] = device.requested_bytes_at_peak;
  json["reserved_bytes_at_peak"] = device.reserved_bytes_at_peak;
  json["active_bytes_at_end"] = device.active_bytes_at_end;
  json["reserved_bytes_at_end"] = device.reserved_bytes_at_end;
  json["num_alloc_retries"] = device.num_alloc_retries ? Json(*device.num_alloc_retries) : Json(nullptr);
  json["num_ooms"] = device.num_ooms;
}

void AddOutside(Json& json, const DeviceRow& device) {
  if (!device.least_free && device.outside_bytes == 0) return;
  json["outside_torch_bytes"] = device.outside_bytes;
  json["outside_torch"] = Json::array();
  for (const HoldingRow& holder : device.outside)
    json["outside_torch"].push_back({{"name", holder.name}, {"bytes", holder.bytes}, {"blocks", holder.blocks}});
  json["least_free_bytes"] = device.least_free ? Json(*device.least_free) : Json(nullptr);
  json["total_bytes"] = device.least_free ? Json(device.total_bytes) : Json(nullptr);
}

void AddEvicted(Json& json, const DeviceRow& device) {
  if (device.evicted_allocations == 0) return;
  json["folded"] = {
      {"peak_bytes", device.evicted_peak_bytes},       {"peak_time_ns", device.evicted_peak_ns},
      {"allocations", device.evicted_allocations},     {"allocated_bytes", device.evicted_allocated_bytes},
      {"deallocations", device.evicted_deallocations}, {"live_bytes", device.evicted_live_bytes}};
  if (device.peak_is_evicted) {
    json["folded"]["newest_peak_bytes"] = device.newest_peak_bytes;
    json["folded"]["newest_peak_time_ns"] = device.newest_peak_ns;
  }
}

void AddColumns(Json& json, const SummaryColumns& columns) {
  json["allocations"] = columns.allocations;
  json["allocated_bytes"] = columns.allocated_bytes;
  json["deallocations"] = columns.deallocations;
  json["deallocated_bytes"] = columns.deallocated_bytes;
  json["net_blocks"] = columns.net_blocks;
  json["net_bytes"] = columns.net_bytes;
  json["bytes_at_peak"] = columns.bytes_at_peak;
  json["blocks_at_peak"] = columns.blocks_at_peak;
  json["temporaries"] = columns.temporaries;
  json["temporary_bytes"] = columns.temporary_bytes;
  json["mean_life_ns"] = columns.mean_life_ns();
  json["reserved_bytes"] = columns.reserved_bytes;
}

// Adds nothing if there is only one device, because the row's columns are then the columns of this device.
void AddByDevice(Json& json, const SummaryRow& row, const Summary& summary) {
  if (summary.devices.size() < 2) return;
  json["devices"] = Json::array();
  for (std::size_t i = 0; i < row.by_device.size() && i < summary.devices.size(); ++i) {
    if (row.by_device[i] == SummaryColumns{}) continue;
    const DeviceRow& device = summary.devices[i];
    Json part = {{"device", device.name}, {"rank", RankJson(device.rank)}, {"process", device.process.value}};
    AddColumns(part, row.by_device[i]);
    json["devices"].push_back(std::move(part));
  }
}

const char* KindName(SummaryRow::Kind kind) {
  switch (kind) {
    case SummaryRow::Kind::kNamed:
      return "named";
    case SummaryRow::Kind::kNone:
      return "none";
    case SummaryRow::Kind::kWorkspace:
      return "workspace";
    case SummaryRow::Kind::kBefore:
      return "before";
    case SummaryRow::Kind::kEvicted:
      return "folded";
  }
  return "named";
}

Json ColumnsJson(const SummaryColumns& columns) {
  Json json = Json::object();
  AddColumns(json, columns);
  return json;
}

Json PhasesJson(const std::array<SummaryColumns, kPhases>& phases) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (phases[i] != SummaryColumns{}) json[std::string(ToString(static_cast<Phase>(i)))] = ColumnsJson(phases[i]);
  }
  return json;
}

// The tree of modules, for rows and for parts of paths that have no row.
class ModuleJson {
 public:
  explicit ModuleJson(const Summary& summary) : summary_(summary) {
    if (summary.by == GroupBy::kModule) nodes_ = BuildModuleTree(summary);
    for (const ModuleNode& node : nodes_) {
      if (node.row) node_of_row_[*node.row] = &node;
    }
  }

  void AddTo(Json& row, std::size_t index) const {
    const auto node = node_of_row_.find(index);
    if (node == node_of_row_.end() || summary_.rows[index].kind != SummaryRow::Kind::kNamed) return;
    AddNode(row, *node->second);
    row["phases"] = PhasesJson(summary_.rows[index].module.by_phase);
  }

  void AddContainers(Json& rows) const {
    for (const ModuleNode& node : nodes_) {
      if (node.row || node.depth == 0) continue;
      Json json = {{"name", node.path.empty() ? node.root : node.path}, {"kind", "container"}};
      json["count"] = json["outermost_count"] = 0;
      AddColumns(json, SummaryColumns{});
      AddNode(json, node);
      json["phases"] = Json::object();
      rows.push_back(std::move(json));
    }
  }

 private:
  static void AddNode(Json& json, const ModuleNode& node) {
    json["root"] = node.root;
    json["path"] = node.path;
    json["class"] = node.class_name;
    json["subtree"] = ColumnsJson(node.subtree);
  }

  const Summary& summary_;
  std::vector<ModuleNode> nodes_;
  std::map<std::size_t, const ModuleNode*> node_of_row_;
};

void AddParts(Json& json, const ParameterFacts& parameter) {
  const auto part = [&](ParameterPart which) {
    return ColumnsJson(parameter.by_part[static_cast<std::size_t>(which)]);
  };
  json["is_buffer"] = parameter.is_buffer;
  json["root"] = parameter.root;
  json["parameter"] = part(ParameterPart::kItself);
  json["gradient"] = part(ParameterPart::kGradient);
  json["optimizer_state"] = part(ParameterPart::kState);
}

Json RowJson(const SummaryRow& row, const Summary& summary) {
  Json json = {{"name", row.name}, {"kind", KindName(row.kind)}};
  if (GroupingFactsOf(summary.by).has_calls) {
    json["count"] = row.count;
    json["outermost_count"] = row.outermost_count;
  }
  AddColumns(json, row.total);
  AddByDevice(json, row, summary);
  if (NeedsStacks(summary.by)) AddLine(json, row.source);
  AddVia(json, row.via);
  if (!row.category.empty()) {
    json["category"] = row.category;
    json["detail"] = row.detail;
  }
  if (summary.by == GroupBy::kParameter && row.kind == SummaryRow::Kind::kNamed) AddParts(json, row.parameter);
  if (row.evicted != EvictedSums{}) {
    json["folded"] = {{"count", row.evicted.count},
                      {"outermost_count", row.evicted.outermost_count},
                      {"allocations", row.evicted.allocations},
                      {"allocated_bytes", row.evicted.allocated_bytes},
                      {"deallocated_bytes", row.evicted.deallocated_bytes}};
  }
  return json;
}

Json RestJson(const Summary& summary, std::size_t top) {
  SummaryRow rest;
  for (std::size_t i = top; i < summary.rows.size(); ++i) {
    rest.count += summary.rows[i].count;
    rest.outermost_count += summary.rows[i].outermost_count;
    rest.total += summary.rows[i].total;
  }
  rest.name = "(other)";
  Json json = RowJson(rest, summary);
  json["kind"] = "other";
  json["rows"] = summary.rows.size() - top;
  return json;
}

// Adds the processes of the rank, for `--by rank`. A rank usually has one process, but it can start other processes
// that train.
void AddProcesses(Json& json, const SummaryRow& row, const Capture& capture) {
  json["processes"] = Json::array();
  for (const ProcessSummary& process : capture.processes()) {
    if (RankLabel(process) != row.name || IsIdle(capture, process.id)) continue;
    json["rank"] = RankJson(process.rank());
    json["restart"] = process.info.restart();
    json["world_size"] = process.info.world_size();
    json["host"] = process.info.host();
    json["processes"].push_back(process.id.value);
  }
  json["peak_allocated_bytes"] = row.total.bytes_at_peak;
}

Json RowsJson(const Capture& capture, const Summary& summary, std::size_t top) {
  Json rows = Json::array();
  const std::size_t shown = top == 0 ? summary.rows.size() : std::min(top, summary.rows.size());
  const ModuleJson modules(summary);
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(RowJson(summary.rows[i], summary));
    modules.AddTo(rows.back(), i);
    if (summary.by == GroupBy::kRank && summary.rows[i].kind == SummaryRow::Kind::kNamed)
      AddProcesses(rows.back(), summary.rows[i], capture);
  }
  if (shown == summary.rows.size()) modules.AddContainers(rows);
  if (shown < summary.rows.size()) rows.push_back(RestJson(summary, shown));
  return rows;
}

}  // namespace

Json DeviceJson(const DeviceRow& device, const ReplayReport& report) {
  Json json = {{"device", device.name},
               {"product", device.product},
               {"rank", RankJson(device.rank)},
               {"process", device.process.value},
               {"peak_allocated_bytes", device.peak_allocated_bytes},
               {"peak_in_folded_parts", device.peak_is_evicted},
               {"peak_blocks", device.peak_blocks},
               {"peak_time_ns", device.peak_ns},
               {"peak_operator", device.peak_operator},
               {"peak_line", LineJson(device.peak_line)},
               {"peak_range", device.peak_range},
               {"peak_step", nullptr},
               {"compile_bytes_at_peak", device.compile_bytes_at_peak},
               {"peak_without_compile_bytes", device.peak_without_compile_bytes},
               {"live_bytes_at_begin", device.live_bytes_at_begin},
               {"live_bytes_at_end", device.live_bytes_at_end},
               {"live_blocks_at_end", device.live_blocks_at_end},
               {"allocations", device.allocations},
               {"allocated_bytes", device.allocated_bytes},
               {"deallocations", device.deallocations},
               {"deallocated_bytes", device.deallocated_bytes},
               {"unattributed_bytes", device.unattributed_bytes},
               {"first_seen", {{"storages", device.first_seen_storages}, {"bytes", device.first_seen_bytes}}}};
  AddCaching(json, device);
  AddOutside(json, device);
  if (device.peak_is_evicted)
    json["peak_blocks"] = json["compile_bytes_at_peak"] = json["peak_without_compile_bytes"] = nullptr;
  if (device.peak_of_all_bytes > 0) json["peak_of_all_bytes"] = device.peak_of_all_bytes;
  if (device.peak_step) json["peak_step"] = *device.peak_step;
  AddEvicted(json, device);
  TakeUnknown(json, device, report);
  return json;
}

Json SummaryJson(const Capture& capture, const Summary& summary, std::size_t top) {
  Json json = CaptureJson(capture, summary.report, "summary");
  json["window"] = {{"begin_ns", summary.begin_ns},
                    {"end_ns", summary.end_ns},
                    {"duration_ns", summary.duration_ns},
                    {"windows", summary.windows}};
  json["events"] = summary.events;
  json["ranges_begun"] = summary.ranges;
  json["operator_calls"] = summary.operator_calls;
  json["thread_count"] = summary.threads;
  json["step_count"] = summary.steps;
  json["step_kind"] = summary.step_source == StepSource::kNone ? Json(nullptr) : Json(ToString(summary.step_source));
  if (summary.last_step_is_empty) json["last_step_is_empty"] = true;
  json["mark_count"] = summary.mark_count;
  json["marks"] = Json::array();
  for (const SummaryMark& mark : summary.marks)
    json["marks"].push_back({{"name", mark.name}, {"time_ns", mark.ns}, {"process", mark.process.value}});
  json["devices"] = Json::array();
  for (const DeviceRow& device : summary.devices) json["devices"].push_back(DeviceJson(device, summary.report));
  json["out_of_memory"] = OutOfMemoryJson(summary);
  if (summary.by == GroupBy::kModule) {
    json["module_calls"] = summary.module_calls;
    json["phases"] = PhasesJson(summary.phases);
    json["compiled_regions"] = {{"allocations", summary.compiled_allocations},
                                {"allocated_bytes", summary.compiled_bytes}};
  }
  if (NeedsCategories(summary.by) || NeedsStacks(summary.by)) json["missing"] = summary.missing;
  json["by"] = GroupingFactsOf(summary.by).json_key;
  json[GroupingFactsOf(summary.by).json_key] = RowsJson(capture, summary, top);
  return json;
}

}  // namespace memoir
