#include "tools/view/time/over_time_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"
#include "tools/view/time/operator_curve_view.h"

namespace memoir {
namespace {

constexpr std::string_view kGap = "·";
constexpr std::size_t kAxisWidth = 11;  // "1023.9 MiB" and a space

// Returns the height of `value` in eighths of a character, if `most` is `rows` characters high.
std::size_t Eighths(std::uint64_t value, std::uint64_t most, std::size_t rows) {
  if (value == 0 || most == 0) return 0;
  const double share = static_cast<double>(value) / static_cast<double>(most);
  const auto eighths = static_cast<std::size_t>(std::llround(share * static_cast<double>(rows * 8)));
  return std::clamp<std::size_t>(eighths, 1, rows * 8);
}

std::string Chart(const std::vector<std::string>& lines, std::uint64_t most) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string label = i == 0 ? FormatBytes(most) : i + 1 == lines.size() ? "0 B" : "";
    text += PaddedLeft(label, kAxisWidth - 1) + " " + lines[i] + "\n";
  }
  return text;
}

// The line below the chart, with the begin on the left and the end on the right.
std::string TimeAxis(const OverTimeCurves& over_time, std::size_t columns) {
  const std::string begin = FormatMoment(over_time.begin_ns);
  const std::string end = FormatMoment(over_time.end_ns);
  const std::size_t used = begin.size() + end.size();
  return std::string(kAxisWidth, ' ') + begin + std::string(columns > used ? columns - used : 1, ' ') + end + "\n";
}

// Explains the gaps (kGap) of the charts. Empty without gaps.
std::string WhyGaps(const OverTimeCurves& over_time) {
  const bool has_gap = std::ranges::any_of(over_time.devices, [](const DeviceCurve& curve) {
    return std::ranges::find(curve.known, false) != curve.known.end();
  });
  if (!has_gap) return "";
  if (!HasEvictedParts(over_time)) return "between the windows";
  const std::string why = "evicted by --max-size, only sums are left";
  return over_time.has_windows ? why + "; or between the windows" : why;
}

Json BucketsJson(const LevelCurve& level, const std::vector<bool>& known) {
  Json buckets = Json::array();
  for (std::size_t i = 0; i < level.max_bytes.size(); ++i)
    buckets.push_back(known[i] ? Json(level.max_bytes[i]) : Json());
  return buckets;
}

std::string PeakOf(const LevelCurve& level) {
  return fmt::format("peak {} at {}", FormatBytes(level.peak_bytes), FormatMoment(level.peak_ns));
}

// Draws the charts of a device with a caching allocator: all three curves in one chart, then each alone, with the
// markers below each chart.
std::string CachingText(const std::string& label, const OverTimeCurves& over_time, const DeviceCurve& curve,
                        std::size_t rows, const Terminal& terminal) {
  const auto titled = [&](const std::string& title) {
    return "\n" + Painted(terminal, Color::kBold, label + ": " + title) + "\n";
  };
  const std::string markers = MarkerLine(over_time, curve);
  std::string below = markers.empty() ? "" : std::string(kAxisWidth, ' ') + markers + "\n";
  below += TimeAxis(over_time, curve.allocated.max_bytes.size());
  std::string text = titled("allocated █, active ▒, reserved ░ over time");
  text += Chart(LayeredChart(curve, rows), curve.reserved.peak_bytes) + below;
  const std::pair<std::string_view, const LevelCurve*> alone[] = {
      {"allocated", &curve.allocated}, {"active", &curve.active}, {"reserved", &curve.reserved}};
  for (const auto& [name, level] : alone) {
    text += titled(fmt::format("{}, {}", name, PeakOf(*level)));
    text += Chart(BlockChart(*level, curve.known, (rows + 1) / 2), level->peak_bytes) + below;
  }
  if (markers.empty()) return text;
  return text + std::string(kAxisWidth, ' ') +
         Wrapped("F fw_start, B fw_bw_boundary, E backward end, O optimizer step, + several of them", terminal.width,
                 kAxisWidth) +
         "\n";
}

// Draws a small chart for each category, all on the device's scale. The category with the largest maximum comes first.
std::string CategoryCharts(const OverTimeCurves& over_time, const DeviceCurve& curve, const Terminal& terminal) {
  constexpr std::size_t kRows = 2;
  std::vector<std::pair<std::uint64_t, const CategoryCurve*>> order;
  for (const CategoryCurve& category : curve.categories)
    order.emplace_back(*std::ranges::max_element(category.bytes), &category);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [most, category] : order) {
    const LevelCurve level{curve.allocated.peak_bytes, 0, category->bytes};
    text += "\n" + Painted(terminal, Color::kBold, LabelOfCategory(category->category)) + ", at most " +
            FormatBytes(most) + " of a bucket's peak\n";
    for (const std::string& line : BlockChart(level, curve.known, kRows))
      text += std::string(kAxisWidth, ' ') + line + "\n";
  }
  return text.empty() ? "" : text + TimeAxis(over_time, curve.allocated.max_bytes.size());
}

}  // namespace

std::size_t ChartColumns(const Terminal& terminal) {
  constexpr std::size_t kFewest = 20;
  return terminal.width > kAxisWidth + kFewest ? terminal.width - kAxisWidth : kFewest;
}

std::vector<std::string> BlockChart(const LevelCurve& level, const std::vector<bool>& known, std::size_t rows) {
  constexpr std::array<std::string_view, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<std::string> lines(rows);
  for (std::size_t i = 0; i < level.max_bytes.size(); ++i) {
    const std::size_t eighths = known[i] ? Eighths(level.max_bytes[i], level.peak_bytes, rows) : 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t below = (rows - 1 - row) * 8;
      if (below == 0 && !known[i]) {
        lines[row] += kGap;
        continue;
      }
      lines[row] += kBlocks[eighths <= below ? 0 : std::min<std::size_t>(eighths - below, 8)];
    }
  }
  return lines;
}

