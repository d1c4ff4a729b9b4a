// Unusable bytes over time, of any length of time in a bounded number of points.
#ifndef TOOLS_ANALYZE_SEGMENTS_UNUSABLE_CURVE_H_
#define TOOLS_ANALYZE_SEGMENTS_UNUSABLE_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memoir {

struct CurvePoint {
  std::uint64_t ns = 0;  // begin of a span; the most unusable bytes in it, and what was reserved then
  std::uint64_t unusable = 0;
  std::uint64_t reserved = 0;
};

inline constexpr std::size_t kMostCurvePoints = 512;

// The most in each of equal spans, which double in length as time goes on.
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
  std::vector<CurvePoint> Take() { return std::move(points_); }

 private:
  void Halve() {
    span_ns_ *= 2;
    std::vector<CurvePoint> points = std::move(points_);
    points_.clear();
    for (const CurvePoint& point : points) {
      const std::uint64_t begin = first_ns_ + (point.ns - first_ns_) / span_ns_ * span_ns_;
      if (points_.empty() || points_.back().ns < begin) {
        points_.push_back({begin, point.unusable, point.reserved});
      } else if (point.unusable > points_.back().unusable) {
        points_.back() = {begin, point.unusable, point.reserved};
      }
    }
  }
  std::vector<CurvePoint> points_;
  std::uint64_t first_ns_ = 0;
  std::uint64_t span_ns_ = 1000;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SEGMENTS_UNUSABLE_CURVE_H_
