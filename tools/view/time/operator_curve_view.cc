#include "tools/view/time/operator_curve_view.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "fmt/format.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Returns the calls that added most, in descending order. Calls that added nothing are left out.
std::vector<std::size_t> TopCalls(const DeviceOperators& device, std::size_t top) {
  std::vector<std::size_t> calls;
  for (std::size_t i = 0; i < device.after.size(); ++i) {
    if (device.AddedBy(i) > 0) calls.push_back(i);
  }
  std::ranges::stable_sort(calls, [&](std::size_t a, std::size_t b) { return device.AddedBy(a) > device.AddedBy(b); });
  if (calls.size() > top) calls.resize(top);
  return calls;
}

std::vector<std::size_t> AllCalls(const DeviceOperators& device) {
  std::vector<std::size_t> calls(device.after.size());
  std::iota(calls.begin(), calls.end(), 0);
  return calls;
}

// "#17 aten::addmm#4 in layers.0.linear1, backward"
std::string CallName(const OperatorCurve& curve, const OperatorCall& call, std::size_t number) {
  std::string name = fmt::format("#{} {}", number, ShownName(curve.names[call.name]));
  if (call.number != OperatorCall::kNoNumber) name += fmt::format("#{}", call.number);
  if (call.module != OperatorCall::kNoModule) name += " in " + ShownName(curve.modules[call.module].display_path());
  if (call.phase != Phase::kOther) name += ", " + std::string(ToString(call.phase));
  return name;
}

std::string CallTable(const OperatorCurve& curve, const ProcessOperators& process, const DeviceOperators& device,
                      const std::vector<std::size_t>& calls, const Terminal& terminal) {
  TextTable table({"after operator call", "added", "allocated", "active", "reserved"});
  for (const std::size_t i : calls) {
    const DeviceBytes& bytes = device.after[i];
    table.AddRow({CallName(curve, process.calls[i], i), FormatSignedBytes(device.AddedBy(i)),
                  FormatBytes(bytes.allocated), FormatBytes(bytes.active), FormatBytes(bytes.reserved)});
  }
  return table.Render(terminal, 2);
}

std::string MarkerCell(const std::optional<IterationInstant>& instant) {
  return instant ? fmt::format("#{}", instant->calls) : "-";
}

// Shows the newest iterations, because the first ones of a run are seldom typical.
std::string IterationTable(const ProcessOperators& process, std::size_t top, const Terminal& terminal) {
  if (process.iterations.empty()) {
    return "  " + Wrapped("no iteration was seen: no module, backward pass or optimizer step", terminal.width, 2) +
           "\n";
  }
  const std::size_t all = process.iterations.size();
  const std::size_t first = top == 0 || all <= top ? 0 : all - top;
  TextTable table({"iteration", "fw_start", "fw_bw_boundary", "backward end", "optimizer step"});
  for (std::size_t i = first; i < all; ++i) {
    const Iteration& iteration = process.iterations[i];
    table.AddRow({FormatCount(i), MarkerCell(iteration.fw_start), MarkerCell(iteration.fw_bw_boundary),
                  MarkerCell(iteration.backward_end), MarkerCell(iteration.optimizer_step)});
  }
  std::string text = table.Render(terminal, 2);
  if (first > 0) text += fmt::format("  and {} before; --top 0 shows all\n", FormatCount(first));
  return text;
}

std::string DeviceText(const Capture& capture, const OperatorCurve& curve, const ProcessOperators& process,
                       const DeviceOperators& device, std::size_t top, const Terminal& terminal) {
  const std::string heading =
      fmt::format("{}: {}, {}, {}, {}", DeviceLabel(capture, device.name, process.process),
                  FormatCounted(process.calls.size(), "operator call", "operator calls"),
                  FormatCounted(process.iterations.size(), "iteration", "iterations"),
                  FormatCounted(device.num_alloc_retries, "retry", "retries"),
                  FormatCounted(device.num_ooms, "out-of-memory error", "out-of-memory errors"));
  const auto titled = [&](const std::string& title) {
    return Painted(terminal, Color::kBold, Wrapped(title, terminal.width, 2)) + "\n";
  };
  std::string text = "\n" + titled(heading) + IterationTable(process, top, terminal) + "\n";
  if (top == 0) return text + CallTable(curve, process, device, AllCalls(device), terminal);
  text += titled("Operator calls that add most to what is allocated");
  return text + CallTable(curve, process, device, TopCalls(device, top), terminal);
}

Json CallJson(const OperatorCurve& curve, const ProcessOperators& process, const DeviceOperators& device,
              std::size_t i) {
  const OperatorCall& call = process.calls[i];
  const DeviceBytes& bytes = device.after[i];
  Json json = {{"call", i},
               {"operator", curve.names[call.name]},
               {"number", call.number == OperatorCall::kNoNumber ? Json() : Json(call.number)},
               {"phase", ToString(call.phase)},
               {"end_ns", call.end_ns},
               {"added_bytes", device.AddedBy(i)},
               {"allocated_bytes", bytes.allocated},
               {"active_bytes", bytes.active},
               {"reserved_bytes", bytes.reserved}};
  if (call.module == OperatorCall::kNoModule) return json;
  const Module& module = curve.modules[call.module];
  json["module"] = module.path;
  json["root"] = module.root;
  json["class"] = module.class_name;
  return json;
}

}  // namespace

std::string RenderOperatorCurve(const Capture& capture, const OperatorCurve& curve, std::size_t top,
                                const Terminal& terminal) {
  std::string text = RenderProgram(capture, terminal);
  for (const ProcessOperators& process : curve.processes) {
    for (const DeviceOperators& device : process.devices)
      text += DeviceText(capture, curve, process, device, top, terminal);
  }
  text += "  " +
          Wrapped(
              "#n: calls are counted from 0, a marker by the calls that ended before it. NAME#n: as memoir explain "
              "counts the calls of one operator. added: to allocated, since the call before.",
              terminal.width, 2) +
          "\n";
  return text + "\n" + RenderLosses(capture, curve.report, terminal);
}

Json MarkersJson(const std::vector<Iteration>& iterations) {
  Json json = Json::array();
  for (const Iteration& iteration : iterations) {
    Json markers = Json::object();
    for (const auto& [name, moment] : MarkersOf(iteration))
      markers[std::string(name)] = {{"call", moment.calls}, {"time_ns", moment.ns}};
    json.push_back(std::move(markers));
  }
  return json;
}

Json OperatorCurveJson(const Capture& capture, const OperatorCurve& curve, std::size_t top) {
  Json json = CaptureJson(capture, curve.report, "over_operators");
  json["devices"] = Json::array();
  for (const ProcessOperators& process : curve.processes) {
    for (const DeviceOperators& device : process.devices) {
      Json shown = {{"device", device.name},
                    {"rank", RankJson(process.rank)},
                    {"process", process.process.value},
                    {"num_alloc_retries", device.num_alloc_retries},
                    {"num_ooms", device.num_ooms},
                    {"operator_calls", process.calls.size()},
                    {"iterations", MarkersJson(process.iterations)},
                    {"calls", Json::array()}};
      std::vector<std::size_t> calls = top == 0 ? AllCalls(device) : TopCalls(device, top);
      std::ranges::sort(calls);
      for (const std::size_t i : calls) shown["calls"].push_back(CallJson(curve, process, device, i));
      json["devices"].push_back(std::move(shown));
    }
  }
  return json;
}

}  // namespace memoir
