#include "tools/view/fit/fit_peak_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <regex>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kTop = 5;
constexpr std::size_t kTopInWords = 3;

struct PeakPart {
  const char* name;
  std::uint64_t SimulatedDevice::* bytes;
  const char* source;
};
constexpr PeakPart kParts[] = {
    {"context", &SimulatedDevice::context, "from a table"},
    {"torch's segments (cudaMalloc)", &SimulatedDevice::peak_blocks, "simulated"},
    {"torch's expandable segments", &SimulatedDevice::peak_mapped, "simulated"},
    {"cudaMallocAsync", &SimulatedDevice::peak_pools, "simulated"},
    {"NCCL and other libraries", &SimulatedDevice::peak_libraries, "from a table"},
};

std::size_t UsedDevices(const FitRun& run) {
  std::size_t used = 0;
  for (const SimulatedProcess& process : run.processes) {
    used += static_cast<std::size_t>(
        std::ranges::count_if(process.devices, [](const auto& device) { return device.peak > device.context; }));
  }
  return used;
}

std::string RenderDevice(const FitRun& run, const SimulatedDevice& device, const std::string& when,
                         const Terminal& terminal) {
  TextTable table({"owner", "bytes", "share", "source"});
  for (const PeakPart& part : kParts) {
    if (const std::uint64_t bytes = device.*part.bytes; bytes > 0)
      table.AddRow({part.name, FormatBytes(bytes), FormatShare(bytes, device.peak), part.source});
  }
  table.AddTotal({"total", FormatBytes(device.peak), FormatShare(device.peak, device.peak)});
  std::string heading = fmt::format("The peak of device {}", device.ordinal);
  if (const std::size_t used = UsedDevices(run); used > 1) heading += fmt::format(", the fullest of {}", used);
  return Painted(terminal, Color::kBold, heading + when) + "\n" + table.Render(terminal, 2);
}

std::string RenderRows(const std::string& name, const std::vector<FitRow>& rows, const Terminal& terminal) {
  if (rows.empty()) return "";
  std::uint64_t whole = 0, rest = 0;
  for (const FitRow& row : rows) whole += row.bytes;
  TextTable table({name, "bytes", "share"});
  // If only one row is left, it is printed, because a row "other (1)" would take as much room.
  const std::size_t shown = rows.size() <= kTop + 1 ? rows.size() : kTop;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i >= shown) {
      rest += rows[i].bytes;
    } else {
      table.AddRow({ShownName(rows[i].name), FormatBytes(rows[i].bytes), FormatShare(rows[i].bytes, whole)});
    }
  }
  if (rest > 0)
    table.AddRow({fmt::format("other ({})", rows.size() - shown), FormatBytes(rest), FormatShare(rest, whole)});
  table.AddTotal({"total", FormatBytes(whole), FormatShare(whole, whole)});
  return table.Render(terminal, 2);
}

// Joins the rows of similar layers: blocks.0.mlp, blocks.1.mlp and so on become "blocks.*.mlp". Each such row has few
// bytes, but together they have many.
std::vector<FitRow> AlikeTogether(const std::vector<FitRow>& rows) {
  const auto pattern = [](const std::string& name) {
    static const std::regex kNumber(R"((^|\.)\d+(?=\.|$))");
    return std::regex_replace(name, kNumber, "$1*");
  };
  std::map<std::string, FitRow> alike;  // by pattern; a group with one row keeps the row's name
  std::map<std::string, std::size_t> members;
  for (const FitRow& row : rows) {
    FitRow& sum = alike[pattern(row.name)];
    if (members[pattern(row.name)]++ == 0) sum.name = row.name;
    sum.bytes += row.bytes;
  }
  std::vector<FitRow> together;
  for (auto& [name, row] : alike) together.push_back({members[name] > 1 ? name : row.name, row.bytes});
  std::ranges::stable_sort(together, std::ranges::greater(), &FitRow::bytes);
  return together;
}

// Prints torch's own figures: its reserved bytes are a part of the table above, and its allocated bytes are a part of
// the reserved bytes.
std::string RenderRecording(const FitRecording& recording, const Terminal& terminal) {
  std::string heading = "torch:";
  if (recording.peak_reserved)
    heading += fmt::format(" at most {} reserved and", FormatBytes(*recording.peak_reserved));
  heading += fmt::format(" at most {} allocated; at that peak:", FormatBytes(recording.peak_allocated));
  return Painted(terminal, Color::kBold, heading) + "\n" + RenderRows("operator", recording.by_operator, terminal) +
         RenderRows("module", AlikeTogether(recording.by_module), terminal) +
         RenderRows("phase", recording.by_phase, terminal);
}

std::string Largest(const std::vector<FitRow>& rows) {
  std::string text;
  std::uint64_t rest = 0;
  const std::size_t shown = rows.size() <= kTopInWords + 1 ? rows.size() : kTopInWords;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i < shown) {
      text += fmt::format("{}{} {}", i == 0 ? "" : ", ", FormatBytes(rows[i].bytes), ShownName(rows[i].name));
    } else {
      rest += rows[i].bytes;
    }
  }
  return rest > 0 ? text + ", " + FormatBytes(rest) + " others" : text;
}

}  // namespace

std::string RenderFitPeak(const FitRun& run, const std::string& when, const Terminal& terminal) {
  const auto deciding = DecidingDeviceOf(run);
  if (!deciding) return "";
  const std::string text = RenderDevice(run, deciding->device, when, terminal);
  return run.recording ? text + RenderRecording(*run.recording, terminal) : text;
}

std::string FitPeakWords(const FitRun& run) {
  const auto deciding = DecidingDeviceOf(run);
  if (!deciding) return "";
  std::string text;
  for (const PeakPart& part : kParts) {
    if (const std::uint64_t bytes = deciding->device.*part.bytes; bytes > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : " + ", FormatBytes(bytes), part.name);
  }
  if (!run.recording) return text;
  const FitRecording& recording = *run.recording;
  text += fmt::format(". torch allocated at most {}; by phase: {}", FormatBytes(recording.peak_allocated),
                      Largest(recording.by_phase));
  if (!recording.by_operator.empty()) text += "; by operator: " + Largest(recording.by_operator);
  return text;
}

}  // namespace memoir
