// Unusable bytes over time, in a bounded number of points for a recording of any length.
#ifndef TOOLS_ANALYZE_SEGMENTS_UNUSABLE_CURVE_H_
#define TOOLS_ANALYZE_SEGMENTS_UNUSABLE_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memoir {

struct UnusablePoint {
  std::uint64_t ns = 0;        // begin of a time span
  std::uint64_t unusable = 0;  // most unusable bytes in the span
  std::uint64_t reserved = 0;  // reserved bytes when `unusable` was reached
};

inline constexpr std::size_t kMostCurvePoints = 512;

// The maximum in each of several equal time spans. The length of the spans doubles when there are too many of them.
class UnusableCurve {
 public:
  void Add(std::uint64_t ns, std::uint64_t unusable, std::uint64_t reserved) {
    if (points_.empty()) first_ns_ = ns;
    if (ns < first_ns_) return;
    while ((ns - first_ns_) / span_ns_ >= kMostCurvePoints) Halve();
    const std::uint64_t begin = first_ns_ + (ns - first_ns_) / span_ns_ * span_ns_;
    if (points_.empty() || points_.back().ns < begin) {
      points_.push_back({begin, unusable, reserved});
    } else if (unusable > points_.back().unusable) {
      points_.back() = {points_.back().ns, unusable, reserved};
    }
  }
  std::vector<UnusablePoint> Take() { return std::move(points_); }

 private:
  void Halve() {
    span_ns_ *= 2;
    std::vector<UnusablePoint> points = std::move(points_);
    points_.clear();
    for (const UnusablePoint& point : points) {
      const std::uint64_t begin = first_ns_ + (point.ns - first_ns_) / span_ns_ * span_ns_;
      if (points_.empty() || points_.back().ns < begin) {
        points_.push_back({begin, point.unusable, point.reserved});
      } else if (point.unusable > points_.back().unusable) {
        points_.back() = {begin, point.unusable, point.reserved};
      }
    }
  }
  std::vector<UnusablePoint> points_;
  std::uint64_t first_ns_ = 0;
  std::uint64_t span_ns_ = 1000;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SEGMENTS_UNUSABLE_CURVE_H_
