#include "tools/view/time/over_time_picture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/picture/axis_steps.h"
#include "tools/view/picture/canvas.h"
#include "tools/view/picture/svg_page.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"
#include "tools/view/time/over_time_bands.h"
#include "tools/view/time/over_time_view.h"
#include "tools/view/time/time_scale.h"

namespace memoir {
namespace {

using Anchor = Canvas::Anchor;

constexpr int kWidth = 1200;
constexpr double kLeft = 110, kRight = 1180, kTop = 58, kChart = 300;
constexpr double kTitle = 34, kLegendLine = 22, kTicks = 24, kBelow = 24;
constexpr std::size_t kMostDevices = 3;

struct LegendEntry {
  std::string name;
  Pigment pigment;
  bool is_line = false;
};

// A row of a picture: one device.
struct Panel {
  const DeviceCurve* device;
  std::string label;
  std::vector<LegendEntry> legend;
  std::size_t legend_lines = 1;
  double Height() const {
    return kTitle + static_cast<double>(legend_lines) * kLegendLine + kChart + BandsHeight(*device) + kTicks + kBelow;
  }
};

// The position and the scales of a panel's chart.
struct Frame {
  double top;
  double most;  // bytes
  const TimeScale& scale;
  double bottom() const { return top + kChart; }
  double Y(double bytes) const { return bottom() - bytes / most * kChart; }
};

// One colour for each Category, as on the page of `memoir report`; parts of one category are shades of it.
constexpr Pigment kCategoryPigments[kCategories] = {{17, 97, 140},   {148, 106, 197}, {35, 168, 100},
                                                    {198, 200, 43},  {220, 114, 10},  {206, 42, 41},
                                                    {232, 149, 169}, {127, 127, 127}, {10, 197, 221}};
Pigment PigmentOf(CategoryNumber category) {
  const Rule& rule = Rules()[category];
  Pigment pigment = kCategoryPigments[static_cast<std::size_t>(rule.kept)];
  if (rule.detail.empty()) return pigment;
  for (std::uint8_t* part : {&pigment.red, &pigment.green, &pigment.blue})
    *part = static_cast<std::uint8_t>((*part + 255) / 2);
  return pigment;
}

// "224 MiB", "1.5 GiB"
std::string AxisText(double bytes) {
  std::string text = FormatBytes(static_cast<std::uint64_t>(bytes));
  const std::size_t point = text.find('.'), unit = text.find(' ');
  if (point == std::string::npos) return text;
  std::size_t end = text.find_last_not_of('0', unit - 1);
  if (end == point) --end;
  return text.erase(end + 1, unit - end - 1);
}

template <class Page>
void DrawAxes(Page& page, const Frame& frame, const Theme& theme, double ticks_at) {
  for (const TimeScale::Gap& gap : frame.scale.Gaps()) {
    page.Fill(gap.left, frame.top, gap.right, frame.bottom(), theme.quiet);
    page.Text((gap.left + gap.right) / 2, frame.top + 5, FormatDuration(gap.ns), 1.3, theme.soft, Anchor::kMiddle);
  }
  const double step = AxisStep(frame.most, 2);
  for (double bytes = 0; bytes <= frame.most; bytes += step) {
    page.Line(kLeft, frame.Y(bytes), kRight, frame.Y(bytes), 1, theme.grid);
    page.Text(kLeft - 10, frame.Y(bytes) - 5, AxisText(bytes), 1.5, theme.soft, Anchor::kRight);
  }
  for (const TimeScale::AxisTick& tick : frame.scale.Ticks()) {
    page.Line(tick.x, ticks_at - 4, tick.x, ticks_at, 1, theme.soft);
    page.Text(tick.x, ticks_at + 3, tick.text, 1.4, theme.soft, Anchor::kMiddle);
  }
}

// Returns the maximum of the buckets of one pixel column.
std::uint64_t MostOf(const std::vector<std::uint64_t>& bytes, std::pair<std::size_t, std::size_t> buckets) {
  return *std::max_element(bytes.begin() + static_cast<std::ptrdiff_t>(buckets.first),
                           bytes.begin() + static_cast<std::ptrdiff_t>(buckets.second));
}

// Draws a step at each change of the value.
template <class Page>
void DrawCurve(Page& page, const Frame& frame, const DeviceCurve& device, const LevelCurve& level, Pigment pigment) {
  std::vector<std::pair<double, double>> points;
  const auto draw = [&] {
    if (!points.empty()) page.Curve(points, 1.8, pigment);
    points.clear();
  };
  for (double x = kLeft; x < kRight; ++x) {
    const auto buckets = frame.scale.BucketsAt(x);
    if (!IsKnown(device, buckets)) {
      draw();
      continue;
    }
    const double y = frame.Y(static_cast<double>(MostOf(level.max_bytes, buckets)));
    if (points.empty() || points.back().second != y) points.emplace_back(x, y);
    if (points.size() >= 2 && points[points.size() - 2].second == y) points.pop_back();
    points.emplace_back(x + 1, y);
  }
  draw();
}

// Draws the categories at the maximum of each column, stacked. Equal neighbours are merged into one rectangle.
template <class Page>
void DrawCategories(Page& page, const Frame& frame, const DeviceCurve& device) {
  std::vector<std::size_t> places;  // the bucket that each column shows
  for (double x = kLeft; x < kRight; ++x) {
    const auto [first, last] = frame.scale.BucketsAt(x);
    const auto begin = device.allocated.max_bytes.begin();
    places.push_back(static_cast<std::size_t>(
        std::max_element(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)) -
        begin));
  }
  std::vector<std::uint64_t> below(places.size());
  for (const CategoryCurve& curve : device.categories) {
    for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
      const std::uint64_t bytes = curve.bytes[places[begin]];
      const bool known = device.known[places[begin]];
      for (end = begin + 1; end < places.size() && curve.bytes[places[end]] == bytes && below[end] == below[begin] &&
                            device.known[places[end]] == known;)
        ++end;
      if (bytes == 0 || !known) continue;
      page.Fill(kLeft + static_cast<double>(begin), frame.Y(static_cast<double>(below[begin] + bytes)),
                kLeft + static_cast<double>(end), frame.Y(static_cast<double>(below[begin])),
                PigmentOf(curve.category));
    }
    for (std::size_t i = 0; i < places.size(); ++i) below[i] += curve.bytes[places[i]];
  }
}

