#include "tools/view/fit/fit_curve_png.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "fmt/format.h"
#include "tools/view/fit/fit_curve_text.h"
#include "tools/view/picture/axis_steps.h"
#include "tools/view/picture/canvas.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

using Anchor = Canvas::Anchor;

constexpr Pigment kInk = {40, 40, 40}, kFaint = {225, 225, 225}, kNote = {120, 120, 120};
constexpr Pigment kFits = {31, 119, 180}, kDoesNot = {214, 39, 40}, kCard = {44, 160, 44};
constexpr double kLeft = 130, kRight = 1160, kTop = 100, kBottom = 640;

struct PlotFrame {
  double first, last;  // values
  double most;         // bytes

  double X(std::uint64_t value) const {
    const double whole = std::max(last - first, 1.0);
    return kLeft + (static_cast<double>(value) - first) / whole * (kRight - kLeft);
  }
  double Y(double bytes) const { return kBottom - bytes / most * (kBottom - kTop); }
};

PlotFrame FrameOf(const FitCurve& curve) {
  PlotFrame frame = {0, 1, static_cast<double>(curve.memory)};
  if (!curve.points.empty()) {
    frame.first = static_cast<double>(curve.points.front().value);
    frame.last = static_cast<double>(curve.points.back().value);
  }
  // The axis of bytes ends at the largest known need or at the card's memory. The axis of values ends at the last value
  // with a known need, because values without a known need would only take space.
  double last_known = frame.first;
  for (const FitPoint& point : curve.points) {
    if (!point.need) continue;
    frame.most = std::max(frame.most, static_cast<double>(point.need->high));
    last_known = static_cast<double>(point.value);
  }
  if (last_known > frame.first) frame.last = last_known;
  frame.most *= 1.08;
  return frame;
}

void DrawAxes(Canvas& canvas, const PlotFrame& frame, const FitCurve& curve) {
  const double bytes_step = AxisStep(frame.most, 2);
  for (double bytes = 0; bytes <= frame.most; bytes += bytes_step) {
    const double y = frame.Y(bytes);
    canvas.Line(kLeft, y, kRight, y, 1, kFaint);
    canvas.Text(kLeft - 12, y - 7, FormatBytes(static_cast<std::uint64_t>(bytes)), 2, kInk, Anchor::kRight);
  }
  const double step = AxisStep(frame.last - frame.first, 10);
  for (double value = std::ceil(frame.first / step) * step; value <= frame.last; value += step) {
    const double x = frame.X(static_cast<std::uint64_t>(value));
    canvas.Line(x, kBottom, x, kBottom + 6, 1, kInk);
    canvas.Text(x, kBottom + 12, FormatCount(static_cast<std::uint64_t>(value)), 2, kInk, Anchor::kMiddle);
  }
  canvas.Line(kLeft, kTop, kLeft, kBottom, 2, kInk);
  canvas.Line(kLeft, kBottom, kRight, kBottom, 2, kInk);
  canvas.Text((kLeft + kRight) / 2, kBottom + 40, curve.variable, 2, kInk, Anchor::kMiddle);
}

void DrawCard(Canvas& canvas, const PlotFrame& frame, const FitCurve& curve) {
  const double y = frame.Y(static_cast<double>(curve.memory));
  for (double x = kLeft; x < kRight; x += 16) canvas.Line(x, y, std::min(x + 8, kRight), y, 2, kCard);
  canvas.Text(kLeft + 12, y - 20, curve.key + ": " + FormatBytes(curve.memory), 2, kCard);
}

void DrawPoints(Canvas& canvas, const PlotFrame& frame, const FitCurve& curve) {
  const FitPoint* before = nullptr;
  for (const FitPoint& point : curve.points) {
    if (!point.need) continue;
    for (const auto bound : {&FitInterval::low, &FitInterval::high}) {
      if (before == nullptr) break;
      canvas.Line(frame.X(before->value), frame.Y(static_cast<double>((*before->need).*bound)), frame.X(point.value),
                  frame.Y(static_cast<double>((*point.need).*bound)), 2.5, kFits);
    }
    before = &point;
  }
  for (const FitPoint& point : curve.points) {
    if (!point.need) continue;
    const Pigment pigment = point.verdict == FitVerdict::kFits ? kFits : kDoesNot;
    canvas.Disc(frame.X(point.value), frame.Y(static_cast<double>(point.need->high)), 5, pigment);
  }
}

}  // namespace

std::string FitCurvePng(const FitCurve& curve, const std::string& what) {
  Canvas canvas(1200, 750);
  const PlotFrame frame = FrameOf(curve);
  canvas.Text(kLeft, 20, fmt::format("{} on a SIMULATED {}", what, curve.name), 3, kInk);
  canvas.Text(kLeft, 56, CurveAnswer(curve), 2, kInk);
  DrawAxes(canvas, frame, curve);
  DrawCard(canvas, frame, curve);
  DrawPoints(canvas, frame, curve);
  canvas.Text(
      kLeft, 722,
      "Peak of the device's memory, SIMULATED: no GPU was measured. Red: does not fit (a run without the limit)", 1.5,
      kNote);
  return canvas.Png(fmt::format("{} on a SIMULATED {}: {}", Escaped(what), curve.name, CurveAnswer(curve)));
}

}  // namespace memoir
