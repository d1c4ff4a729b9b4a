#include "tools/view/time/live_block_table_view.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Keeps the first `top` rows and adds one for the rest, so that the column adds up.
std::vector<LiveRow> Cut(const std::vector<LiveRow>& rows, std::size_t top, const std::string& rest_name) {
  if (top == 0 || rows.size() <= top + 1) return rows;
  std::vector<LiveRow> cut(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(top));
  LiveRow rest;
  rest.name = rest_name;
  for (std::size_t i = top; i < rows.size(); ++i) {
    rest.bytes += rows[i].bytes;
    rest.blocks += rows[i].blocks;
  }
  cut.push_back(std::move(rest));
  return cut;
}

std::string GroupTable(const LiveDevice& device, const LiveBlockTable& live, std::size_t top,
                       const Terminal& terminal) {
  const GroupingFacts names = GroupingFactsOf(live.by);
  TextTable table({std::string(names.one), "live", "share", "blocks"});
  if (names.needs_stacks) table.CutNamesAtEnd();
  const std::string rest =
      top == 0 ? ""
               : fmt::format("other ({} {})", FormatCount(device.rows.size() - std::min(top, device.rows.size())),
                             names.many);
  for (const LiveRow& row : Cut(device.rows, top, rest)) {
    table.AddRow({ShownName(row.name), FormatBytes(row.bytes), FormatShare(row.bytes, device.live_bytes),
                  FormatCount(row.blocks)});
  }
  table.AddTotal({"total", FormatBytes(device.live_bytes), FormatShare(device.live_bytes, device.live_bytes),
                  FormatCount(device.live_blocks)});
  return table.Render(terminal, 2);
}

// Returns the name of the parameter if the block is a parameter. Otherwise returns the operator that allocated the
// block, and the module or range around it.
std::string BlockName(const LiveBlock& block) {
  if (!block.parameter.empty()) return Escaped(block.parameter);
  const std::string& place = block.module.empty() ? block.range_name : block.module;
  const std::string maker = block.operator_name.empty() ? "(no operator)" : Escaped(block.operator_name);
  return place.empty() ? maker : maker + " in " + Escaped(place);
}

// "net.py:12". The table has no room for the function; JSON has it.
std::string LineCell(const SourceLine& line) {
  constexpr std::size_t kWidth = 24;
  return line.known() ? ShownPlace(line, kWidth) : "";
}

std::string BlockTable(const LiveDevice& device, std::size_t top, const Terminal& terminal) {
  if (device.largest.empty()) return "";
  const bool lines = std::ranges::any_of(device.largest, [](const LiveBlock& block) { return block.line.known(); });
  std::vector<std::string> titles = {"largest blocks", "bytes", "category", "since", "address", "thread"};
  if (lines) titles.insert(titles.begin() + 3, "line");
  TextTable table(std::move(titles));
  const std::size_t shown = top == 0 ? device.largest.size() : std::min(top, device.largest.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const LiveBlock& block = device.largest[i];
    std::vector<std::string> cells = {BlockName(block),
                                      FormatBytes(block.bytes),
                                      block.category,
                                      block.before ? "before" : FormatMoment(block.allocated_ns),
                                      fmt::format("0x{:x}", block.address),
                                      Shortened(Escaped(block.thread), 20)};
    if (lines) cells.insert(cells.begin() + 3, LineCell(block.line));
    table.AddRow(std::move(cells));
  }
  return "\n" + table.Render(terminal, 2);
}

Json BlockJson(const LiveBlock& block) {
  return {{"address", fmt::format("0x{:x}", block.address)},
          {"bytes", block.bytes},
          {"serial", block.serial},
          {"allocated_time_ns", block.allocated_ns},
          {"thread", block.thread},
          {"operator", block.operator_name},
          {"leaf", block.leaf_name},
          {"line", LineJson(block.line)},
          {"range", block.range_name},
          {"module", block.module},
          {"category", block.category},
          {"parameter", block.parameter.empty() ? Json(nullptr) : Json(block.parameter)},
          {"before_window", block.before}};
}