double EntryWidth(const LegendEntry& entry) { return 18 + Canvas::TextWidth(entry.name, 1.5) + 16; }

// Draws the legend in as many lines as needed, and returns their number. Draws nothing if `page` is nullptr.
template <class Page>
std::size_t DrawLegend(Page* page, double top, const std::vector<LegendEntry>& legend, const Theme& theme) {
  double x = kLeft;
  std::size_t lines = 1;
  for (const LegendEntry& entry : legend) {
    if (x > kLeft && x + EntryWidth(entry) > kRight) {
      x = kLeft;
      ++lines;
    }
    const double y = top + static_cast<double>(lines - 1) * kLegendLine;
    if (page != nullptr) {
      page->Fill(x, entry.is_line ? y + 4 : y, x + 12, entry.is_line ? y + 7 : y + 11, entry.pigment);
      page->Text(x + 18, y, entry.name, 1.5, theme.ink);
    }
    x += EntryWidth(entry);
  }
  return lines;
}

std::vector<LegendEntry> LegendOf(const DeviceCurve& device, const Theme& theme) {
  std::vector<LegendEntry> legend;
  const auto line = [&](std::string_view name, const LevelCurve& level, Pigment pigment) {
    legend.push_back({fmt::format("{}, at most {}", name, FormatBytes(level.peak_bytes)), pigment, true});
  };
  for (const CategoryCurve& curve : device.categories)
    legend.push_back({LabelOfCategory(curve.category), PigmentOf(curve.category)});
  if (!device.caching) {
    if (device.categories.empty()) line("live", device.allocated, theme.allocated);
    return legend;
  }
  if (device.categories.empty()) line("allocated", device.allocated, theme.allocated);
  line("active", device.active, theme.active);
  line("reserved", device.reserved, theme.reserved);
  if (device.iterations.empty()) return legend;
  legend.push_back({"forward", theme.forward});
  legend.push_back({"backward", theme.backward});
  legend.push_back({"optimizer", theme.optimizer});
  return legend;
}

