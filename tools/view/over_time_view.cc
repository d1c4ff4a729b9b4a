#include "tools/view/over_time_view.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "fmt/format.h"
#include "tools/view/capture_text.h"
#include "tools/view/terminal_text.h"
#include "tools/view/units.h"

namespace memoir {
namespace {

constexpr std::string_view kGap = "·";
constexpr std::size_t kAxisWidth = 11;  // "1023.9 MiB" and a space

// Eighths that `value` fills of `rows` characters.
std::size_t Eighths(std::uint64_t value, std::uint64_t most, std::size_t rows) {
  if (value == 0 || most == 0) return 0;
  const double share = static_cast<double>(value) / static_cast<double>(most);
  const auto eighths = static_cast<std::size_t>(share * static_cast<double>(rows * 8) + 0.5);
  return std::clamp<std::size_t>(eighths, 1, rows * 8);
}

std::string Chart(const DeviceCurve& curve, std::size_t rows) {
  const auto lines = BlockChart(curve, rows);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string label = i == 0 ? FormatBytes(curve.peak_bytes) : i + 1 == lines.size() ? "0 B" : "";
    text += PaddedLeft(label, kAxisWidth - 1) + " " + lines[i] + "\n";
  }
  return text;
}

// Begin at the left, end at the right, below the chart.
std::string TimeAxis(const OverTime& over_time, std::size_t columns) {
  const std::string begin = FormatMoment(over_time.begin_ns);
  const std::string end = FormatMoment(over_time.end_ns);
  const std::size_t used = begin.size() + end.size();
  return std::string(kAxisWidth, ' ') + begin + std::string(columns > used ? columns - used : 1, ' ') + end + "\n";
}

bool HasGap(const OverTime& over_time) {
  return std::ranges::any_of(over_time.devices, [](const DeviceCurve& curve) {
    return std::ranges::find(curve.in_window, false) != curve.in_window.end();
  });
}

Json BucketsJson(const DeviceCurve& curve) {
  Json buckets = Json::array();
  for (std::size_t i = 0; i < curve.max_bytes.size(); ++i)
    buckets.push_back(curve.in_window[i] ? Json(curve.max_bytes[i]) : Json());
  return buckets;
}

}  // namespace

std::size_t ChartColumns(const Terminal& terminal) {
  constexpr std::size_t kFewest = 20;
  return terminal.width > kAxisWidth + kFewest ? terminal.width - kAxisWidth : kFewest;
}

std::vector<std::string> BlockChart(const DeviceCurve& curve, std::size_t rows) {
  constexpr std::array<std::string_view, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<std::string> lines(rows);
  for (std::size_t i = 0; i < curve.max_bytes.size(); ++i) {
    const std::size_t eighths = curve.in_window[i] ? Eighths(curve.max_bytes[i], curve.peak_bytes, rows) : 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t below = (rows - 1 - row) * 8;
      if (below == 0 && !curve.in_window[i]) {
        lines[row] += kGap;
        continue;
      }
      lines[row] += kBlocks[eighths <= below ? 0 : std::min<std::size_t>(eighths - below, 8)];
    }
  }
  return lines;
}

std::string RenderOverTime(const Capture& capture, const OverTime& over_time, const Terminal& terminal) {
  constexpr std::size_t kTallRows = 8;
  std::string text = RenderWhatRan(capture, terminal);
  const std::size_t rows = over_time.devices.size() <= 2 ? kTallRows : 2;
  for (const DeviceCurve& curve : over_time.devices) {
    text +=
        "\n" +
        Painted(terminal, Color::kBold,
                fmt::format("{}: live bytes over time, peak {} at {}", DeviceLabel(capture, curve.name, curve.process),
                            FormatBytes(curve.peak_bytes), FormatMoment(curve.peak_ns))) +
        "\n";
    text += Chart(curve, rows) + TimeAxis(over_time, curve.max_bytes.size());
  }
  if (HasGap(over_time)) text += fmt::format("{}{}: between the windows\n", std::string(kAxisWidth, ' '), kGap);
  if (over_time.devices.empty()) text += "No allocation was recorded.\n";
  return text + "\n" + RenderLosses(capture, over_time.report, terminal);
}

Json OverTimeJson(const Capture& capture, const OverTime& over_time) {
  Json json = CaptureJson(capture, over_time.report, "over_time");
  json["window"] = {{"begin_ns", over_time.begin_ns}, {"end_ns", over_time.end_ns}};
  json["devices"] = Json::array();
  for (const DeviceCurve& curve : over_time.devices) {
    json["devices"].push_back({{"device", curve.name},
                               {"rank", RankJson(curve.rank)},
                               {"process", curve.process.value},
                               {"peak_allocated_bytes", curve.peak_bytes},
                               {"peak_time_ns", curve.peak_ns},
                               {"max_bytes", BucketsJson(curve)}});
  }
  return json;
}

}  // namespace memoir