std::vector<std::string> LayeredChart(const DeviceCurve& curve, std::size_t rows) {
  std::vector<std::string> lines(rows);
  // Returns the number of filled characters, including a partly filled one.
  const auto filled = [&](const LevelCurve& level, std::size_t i) {
    return (Eighths(level.max_bytes[i], curve.reserved.peak_bytes, rows) + 7) / 8;
  };
  for (std::size_t i = 0; i < curve.allocated.max_bytes.size(); ++i) {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t below = rows - 1 - row;
      if (!curve.known[i]) {
        lines[row] += below == 0 ? kGap : " ";
      } else if (filled(curve.allocated, i) > below) {
        lines[row] += "█";
      } else if (filled(curve.active, i) > below) {
        lines[row] += "▒";
      } else {
        lines[row] += filled(curve.reserved, i) > below ? "░" : " ";
      }
    }
  }
  return lines;
}

std::string MarkerLine(const OverTimeCurves& over_time, const DeviceCurve& curve) {
  constexpr std::array<std::pair<std::string_view, char>, 4> kLetters = {
      {{"fw_start", 'F'}, {"fw_bw_boundary", 'B'}, {"backward_end", 'E'}, {"optimizer_step", 'O'}}};
  const std::size_t buckets = curve.allocated.max_bytes.size();
  std::string line(buckets, ' ');
  const double span = static_cast<double>(over_time.end_ns - over_time.begin_ns);
  for (const Iteration& iteration : curve.iterations) {
    for (const auto& [name, moment] : MarkersOf(iteration)) {
      if (span == 0 || moment.ns < over_time.begin_ns) continue;
      const double place = static_cast<double>(moment.ns - over_time.begin_ns) / span * static_cast<double>(buckets);
      char& letter = line[std::min(buckets - 1, static_cast<std::size_t>(place))];
      const auto* const known = std::ranges::find(kLetters, name, [](const auto& pair) { return pair.first; });
      letter = letter == ' ' ? known->second : '+';
    }
  }
  return line.find_first_not_of(' ') == std::string::npos ? "" : line;
}

std::string RenderOverTime(const Capture& capture, const OverTimeCurves& over_time, const Terminal& terminal) {
  constexpr std::size_t kTallRows = 8;
  std::string text = RenderProgram(capture, terminal);
  const std::size_t rows = over_time.devices.size() <= 2 ? kTallRows : 2;
  for (const DeviceCurve& curve : over_time.devices) {
    const std::string label = DeviceLabel(capture, curve.name, curve.process);
    if (curve.caching) {
      text += CachingText(label, over_time, curve, rows, terminal) + CategoryCharts(over_time, curve, terminal);
      continue;
    }
    text += "\n" +
            Painted(terminal, Color::kBold,
                    Wrapped(fmt::format("{}: live bytes over time, {}", label, PeakOf(curve.allocated)), terminal.width,
                            2)) +
            "\n";
    text += Chart(BlockChart(curve.allocated, curve.known, rows), curve.allocated.peak_bytes);
    text += TimeAxis(over_time, curve.allocated.max_bytes.size()) + CategoryCharts(over_time, curve, terminal);
  }
  if (!over_time.missing.empty()) text += "\n" + Wrapped(over_time.missing, terminal.width, 0) + "\n";
  if (const std::string why = WhyGaps(over_time); !why.empty())
    text += std::string(kAxisWidth, ' ') + Wrapped(fmt::format("{}: {}", kGap, why), terminal.width, kAxisWidth) + "\n";
  if (over_time.omitted_ns > 0) {
    const std::string omitted =
        fmt::format("Left out: the first {}, before the first memory of a GPU; --from 0s draws them.",
                    FormatDuration(over_time.omitted_ns));
    text += std::string(kAxisWidth, ' ') + Wrapped(omitted, terminal.width, kAxisWidth) + "\n";
  }
  if (over_time.devices.empty()) text += "No allocation was recorded.\n";
  return text + "\n" + RenderLosses(capture, over_time.report, terminal);
}

Json OverTimeJson(const Capture& capture, const OverTimeCurves& over_time) {
  Json json = CaptureJson(capture, over_time.report, "over_time");
  json["window"] = {{"begin_ns", over_time.begin_ns}, {"end_ns", over_time.end_ns}};
  json["devices"] = Json::array();
  for (const DeviceCurve& curve : over_time.devices) {
    Json device = {{"device", curve.name},
                   {"rank", RankJson(curve.rank)},
                   {"process", curve.process.value},
                   {"peak_allocated_bytes", curve.allocated.peak_bytes},
                   {"peak_time_ns", curve.allocated.peak_ns},
                   {"max_bytes", BucketsJson(curve.allocated, curve.known)}};
    if (curve.caching) {
      device["peak_active_bytes"] = curve.active.peak_bytes;
      device["peak_reserved_bytes"] = curve.reserved.peak_bytes;
      device["max_active_bytes"] = BucketsJson(curve.active, curve.known);
      device["max_reserved_bytes"] = BucketsJson(curve.reserved, curve.known);
      device["iterations"] = MarkersJson(curve.iterations);
    }
    for (const CategoryCurve& category : curve.categories) {
      const Rule& rule = Rules()[category.category];
      const LevelCurve level{0, 0, category.bytes};
      device["categories"].push_back({{"name", LabelOfCategory(category.category)},
                                      {"category", NameOf(rule.kept)},
                                      {"detail", rule.detail},
                                      {"bytes", BucketsJson(level, curve.known)}});
    }
    json["devices"].push_back(std::move(device));
  }
  return json;
}

}  // namespace memoir
