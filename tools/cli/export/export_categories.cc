#include "tools/cli/export/export_categories.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/analyze/data_flow/data_flow_graph.h"
#include "tools/analyze/data_flow/tree_builder.h"
#include "tools/analyze/torch_profiler/category_profile.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/capture/block_json.h"
#include "tools/view/json/gzip.h"
#include "tools/view/picture/timeline_page.h"
#include "tools/view/torch_profiler/category_view.h"
#include "tools/view/torch_profiler/data_flow_view.h"

namespace memoir {
namespace {

absl::StatusOr<ReplayReport> ExportDataFlow(const Capture& capture, const CategoryExport& asked,
                                            const Selection& selection, const TextWriter& write) {
  absl::StatusOr<EventTree> tree = BuildEventTree(capture, selection);
  if (!tree.ok()) return tree.status();
  const DataFlowGraph graph = BuildDataFlowGraph(*tree);
  if (asked.output.ends_with(".json")) {
    WriteDataFlowJson(*tree, graph, write);
  } else if (asked.output.ends_with(".dot")) {
    WriteDataFlowDot(*tree, graph, write);
  } else {
    WriteDataFlowText(*tree, graph, write);
  }
  return std::move(tree->report);
}

// Writes the timeline of one device: the selected device, otherwise the first GPU, otherwise the CPU.
absl::Status WriteMemoryTimeline(const Capture& capture, const CategoryProfile& profile, const CategoryExport& asked,
                                 const TextWriter& write) {
  if (profile.totals.empty()) return absl::NotFoundError(capture.path() + ": no memory was allocated or freed there");
  DeviceId device = profile.totals[0].device;
  const auto is_cpu = [&](DeviceId id) { return profile.tree.device_names[id.value] == "cpu"; };
  for (const CategoryProfile::Totals& totals : profile.totals) {
    if (is_cpu(device) && !is_cpu(totals.device)) device = totals.device;
  }
  if (profile.totals.size() > 1)
    PrintMessage("memory of " + profile.tree.device_names[device.value] + "; --device takes another one");
  if (asked.output.ends_with(".html")) {
    write(TimelineHtml(profile, device));
    return absl::OkStatus();
  }
  const bool raw = asked.output.ends_with(".raw.json") || asked.output.ends_with(".raw.json.gz");
  const std::string text = raw ? RawTimelineJson(profile, device) : TimelineJson(profile, device);
  write(asked.output.ends_with(".gz") ? Gzip(text) : text);
  return absl::OkStatus();
}

}  // namespace

bool IsCategoryExport(std::string_view what) {
  return what == "categories" || what == "data-flow" || what == "memory-timeline";
}

std::string ComplaintAbout(const CategoryExport& asked) {
  if (!IsCategoryExport(asked.what)) return asked.rules.empty() ? "" : "--rules works only with categories";
  if (!asked.rules.empty() && asked.rules != "torch" && asked.rules != "memoir")
    return "no rules '" + asked.rules + "': --rules memoir, or --rules torch, as torch.profiler has them";
  if (asked.what != "categories" && asked.rules == "memoir") return asked.what + " follows torch's rules alone";
  if (asked.what == "categories" && asked.rules != "torch" && asked.forget_before)
    return "--forget-before works only with torch's rules: --rules torch";
  if (asked.what != "memory-timeline") return "";
  if (!asked.output.ends_with(".html") && !asked.output.ends_with(".json") && !asked.output.ends_with(".json.gz"))
    return "memory-timeline goes into a file whose name says its form: -o F.html, F.json, F.json.gz or F.raw.json.gz";
  return "";
}

absl::StatusOr<ReplayReport> ExportCategories(const Capture& capture, const CategoryExport& asked,
                                              const Selection& selection, const TextWriter& write) {
  if (asked.what == "data-flow") return ExportDataFlow(capture, asked, selection, write);
  if (asked.what == "categories" && asked.rules != "torch") return WriteBlockCategories(capture, selection, write);
  absl::StatusOr<CategoryProfile> profile = ProfileByTorchRules(capture, selection);
  if (!profile.ok()) return profile.status();
  if (asked.what == "memory-timeline") {
    if (const absl::Status status = WriteMemoryTimeline(capture, *profile, asked, write); !status.ok()) return status;
  } else {
    WriteCategoriesJson(*profile, write);
  }
  return std::move(profile->tree.report);
}

}  // namespace memoir
