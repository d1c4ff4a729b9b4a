#include "tools/view/time/over_time_bands.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/view/picture/canvas.h"
#include "tools/view/picture/svg_page.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

using Anchor = Canvas::Anchor;

constexpr double kRow = 14, kBand = 12, kLeastWidth = 3;

bool HasIterationRow(const DeviceCurve& device) { return device.iterations.size() > device.steps.count; }

template <class Page>
class BandRows {
 public:
  BandRows(Page& page, const BandsFrame& frame, const Theme& theme)
      : page_(page), frame_(frame), theme_(theme), top_(frame.top), end_(frame.scale.X(frame.scale.end_ns())) {}

  double top() const { return top_; }

  // Step 0 lasts until step 1 begins.
  void DrawSteps(const StepBegins& steps) {
    if (steps.ns.empty() || !Begin("steps", steps.count, "step")) return;
    if (steps.first == 1) DrawBand(0, frame_.left, X(steps.ns.front()), "0");
    for (std::size_t i = 0; i < steps.ns.size(); ++i) {
      const std::uint64_t number = steps.first + i;
      DrawBand(number, X(steps.ns[i]), i + 1 < steps.ns.size() ? X(steps.ns[i + 1]) : end_, std::to_string(number));
    }
  }

  void DrawIterations(const std::vector<Iteration>& iterations) {
    if (!Begin("iterations", iterations.size(), "iteration")) return;
    for (std::size_t i = 0; i < iterations.size(); ++i) DrawBand(i, BeginOf(iterations, i), EndOf(iterations, i), "");
  }

  void DrawPhases(const std::vector<Iteration>& iterations) {
    if (!Begin("phases", iterations.size(), "")) return;
    for (std::size_t i = 0; i < iterations.size(); ++i) {
      const Iteration& iteration = iterations[i];
      const double begin = BeginOf(iterations, i), end = EndOf(iterations, i);
      const double forward_end = X(iteration.fw_bw_boundary, begin);
      const double backward_end = X(iteration.backward_end, forward_end);
      DrawPhase(begin, forward_end, theme_.forward);
      DrawPhase(forward_end, backward_end, theme_.backward);
      DrawPhase(X(iteration.optimizer_step, end), end, theme_.optimizer);
    }
  }

 private:
  // Begins the next row with its title. Returns false if its `count` bands are too narrow: then it has only their
  // number, if `noun` is not empty.
  bool Begin(std::string_view title, std::uint64_t count, std::string_view noun) {
    row_ = std::exchange(top_, top_ + kRow);
    page_.Text(frame_.left - 10, row_ + 1, title, 1.3, theme_.soft, Anchor::kRight);
    if (static_cast<double>(count) * kLeastWidth <= frame_.right - frame_.left) return true;
    if (!noun.empty())
      page_.Text(frame_.left + 6, row_ + 1, FormatCounted(count, noun, std::string(noun) + "s"), 1.3, theme_.soft);
    return false;
  }

  void DrawBand(std::uint64_t number, double begin, double end, const std::string& text) {
    if (end <= begin) return;
    page_.Fill(begin, row_, end, row_ + kBand, number % 2 == 0 ? theme_.step_even : theme_.step_odd);
    if (Canvas::TextWidth(text, 1.1) + 6 < end - begin) page_.Text(begin + 3, row_ + 2, text, 1.1, theme_.soft);
  }

  void DrawPhase(double begin, double end, Pigment pigment) { page_.Fill(begin, row_, end, row_ + kBand - 2, pigment); }

  double X(std::uint64_t ns) const { return ns < frame_.scale.begin_ns() ? frame_.left : frame_.scale.X(ns); }
  double X(const std::optional<IterationInstant>& instant, double otherwise) const {
    return instant && instant->ns >= frame_.scale.begin_ns() ? frame_.scale.X(instant->ns) : otherwise;
  }
  double BeginOf(const std::vector<Iteration>& iterations, std::size_t i) const {
    return X(iterations[i].fw_start, frame_.left);
  }
  double EndOf(const std::vector<Iteration>& iterations, std::size_t i) const {
    return i + 1 < iterations.size() ? X(iterations[i + 1].fw_start, end_) : end_;
  }

  Page& page_;
  const BandsFrame& frame_;
  const Theme& theme_;
  double top_, row_ = 0;  // of the next row, and of the current row
  const double end_;
};

}  // namespace

bool IsKnown(const DeviceCurve& device, std::pair<std::size_t, std::size_t> buckets) {
  for (std::size_t i = buckets.first; i < buckets.second; ++i) {
    if (device.known[i]) return true;
  }
  return false;
}

double BandsHeight(const DeviceCurve& device) {
  const int rows =
      (device.steps.ns.empty() ? 0 : 1) + (HasIterationRow(device) ? 1 : 0) + (device.iterations.empty() ? 0 : 1);
  return rows == 0 ? 0 : 8 + rows * kRow;
}

template <class Page>
void DrawBands(Page& page, const BandsFrame& frame, const Theme& theme, const DeviceCurve& device) {
  if (BandsHeight(device) == 0) return;
  BandRows<Page> rows(page, frame, theme);
  rows.DrawSteps(device.steps);
  if (HasIterationRow(device)) rows.DrawIterations(device.iterations);
  if (!device.iterations.empty()) rows.DrawPhases(device.iterations);
  for (const TimeScale::Gap& gap : frame.scale.Gaps()) {
    if (!IsKnown(device, frame.scale.BucketsAt((gap.left + gap.right) / 2)))
      page.Fill(gap.left, frame.top, gap.right, rows.top() - kRow + kBand, theme.quiet);
  }
}

template void DrawBands(Canvas& page, const BandsFrame& frame, const Theme& theme, const DeviceCurve& device);
template void DrawBands(SvgPage& page, const BandsFrame& frame, const Theme& theme, const DeviceCurve& device);

}  // namespace memoir