template <class Page>
void DrawPanel(Page& page, double top, const Panel& panel, const TimeScale& scale, const Theme& theme) {
  const DeviceCurve& device = *panel.device;
  page.Text(kLeft, top, panel.label, 2.1, theme.ink);
  const std::string peak =
      fmt::format("peak {} at {}", FormatBytes(device.allocated.peak_bytes), FormatMoment(device.allocated.peak_ns));
  page.Text(kRight, top + 3, peak, 1.6, theme.soft, Anchor::kRight);
  DrawLegend(&page, top + kTitle, panel.legend, theme);
  double most = static_cast<double>(device.allocated.peak_bytes);
  if (device.caching) most = std::max(most, static_cast<double>(device.reserved.peak_bytes));
  const Frame frame = {top + kTitle + static_cast<double>(panel.legend_lines) * kLegendLine, std::max(most, 1.0) * 1.06,
                       scale};
  const double bands = BandsHeight(device);
  DrawAxes(page, frame, theme, frame.bottom() + (bands > 0 ? bands : 4));
  DrawCategories(page, frame, device);
  // Draws the largest curve first, so that the others stay visible if they coincide.
  if (device.caching) DrawCurve(page, frame, device, device.reserved, theme.reserved);
  if (device.caching) DrawCurve(page, frame, device, device.active, theme.active);
  if (device.categories.empty()) DrawCurve(page, frame, device, device.allocated, theme.allocated);
  page.Line(kLeft, frame.bottom(), kRight, frame.bottom(), 1.2, theme.soft);
  DrawBands(page, {kLeft, kRight, frame.bottom() + 8, scale}, theme, device);
}

// Returns the scale for all devices. It begins at the first bucket with live bytes on any device, and shortens spans in
// which no device changes.
TimeScale ScaleOf(const OverTimeCurves& over_time, const std::vector<const DeviceCurve*>& devices) {
  std::vector<bool> changes;
  std::size_t first = ~std::size_t{0};
  for (const DeviceCurve* device : devices) {
    changes.resize(device->changes.size());
    const std::vector<std::uint64_t>& live = device->allocated.max_bytes;
    const auto begin = std::ranges::find_if(live, [](std::uint64_t bytes) { return bytes > 0; });
    first = std::min(first, static_cast<std::size_t>(begin - live.begin()));
    for (std::size_t i = 0; i < changes.size(); ++i) changes[i] = changes[i] || device->changes[i];
  }
  return {over_time.begin_ns, over_time.end_ns, changes, first, kLeft, kRight};
}

std::vector<const DeviceCurve*> DevicesOf(const OverTimeCurves& over_time) {
  std::vector<const DeviceCurve*> devices;
  const bool gpus = std::ranges::any_of(over_time.devices, &DeviceCurve::caching);
  for (const DeviceCurve& device : over_time.devices) {
    if (!gpus || device.caching) devices.push_back(&device);
  }
  return devices;
}

// Returns the index of the device's rank in `odd_ranks`, or their number.
std::size_t OddPlace(const DeviceCurve& device, const std::vector<std::uint32_t>& odd_ranks) {
  const auto place = std::ranges::find_if(
      odd_ranks, [&](std::uint32_t rank) { return device.rank.has_value() && *device.rank == rank; });
  return static_cast<std::size_t>(place - odd_ranks.begin());
}

