#include "tools/view/time/over_time_picture.h"

#include <algorithm>
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
#include "tools/view/time/over_time_view.h"

namespace memoir {
namespace {

using Anchor = Canvas::Anchor;

constexpr Pigment kInk = {40, 40, 40}, kFaint = {228, 228, 228}, kNote = {120, 120, 120};
constexpr double kLeft = 150, kRight = kLeft + kPictureBuckets, kTop = 54, kHead = 76, kChart = 200, kPanel = 270;
constexpr int kWidth = 1200;
constexpr std::size_t kMostDevices = 3;

struct Kind {
  std::string_view name;
  Pigment pigment;
};
constexpr Kind kAllocated = {"allocated", {31, 119, 180}}, kActive = {"active", {255, 127, 14}},
               kReserved = {"reserved", {44, 160, 44}}, kLive = {"live", {31, 119, 180}};
// As MarkersOf names them. The boundary is red, as MemoryTracker draws it.
constexpr Kind kMarkers[] = {{"fw_start", {20, 20, 20}},
                             {"fw_bw_boundary", {214, 39, 40}},
                             {"backward_end", {148, 103, 189}},
                             {"optimizer_step", {140, 140, 140}}};

struct Shown {
  Kind kind;
  const Level* level;
};

// One chart: `top` is where it begins, its curves share an axis of bytes.
struct Frame {
  double top;
  double most;  // bytes
  std::uint64_t begin_ns, end_ns;
  double Y(double bytes) const { return top + kChart - bytes / most * kChart; }
  double X(std::uint64_t ns) const {
    const double span = std::max<double>(static_cast<double>(end_ns - begin_ns), 1);
    return kLeft + static_cast<double>(ns - begin_ns) / span * (kRight - kLeft);
  }
};

template <class Page>
void DrawAxes(Page& page, const Frame& frame) {
  const double step = AxisStep(frame.most, 2);
  for (double bytes = 0; bytes <= frame.most; bytes += step) {
    page.Line(kLeft, frame.Y(bytes), kRight, frame.Y(bytes), 1, kFaint);
    page.Text(kLeft - 10, frame.Y(bytes) - 6, FormatBytes(static_cast<std::uint64_t>(bytes)), 1.7, kInk,
              Anchor::kRight);
  }
  const double bottom = frame.top + kChart;
  page.Line(kLeft, frame.top, kLeft, bottom, 1.5, kInk);
  page.Line(kLeft, bottom, kRight, bottom, 1.5, kInk);
  page.Text(kLeft, bottom + 8, FormatMoment(frame.begin_ns), 1.5, kNote);
  page.Text(kRight, bottom + 8, FormatMoment(frame.end_ns), 1.5, kNote, Anchor::kRight);
}

template <class Page>
void DrawMarkers(Page& page, const Frame& frame, const std::vector<Iteration>& iterations) {
  for (const Iteration& iteration : iterations) {
    for (const auto& [name, moment] : MarkersOf(iteration)) {
      if (moment.ns < frame.begin_ns || moment.ns > frame.end_ns) continue;
      const auto* const kind = std::ranges::find(kMarkers, name, &Kind::name);
      page.Line(frame.X(moment.ns), frame.top, frame.X(moment.ns), frame.top + kChart, 1.2, kind->pigment);
    }
  }
}

// A step wherever the value changes; nothing between windows.
template <class Page>
void DrawCurve(Page& page, const Frame& frame, const Shown& shown, const std::vector<bool>& in_window) {
  std::vector<std::pair<double, double>> points;
  const std::vector<std::uint64_t>& most = shown.level->max_bytes;
  const double width = (kRight - kLeft) / static_cast<double>(std::max<std::size_t>(most.size(), 1));
  const auto draw = [&] {
    if (!points.empty()) page.Curve(points, 2, shown.kind.pigment);
    points.clear();
  };
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (!in_window[i]) {
      draw();
      continue;
    }
    const double y = frame.Y(static_cast<double>(most[i]));
    const double x = kLeft + width * static_cast<double>(i);
    if (points.empty() || points.back().second != y) points.emplace_back(x, y);
    points.emplace_back(x + width, y);
  }
  draw();
}

// Titles of the curves, with their peaks.
template <class Page>
void DrawTitles(Page& page, double top, const std::vector<Shown>& curves) {
  double x = kLeft;
  for (const Shown& shown : curves) {
    const std::string title = fmt::format("{}, at most {}", shown.kind.name, FormatBytes(shown.level->peak_bytes));
    page.Fill(x, top + 3, x + 16, top + 9, shown.kind.pigment);
    page.Text(x + 22, top, title, 1.8, kInk);
    x += 22 + Canvas::TextWidth(title, 1.8) + 24;
  }
}

// Beside the device's name.
template <class Page>
void DrawMarkerNames(Page& page, double x, double top, const std::vector<Iteration>& iterations) {
  for (const Kind& kind : kMarkers) {
    const bool there = std::ranges::any_of(iterations, [&](const Iteration& iteration) {
      return std::ranges::any_of(MarkersOf(iteration), [&](const auto& marker) { return marker.first == kind.name; });
    });
    if (!there) continue;
    page.Line(x + 4, top - 2, x + 4, top + 16, 2, kind.pigment);
    page.Text(x + 14, top, kind.name, 1.5, kNote);
    x += 14 + Canvas::TextWidth(kind.name, 1.5) + 24;
  }
}

template <class Page>
void DrawPanel(Page& page, double top, const OverTime& over_time, const DeviceCurve& device,
               const std::vector<Shown>& curves) {
  double most = 0;
  for (const Shown& shown : curves) most = std::max(most, static_cast<double>(shown.level->peak_bytes));
  const Frame frame = {top + 24, std::max(most, 1.0) * 1.06, over_time.begin_ns, over_time.end_ns};
  DrawTitles(page, top, curves);
  DrawAxes(page, frame);
  DrawMarkers(page, frame, device.iterations);
  // What is largest first, so that the others stay visible where they coincide.
  for (auto shown = curves.rbegin(); shown != curves.rend(); ++shown) DrawCurve(page, frame, *shown, device.in_window);
}

// One colour for each of Category; what is told apart in one category is a shade of it.
constexpr Pigment kCategoryPigments[kCategories] = {{31, 119, 180},  {148, 103, 189}, {44, 160, 44},
                                                    {188, 189, 34},  {255, 127, 14},  {214, 39, 40},
                                                    {227, 119, 194}, {127, 127, 127}, {23, 190, 207}};
Pigment PigmentOf(CategoryNumber category) {
  const Rule& rule = Rules()[category];
  Pigment pigment = kCategoryPigments[static_cast<std::size_t>(rule.kept)];
  if (rule.detail.empty()) return pigment;
  for (std::uint8_t* part : {&pigment.red, &pigment.green, &pigment.blue})
    *part = static_cast<std::uint8_t>((*part + 255) / 2);
  return pigment;
}

// What each category has of every bucket's peak, stacked. Equal neighbours are one rectangle.
template <class Page>
void DrawCategories(Page& page, double top, const OverTime& over_time, const DeviceCurve& device) {
  const Frame frame = {top + 24, std::max(static_cast<double>(device.allocated.peak_bytes), 1.0) * 1.06,
                       over_time.begin_ns, over_time.end_ns};
  double x = kLeft;
  for (const CategoryCurve& curve : device.categories) {
    const std::string name = LabelOfCategory(curve.category);
    page.Fill(x, top + 3, x + 12, top + 15, PigmentOf(curve.category));
    page.Text(x + 17, top, name, 1.5, kInk);
    x += 17 + Canvas::TextWidth(name, 1.5) + 14;
  }
  DrawAxes(page, frame);
  const std::size_t buckets = device.allocated.max_bytes.size();
  const double width = (kRight - kLeft) / static_cast<double>(std::max<std::size_t>(buckets, 1));
  std::vector<std::uint64_t> below(buckets);
  for (const CategoryCurve& curve : device.categories) {
    for (std::size_t begin = 0, end = 0; begin < buckets; begin = end) {
      const auto alike = [&](std::size_t i) {
        return curve.bytes[i] == curve.bytes[begin] && below[i] == below[begin];
      };
      for (end = begin + 1; end < buckets && alike(end);) ++end;
      if (curve.bytes[begin] == 0 || !device.in_window[begin]) continue;
      page.Fill(kLeft + width * static_cast<double>(begin),
                frame.Y(static_cast<double>(below[begin] + curve.bytes[begin])),
                kLeft + width * static_cast<double>(end), frame.Y(static_cast<double>(below[begin])),
                PigmentOf(curve.category));
    }
    for (std::size_t i = 0; i < buckets; ++i) below[i] += curve.bytes[i];
  }
  DrawMarkers(page, frame, device.iterations);
}

std::vector<std::vector<Shown>> PanelsOf(const DeviceCurve& device) {
  if (!device.caching) return {{{kLive, &device.allocated}}};
  const Shown allocated = {kAllocated, &device.allocated}, active = {kActive, &device.active},
              reserved = {kReserved, &device.reserved};
  return {{allocated, active, reserved}, {allocated}, {active}, {reserved}};
}

std::vector<const DeviceCurve*> DevicesOf(const OverTime& over_time) {
  std::vector<const DeviceCurve*> devices;
  const bool gpus = std::ranges::any_of(over_time.devices, &DeviceCurve::caching);
  for (const DeviceCurve& device : over_time.devices) {
    if (!gpus || device.caching) devices.push_back(&device);
  }
  return devices;
}

// What ran, in as many lines as there is room for.
template <class Page>
void DrawWhatRan(Page& page, const Capture& capture) {
  std::istringstream lines(RenderWhatRan(capture, Terminal{.width = 120}));
  double y = 12;
  for (std::string line; y < kTop - 14 && std::getline(lines, line); y += 18) page.Text(20, y, line, 1.5, kNote);
}

// A simulated figure says that it is.
std::string LabelOf(const Capture& capture, const DeviceCurve& device) {
  const bool simulated = !capture.processes()[device.process.value].info.simulated_device().empty();
  return DeviceLabel(capture, Escaped(device.name), device.process) +
         (device.caching && simulated ? " (SIMULATED)" : "");
}

template <class Page, class Finish>
std::string Draw(const Capture& capture, const OverTime& over_time, Finish finish) {
  std::vector<const DeviceCurve*> devices = DevicesOf(over_time);
  const std::size_t all = devices.size();
  if (all > kMostDevices) devices.resize(kMostDevices);
  double height = kTop + 24;
  for (const DeviceCurve* device : devices)
    height += kHead + kPanel * static_cast<double>(PanelsOf(*device).size() + (device->categories.empty() ? 0 : 1));
  Page page(kWidth, static_cast<int>(height));
  DrawWhatRan(page, capture);
  double top = kTop;
  for (const DeviceCurve* device : devices) {
    const std::string label = LabelOf(capture, *device);
    page.Text(kLeft, top + 10, label, 2.4, kInk);
    DrawMarkerNames(page, kLeft + Canvas::TextWidth(label, 2.4) + 60, top + 15, device->iterations);
    top += kHead - 24;
    if (!device->categories.empty()) {
      DrawCategories(page, top, over_time, *device);
      top += kPanel;
    }
    for (const std::vector<Shown>& curves : PanelsOf(*device)) {
      DrawPanel(page, top, over_time, *device, curves);
      top += kPanel;
    }
    top += 24;
  }
  if (all == 0) page.Text(kLeft, top, "No allocation was recorded.", 2, kInk);
  if (all > devices.size())
    page.Text(kLeft, height - 20, fmt::format("and {} more devices; one alone: --rank, --device", all - devices.size()),
              1.6, kNote);
  return finish(page);
}

}  // namespace

std::string OverTimePng(const Capture& capture, const OverTime& over_time) {
  return Draw<Canvas>(capture, over_time, [](const Canvas& page) { return page.Png(); });
}

std::string OverTimeSvg(const Capture& capture, const OverTime& over_time) {
  return Draw<SvgPage>(capture, over_time, [](const SvgPage& page) { return page.Svg(); });
}

}  // namespace memoir
