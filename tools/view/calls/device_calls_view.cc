#include "tools/view/calls/device_calls_view.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/model/import_source.h"
#include "tools/model/kernel_name.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

using Operators = std::vector<std::pair<std::string, std::uint64_t>>;

// The kernels of one name, with any template arguments.
struct NamedKernels {
  std::string name;
  std::uint64_t launches = 0, captured = 0, failed = 0, symbols = 0, runs = 0, device_ns = 0;
  std::map<std::string, std::uint64_t> operators, operators_ns;
  std::set<std::string> streams;
};

std::vector<NamedKernels> ByName(const DeviceCallSummary& calls) {
  std::map<std::string, NamedKernels> by_name;
  for (const KernelRow& row : calls.kernels) {
    NamedKernels& kernels = by_name[row.name];
    kernels.name = ShortKernelName(row.symbol);
    kernels.launches += row.launches;
    kernels.captured += row.captured;
    kernels.failed += row.failed;
    ++kernels.symbols;
    for (const auto& [name, launches] : row.operators) kernels.operators[name] += launches;
    kernels.streams.insert(row.streams.begin(), row.streams.end());
    kernels.runs += row.runs;
    kernels.device_ns += row.device_ns;
    for (const auto& [name, ns] : row.operators_ns) kernels.operators_ns[name] += ns;
  }
  std::vector<NamedKernels> rows;
  for (auto& [name, kernels] : by_name) rows.push_back(std::move(kernels));
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    return std::tie(a.device_ns, a.launches) > std::tie(b.device_ns, b.launches);
  });
  return rows;
}

std::string KernelText(const std::string& name) { return name.empty() ? "(name not known)" : ShownName(name); }

// Returns "aten::add", or "aten::add +3": the name with the largest value, and the number of the other names.
template <class Names>
std::string MostBy(const Names& operators) {
  if (operators.empty()) return "";
  const auto most = std::ranges::max_element(operators, {}, [](const auto& entry) { return entry.second; });
  const std::string name = most->first.empty() ? "(no operator)" : ShownName(most->first);
  return operators.size() == 1 ? name : fmt::format("{} +{}", name, FormatCount(operators.size() - 1));
}

std::size_t Shown(std::size_t top, std::size_t rows) { return top == 0 ? rows : std::min(top, rows); }

std::string MoreRowsText(std::size_t shown, std::size_t rows) {
  return rows > shown ? fmt::format("  and {} more (--top 0: all)\n", FormatCount(rows - shown)) : "";
}

// The column "mean" has the mean time of the runs, because kernels of a replayed graph run without being launched.
std::string TimedKernelTable(const DeviceCallSummary& calls, const std::vector<NamedKernels>& rows, std::size_t top,
                             const Terminal& terminal) {
  TextTable table({"kernel", "launches", "time", "share", "mean", "streams", "most by"});
  const std::size_t shown = Shown(top, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const NamedKernels& row = rows[i];
    const bool ran = row.runs != 0;
    table.AddRow({KernelText(row.name), FormatCount(row.launches), ran ? FormatDuration(row.device_ns) : "",
                  ran ? FormatShare(row.device_ns, calls.device_ns) : "",
                  ran ? FormatDuration(row.device_ns / row.runs) : "", FormatCount(row.streams.size()),
                  MostBy(ran ? row.operators_ns : row.operators)});
  }
  return table.Render(terminal, 2) + MoreRowsText(shown, rows.size());
}

std::string KernelTable(const DeviceCallSummary& calls, std::size_t top, const Terminal& terminal) {
  const std::vector<NamedKernels> rows = ByName(calls);
  if (calls.times_recorded) return TimedKernelTable(calls, rows, top, terminal);
  TextTable table({"kernel", "launches", "share", "streams", "most by"});
  const std::size_t shown = Shown(top, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.AddRow({KernelText(rows[i].name), FormatCount(rows[i].launches),
                  FormatShare(rows[i].launches, calls.launches), FormatCount(rows[i].streams.size()),
                  MostBy(rows[i].operators)});
  }
  return table.Render(terminal, 2) + MoreRowsText(shown, rows.size());
}

std::string CallText(const CallRow& row) {
  std::string text(row.call);
  std::string kind(ToString(row.kind));
  std::ranges::replace(kind, '_', ' ');
  return kind.empty() ? text : text + ", " + kind;
}