// Keeps kMostDevices devices: devices of odd ranks first, then the devices with the highest peaks.
void ChooseDevices(const std::vector<std::uint32_t>& odd_ranks, std::vector<const DeviceCurve*>* devices) {
  std::ranges::stable_sort(*devices, [&](const DeviceCurve* a, const DeviceCurve* b) {
    const std::size_t place = OddPlace(*a, odd_ranks), other = OddPlace(*b, odd_ranks);
    return place != other ? place < other : a->allocated.peak_bytes > b->allocated.peak_bytes;
  });
  devices->resize(kMostDevices);
}

// Describes the program in as many lines as fit.
template <class Page>
void DrawProgram(Page& page, const Capture& capture, const Theme& theme) {
  std::istringstream lines(RenderProgram(capture, Terminal{.width = 120}));
  double y = 14;
  for (std::string line; y < kTop - 14 && std::getline(lines, line); y += 18)
    page.Text(kLeft, y, line, 1.4, theme.soft);
}

// Returns the label of a device, marked if its figures are simulated.
std::string LabelOf(const Capture& capture, const DeviceCurve& device) {
  const bool simulated = !capture.processes()[device.process.value].info.simulated_device().empty();
  return DeviceLabel(capture, Escaped(device.name), device.process) +
         (device.caching && simulated ? " (SIMULATED)" : "");
}

template <class Page, class Finish>
std::string Draw(const Capture& capture, const OverTimeCurves& over_time, const Theme& theme,
                 const std::vector<std::uint32_t>& odd_ranks, Finish finish) {
  std::vector<const DeviceCurve*> devices = DevicesOf(over_time);
  const std::size_t all = devices.size();
  if (all > kMostDevices) ChooseDevices(odd_ranks, &devices);
  const TimeScale scale = ScaleOf(over_time, devices);
  const bool is_cut = !scale.Gaps().empty();
  std::vector<Panel> panels;
  double height = kTop + (all == 0 || all > devices.size() || is_cut ? 24 : 0);
  for (const DeviceCurve* device : devices) {
    std::string label = LabelOf(capture, *device);
    if (OddPlace(*device, odd_ranks) < odd_ranks.size()) label += ", an odd rank";
    Panel& panel = panels.emplace_back(Panel{device, std::move(label), LegendOf(*device, theme)});
    panel.legend_lines = DrawLegend<Page>(nullptr, 0, panel.legend, theme);
    height += panel.Height();
  }
  Page page(kWidth, static_cast<int>(height), theme.paper);
  DrawProgram(page, capture, theme);
  double top = kTop;
  for (const Panel& panel : panels) {
    DrawPanel(page, top, panel, scale, theme);
    top += panel.Height();
  }
  if (all == 0) page.Text(kLeft, top, "No allocation was recorded.", 2, theme.ink);
  std::string note = !is_cut ? ""
                     : HasEvictedParts(over_time)
                         ? "Grey: time in which nothing was allocated or freed, or that --max-size evicted, cut short."
                         : "Grey: time in which nothing was allocated or freed, cut short.";
  if (all > devices.size())
    note += fmt::format("{}and {}; one alone: --rank, --device", is_cut ? "  " : "",
                        FormatCounted(all - devices.size(), "more device", "more devices"));
  page.Text(kLeft, height - 22, note, 1.4, theme.soft);
  return finish(page);
}

}  // namespace

bool FitsInPicture(const OverTimeCurves& over_time) { return DevicesOf(over_time).size() <= kMostDevices; }

std::string OverTimePng(const Capture& capture, const OverTimeCurves& over_time, const Theme& theme,
                        const std::vector<std::uint32_t>& odd_ranks) {
  return Draw<Canvas>(capture, over_time, theme, odd_ranks, [](const Canvas& page) { return page.Png(); });
}

std::string OverTimeSvg(const Capture& capture, const OverTimeCurves& over_time, const Theme& theme,
                        const std::vector<std::uint32_t>& odd_ranks) {
  return Draw<SvgPage>(capture, over_time, theme, odd_ranks, [](const SvgPage& page) { return page.Svg(); });
}

}  // namespace memoir