// Returns the span that makes the device's memory unknown at the instant; nullptr if it is known. `instant`: the typed
// instant, or its description.
const UnrecordedSpan* UnknownThen(const LiveDevice& device, const std::string& instant, const ReplayReport& report) {
  return instant.ends_with("end") ? UnknownMemoryAtEnd(report, device.process, device.name)
                                  : UnknownMemoryAt(report, device.process, device.name, device.ns);
}

Json LiveDeviceJson(const LiveDevice& device, GroupBy by, std::size_t top) {
  Json json = {{"device", device.name}, {"rank", RankJson(device.rank)},   {"process", device.process.value},
               {"time_ns", device.ns},  {"live_bytes", device.live_bytes}, {"live_blocks", device.live_blocks}};
  Json& rows = json[GroupingFactsOf(by).json_key] = Json::array();
  for (const LiveRow& row : Cut(device.rows, top, "(other)")) {
    rows.push_back({{"name", row.name}, {"bytes", row.bytes}, {"blocks", row.blocks}});
    if (NeedsStacks(by)) AddLine(rows.back(), row.source);
    AddVia(rows.back(), row.via);
  }
  json["largest_blocks"] = Json::array();
  for (const LiveBlock& block : device.largest) json["largest_blocks"].push_back(BlockJson(block));
  return json;
}

// If the peak was evicted, "the peak" is the peak of the remaining recording.
std::string InstantOf(const std::string& instant, const LiveDevice& device, const ReplayReport& report) {
  if (instant == "the peak" && device.process.value < report.processes.size()) {
    for (const auto& peak : report.processes[device.process.value].evicted_peaks) {
      if (peak.device == device.name && peak.bytes > device.live_bytes) return "the peak of the parts that are left,";
    }
  }
  return Escaped(instant);
}

}  // namespace

std::string RenderLiveBlockTable(const Capture& capture, const LiveBlockTable& live, const std::string& instant,
                                 std::size_t top, const Terminal& terminal) {
  std::string text = RenderProgram(capture, terminal);
  for (const LiveDevice& device : live.devices) {
    if (const UnrecordedSpan* unknown = UnknownThen(device, instant, live.report)) {
      text += "\n" +
              Wrapped(fmt::format("Live at {} of {}: not known: {}", Escaped(instant),
                                  DeviceLabel(capture, device.name, device.process), Escaped(unknown->why)),
                      terminal.width, 0) +
              "\n";
      continue;
    }
    text +=
        "\n" +
        Painted(terminal, Color::kBold,
                Wrapped(fmt::format("Live at {} of {}: {} in {}, at {}", InstantOf(instant, device, live.report),
                                    DeviceLabel(capture, device.name, device.process), FormatBytes(device.live_bytes),
                                    FormatCounted(device.live_blocks, "block", "blocks"), FormatMoment(device.ns)),
                        terminal.width, 0)) +
        "\n";
    if (device.live_bytes == 0) continue;
    LiveDevice shown = device;
    ShortenFiles(shown.rows);
    text += GroupTable(shown, live, top, terminal) + BlockTable(device, top, terminal);
  }
  if (!live.missing.empty()) text += "  " + Wrapped(live.missing, terminal.width, 2) + "\n";
  if (live.devices.empty()) text += "No allocation was recorded.\n";
  return text + "\n" + RenderLosses(capture, live.report, terminal);
}

Json LiveBlockTableJson(const Capture& capture, const LiveBlockTable& live, const std::string& instant,
                        std::size_t top) {
  Json json = CaptureJson(capture, live.report, "live");
  json["at"] = instant;
  json["by"] = GroupingFactsOf(live.by).json_key;
  json["devices"] = Json::array();
  for (const LiveDevice& device : live.devices) {
    json["devices"].push_back(LiveDeviceJson(device, live.by, top));
    if (UnknownThen(device, instant, live.report) == nullptr) continue;
    json["devices"].back()["live_bytes"] = json["devices"].back()["live_blocks"] = nullptr;
  }
  return json;
}

}  // namespace memoir