std::string CallTable(const DeviceCallSummary& calls, std::size_t top, const Terminal& terminal) {
  std::vector<std::string> columns = {"call", "calls", "bytes", "time in it", "most by"};
  if (calls.times_recorded) columns.insert(columns.end() - 1, "on device");
  TextTable table(columns);
  const std::size_t shown = Shown(top, calls.calls.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const CallRow& row = calls.calls[i];
    std::vector<std::string> cells = {CallText(row), FormatCount(row.calls),
                                      row.bytes == 0 ? "" : FormatBytes(row.bytes),
                                      row.ns ? FormatDuration(*row.ns) : "", MostBy(row.operators)};
    if (calls.times_recorded) cells.insert(cells.end() - 1, row.device_ns == 0 ? "" : FormatDuration(row.device_ns));
    table.AddRow(std::move(cells));
  }
  return table.Render(terminal, 2) + MoreRowsText(shown, calls.calls.size());
}

// Returns a line such as "graph 1 on cuda:0: private pool (0, 1) of 3.0 GiB, 12 kernels, replayed 20 times".
std::string GraphLine(const GraphRow& graph, bool job, bool launches_recorded) {
  std::string text = fmt::format("graph {}{} on {}: ", graph.number,
                                 job ? fmt::format(" of process {}", graph.process.value) : "", graph.device);
  if (graph.pool_graph == 0 && graph.pool_user == 0) {
    text += "no private pool";
  } else {
    text +=
        fmt::format("private pool ({}, {}) of {}", graph.pool_graph, graph.pool_user, FormatBytes(graph.pool_bytes));
  }
  if (launches_recorded) text += ", " + FormatCounted(graph.launches, "kernel", "kernels");
  if (!graph.instantiated && graph.alive) text += ", not instantiated";
  text += fmt::format(", replayed {}", FormatCounted(graph.replays, "time", "times"));
  return graph.alive ? text : text + ", destroyed";
}

std::string GraphLines(const DeviceCallSummary& calls, std::size_t top, const Terminal& terminal) {
  const bool job = std::ranges::any_of(
      calls.graphs, [&](const GraphRow& graph) { return graph.process != calls.graphs.front().process; });
  std::string text;
  const std::size_t shown = Shown(top, calls.graphs.size());
  for (std::size_t i = 0; i < shown; ++i)
    text += "  " + Wrapped(GraphLine(calls.graphs[i], job, calls.launches_recorded), terminal.width, 4) + "\n";
  return text + MoreRowsText(shown, calls.graphs.size());
}

std::string TimesNote(const DeviceCallSummary& calls) {
  std::string note = fmt::format("CUPTI timed {}.", FormatCounted(calls.runs, "run", "runs"));
  if (calls.other_runs > 0)
    note += fmt::format(" {} more, of {}, belong to calls that are not recorded.", FormatCount(calls.other_runs),
                        FormatDuration(calls.other_ns));
  return note;
}

std::string Note(const Capture& capture, const DeviceCallSummary& calls) {
  std::string note;
  if (ImportSourceOf(capture) == ImportSource::kTrace)
    return "Memoir reads memory from a trace of torch.profiler, and no launches.";
  if (IsImported(capture)) return NotInImport(capture, "calls of CUDA") + ".";
  if (!calls.launches_recorded) return "Launches were not recorded: --kernels off, or an older Memoir.";
  if (calls.kernels.empty() && calls.calls.empty()) return "No call of CUDA was recorded.";
  if (calls.unnamed > 0)
    note += fmt::format("{} without a name: CUDA before 12.3 does not report it, or there are more than 4,096 names. ",
                        FormatCounted(calls.unnamed, "launch", "launches"));
  std::uint64_t failed = 0, captured = 0;
  for (const KernelRow& row : calls.kernels) {
    failed += row.failed;
    captured += row.captured;
  }
  if (failed > 0) note += fmt::format("{} failed. ", FormatCounted(failed, "launch", "launches"));
  if (captured > 0)
    note += fmt::format("{} went into a graph that was captured; what its replays run is {}. ",
                        FormatCounted(captured, "launch", "launches"),
                        calls.times_recorded ? "timed, and no launch" : "not counted");
  if (!calls.times_recorded) return note + "How long kernels run is not recorded.";
  return note + TimesNote(calls);
}

Json OperatorsJson(const Operators& operators) {
  Json json = Json::array();
  for (const auto& [name, count] : operators)
    json.push_back({{"name", name.empty() ? Json(nullptr) : Json(name)}, {"count", count}});
  return json;
}

