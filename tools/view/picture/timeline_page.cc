#include "tools/view/picture/timeline_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "fmt/format.h"
#include "tools/view/picture/axis_steps.h"
#include "tools/view/picture/canvas.h"

namespace memoir {
namespace {

using Anchor = Canvas::Anchor;
using Bytes = std::array<double, kTorchCategories>;

// matplotlib's figure of 20 by 12 inches at 80 dots per inch, and the position of its axes.
constexpr int kWidth = 1600, kHeight = 960;
constexpr int kLeft = 200, kRight = 1440, kTop = 115, kBottom = 854;
constexpr double kGigabyte = 1024.0 * 1024 * 1024, kHeadroom = 1.05;
constexpr Pigment kInk = {0, 0, 0}, kFrame = {204, 204, 204};

// torch's colours with alpha 0.7 on white: darkgreen, goldenrod, black, mediumpurple, red, mediumblue, royalblue, grey.
constexpr Pigment Faded(int red, int green, int blue) {
  const auto fade = [](int part) { return static_cast<std::uint8_t>((part * 7 + 255 * 3) / 10); };
  return {fade(red), fade(green), fade(blue)};
}
constexpr std::array<Pigment, kTorchCategories> kPigments = {
    Faded(0, 100, 0), Faded(218, 165, 32), Faded(0, 0, 0),      Faded(147, 112, 219),
    Faded(255, 0, 0), Faded(0, 0, 205),    Faded(65, 105, 225), Faded(128, 128, 128)};

double Sum(const Bytes& bytes) { return std::accumulate(bytes.begin(), bytes.end(), 0.0); }

Bytes ToDouble(const TimelineState& state) {
  Bytes bytes{};
  std::copy(state.bytes.begin(), state.bytes.end(), bytes.begin());
  return bytes;
}

struct Chart {
  std::vector<TimelineState> states;
  double span_us = 1;
  double most = 0;  // bytes at the top of the axis

  double Us(std::size_t state) const { return static_cast<double>(states[state].us - states.front().us); }
  double X(double us) const { return kLeft + us / span_us * (kRight - kLeft); }
  double Y(double bytes) const { return kBottom - bytes / most * (kBottom - kTop); }
};

Chart ChartOf(const CategoryProfile& profile, DeviceId device) {
  Chart chart;
  std::vector<TimelineRow> rows;
  for (const TimelineRow& row : profile.rows) {
    if (row.device == device) rows.push_back(row);
  }
  chart.states = StatesOf(rows);
  for (const TimelineState& state : chart.states) chart.most = std::max(chart.most, Sum(ToDouble(state)) * kHeadroom);
  chart.most = std::max(chart.most, 1.0);
  if (!chart.states.empty()) chart.span_us = std::max(chart.Us(chart.states.size() - 1), 1.0);
  return chart;
}

// Finds the state that each column of pixels shows. torch draws straight lines between states. If several states fall
// into one column, the column shows the state with the most bytes, so that no peak is lost.
class Columns {
 public:
  explicit Columns(const Chart& chart) : chart_(chart) {}

  Bytes Next(double begin_us, double end_us) {
    Bytes fullest = At(begin_us);
    const auto take = [&](const Bytes& bytes) {
      if (Sum(bytes) > Sum(fullest)) fullest = bytes;
    };
    for (; next_ < chart_.states.size() && chart_.Us(next_) < end_us; ++next_) take(ToDouble(chart_.states[next_]));
    take(At(end_us));
    return fullest;
  }

 private:
  // Interpolates between the states around `next_`.
  Bytes At(double us) const {
    if (next_ == 0) return ToDouble(chart_.states.front());
    if (next_ == chart_.states.size()) return ToDouble(chart_.states.back());
    const Bytes before = ToDouble(chart_.states[next_ - 1]), after = ToDouble(chart_.states[next_]);
    const double length = chart_.Us(next_) - chart_.Us(next_ - 1);
    const double share = length <= 0 ? 1 : std::clamp((us - chart_.Us(next_ - 1)) / length, 0.0, 1.0);
    Bytes between{};
    for (std::size_t i = 0; i < kTorchCategories; ++i) between[i] = before[i] + (after[i] - before[i]) * share;
    return between;
  }