// An operator that replays a graph launches none of the graph's kernels, so its count is 0.
Json TimedOperatorsJson(const KernelRow& row) {
  std::map<std::string, std::uint64_t> ns(row.operators_ns.begin(), row.operators_ns.end());
  Json json = Json::array();
  const auto add = [&](const std::string& name, std::uint64_t count, std::uint64_t device_ns) {
    json.push_back({{"name", name.empty() ? Json(nullptr) : Json(name)}, {"count", count}, {"device_ns", device_ns}});
  };
  for (const auto& [name, count] : row.operators) {
    const auto found = ns.extract(name);
    add(name, count, found.empty() ? 0 : found.mapped());
  }
  for (const auto& [name, device_ns] : ns) add(name, 0, device_ns);
  return json;
}

Json KernelJson(const KernelRow& row, bool timed) {
  Json json = {{"kernel", row.symbol.empty() ? Json(nullptr) : Json(row.name)},
               {"symbol", row.symbol.empty() ? Json(nullptr) : Json(row.symbol)},
               {"launches", row.launches},
               {"captured", row.captured},
               {"failed", row.failed},
               {"operators", OperatorsJson(row.operators)},
               {"streams", row.streams}};
  if (!timed) return json;
  json["operators"] = TimedOperatorsJson(row);
  json["runs"] = row.runs;
  json["device_ns"] = row.device_ns;
  return json;
}

Json CallJson(const CallRow& row, bool timed) {
  Json json = {{"call", std::string(row.call)},
               {"kind", row.kind == v1::COPY_KIND_UNKNOWN ? Json(nullptr) : Json(std::string(ToString(row.kind)))},
               {"calls", row.calls},
               {"failed", row.failed},
               {"bytes", row.bytes},
               {"total_ns", row.ns ? Json(*row.ns) : Json(nullptr)},
               {"operators", OperatorsJson(row.operators)}};
  if (timed) json["device_ns"] = row.device_ns;
  return json;
}

Json GraphJson(const GraphRow& graph, bool launches_recorded) {
  const bool has_pool = graph.pool_graph != 0 || graph.pool_user != 0;
  return {{"graph", graph.number},
          {"process", graph.process.value},
          {"device", graph.device},
          {"captured_stream", graph.stream == 0 ? Json(nullptr) : Json(fmt::format("{:#x}", graph.stream))},
          {"kernels", launches_recorded ? Json(graph.launches) : Json(nullptr)},
          {"pool", has_pool ? Json::array({graph.pool_graph, graph.pool_user}) : Json(nullptr)},
          {"pool_reserved_bytes", graph.pool_bytes},
          {"replays", graph.replays},
          {"instantiated", graph.instantiated},
          {"alive", graph.alive}};
}

std::string Title(const std::string& text, const Terminal& terminal) {
  return "\n" + Painted(terminal, Color::kBold, text) + "\n";
}

}  // namespace

std::string RenderDeviceCalls(const Capture& capture, const DeviceCallSummary& calls, std::size_t top,
                              const Terminal& terminal) {
  std::string text = RenderProgram(capture, terminal);
  text += Title(fmt::format("Kernels, {}", FormatCounted(calls.launches, "launch", "launches")), terminal);
  if (!calls.kernels.empty()) text += KernelTable(calls, top, terminal);
  text += "  " + Wrapped(Note(capture, calls), terminal.width, 2) + "\n";
  if (!calls.calls.empty()) text += Title("Other calls of CUDA", terminal) + CallTable(calls, top, terminal);
  if (!calls.graphs.empty()) text += Title("CUDA graphs", terminal) + GraphLines(calls, top, terminal);
  return text + "\n" + RenderLosses(capture, calls.report, terminal);
}

Json DeviceCallsJson(const Capture& capture, const DeviceCallSummary& calls, std::size_t top) {
  Json json = CaptureJson(capture, calls.report, "kernels");
  json["launches_recorded"] = calls.launches_recorded;
  json["launches"] = calls.launches;
  json["unnamed_launches"] = calls.unnamed;
  if (calls.times_recorded) {
    json["runs"] = calls.runs;
    json["device_ns"] = calls.device_ns;
    json["other_runs"] = calls.other_runs;
    json["other_device_ns"] = calls.other_ns;
  }
  json["kernels"] = Json::array();
  for (std::size_t i = 0; i < Shown(top, calls.kernels.size()); ++i)
    json["kernels"].push_back(KernelJson(calls.kernels[i], calls.times_recorded));
  json["calls"] = Json::array();
  for (const CallRow& row : calls.calls) json["calls"].push_back(CallJson(row, calls.times_recorded));
  json["graphs"] = Json::array();
  for (const GraphRow& graph : calls.graphs) json["graphs"].push_back(GraphJson(graph, calls.launches_recorded));
  return json;
}

}  // namespace memoir