  const Chart& chart_;
  std::size_t next_ = 0;  // the first state that no earlier column has shown
};

void DrawStack(Canvas& canvas, const Chart& chart) {
  Columns columns(chart);
  const double us_per_column = chart.span_us / (kRight - kLeft);
  for (int x = kLeft; x < kRight; ++x) {
    const double begin = (x - kLeft) * us_per_column;
    const Bytes bytes = columns.Next(begin, begin + us_per_column);
    double below = 0;
    for (std::size_t i = 0; i < kTorchCategories; ++i) {
      if (bytes[i] > 0) canvas.Fill(x, chart.Y(below + bytes[i]), x + 1, chart.Y(below), kPigments[i]);
      below += bytes[i];
    }
  }
}

// Returns AxisStep() to the base 10, extended to values of `whole` below 4.
double StepOf(double whole) {
  double scale = 1;
  while (whole * scale < 4) scale *= 10;
  return AxisStep(whole * scale, 10) / scale;
}

void DrawAxes(Canvas& canvas, const Chart& chart) {
  const double most_gigabytes = chart.most / kGigabyte, span_ms = chart.span_us / 1e3;
  const double rise = StepOf(most_gigabytes), step = StepOf(span_ms);
  for (int i = 0; i * rise <= most_gigabytes; ++i) {
    const double y = chart.Y(i * rise * kGigabyte);
    canvas.Line(kLeft - 5, y, kLeft, y, 1, kInk);
    canvas.Text(kLeft - 10, y - 7, fmt::format("{:.7g}", i * rise), 1.8, kInk, Anchor::kRight);
  }
  for (int i = 0; i * step <= span_ms; ++i) {
    const double x = chart.X(i * step * 1e3);
    canvas.Line(x, kBottom, x, kBottom + 5, 1, kInk);
    canvas.Text(x, kBottom + 10, fmt::format("{:.7g}", i * step), 1.8, kInk, Anchor::kMiddle);
  }
  for (const int x : {kLeft, kRight}) canvas.Line(x, kTop, x, kBottom, 1, kInk);
  for (const int y : {kTop, kBottom}) canvas.Line(kLeft, y, kRight, y, 1, kInk);
  canvas.Text((kLeft + kRight) / 2.0, kBottom + 34, "Time (ms)", 1.8, kInk, Anchor::kMiddle);
  canvas.Text(kLeft, kTop - 22, "Memory (GB)", 1.8, kInk, Anchor::kMiddle);
}

void DrawLegend(Canvas& canvas) {
  constexpr double kX = 1424, kY = 14, kLine = 22;
  canvas.Fill(kX - 6, kY - 6, kWidth - 6, kY + kLine * kTorchCategories + 2, kFrame);
  canvas.Fill(kX - 5, kY - 5, kWidth - 7, kY + kLine * kTorchCategories + 1, {255, 255, 255});
  for (std::size_t i = 0; i < kTorchCategories; ++i) {
    const double y = kY + kLine * static_cast<double>(i);
    const auto category = static_cast<Category>(i);
    canvas.Fill(kX, y, kX + 28, y + 13, kPigments[i]);
    canvas.Text(kX + 34, y + 1, category == Category::kUnknown ? "Unknown" : NameOf(category), 1.35, kInk);
  }
}

// Writes the values of torch.cuda.max_memory_allocated and _reserved for the process. torch has no such values for the
// CPU, so its title contains the drawn peak.
void DrawTitle(Canvas& canvas, const CategoryProfile& profile, const Chart& chart, DeviceId device) {
  const bool caching = device.value < profile.tree.peaks.size() && profile.tree.peaks[device.value].reserved > 0;
  const double drawn = chart.most / kHeadroom;
  const double allocated = caching ? static_cast<double>(profile.tree.peaks[device.value].allocated) : drawn;
  const auto write = [&](double y, std::string_view what, double bytes) {
    const std::string line = fmt::format("Max memory {}: {:.2f} GiB", what, bytes / kGigabyte);
    canvas.Text((kLeft + kRight) / 2.0, y, line, 2.2, kInk, Anchor::kMiddle);
  };
  write(kTop - 56, "allocated", allocated);
  if (caching) write(kTop - 28, "reserved", static_cast<double>(profile.tree.peaks[device.value].reserved));
}

}  // namespace

std::string TimelinePng(const CategoryProfile& profile, DeviceId device) {
  const Chart chart = ChartOf(profile, device);
  Canvas canvas(kWidth, kHeight);
  if (!chart.states.empty()) DrawStack(canvas, chart);
  DrawAxes(canvas, chart);
  DrawLegend(canvas);
  DrawTitle(canvas, profile, chart, device);
  return canvas.Png();
}

std::string TimelineHtml(const CategoryProfile& profile, DeviceId device) {
  return fmt::format(R"(<html>
<head><meta charset="utf-8" /><title>GPU Memory Timeline HTML</title></head>
<body>
  <img src='data:image/png;base64,{}'>
</body>
</html>)",
                     absl::Base64Escape(TimelinePng(profile, device)));
}

}  // namespace memoir
