// Finds the time that a selection covers.
#ifndef TOOLS_ANALYZE_TIME_SELECTED_TIME_H_
#define TOOLS_ANALYZE_TIME_SELECTED_TIME_H_

#include <algorithm>
#include <cstdint>

#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

// Finds the begin of the first window and the end of the last window over all processes.
class SelectedTime : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;

  std::uint64_t begin_ns() const { return begin_ns_; }
  std::uint64_t end_ns() const { return end_ns_; }
  // Moves the begin so that at most the share `most` of the time lies before the first segment of a caching allocator.
  // Returns the time that this leaves out. 0 if there is no segment.
  std::uint64_t LeaveOutStartUp(double most) {
    if (most >= 1 || first_segment_ns_ >= end_ns_) return 0;
    const auto before =
        static_cast<std::uint64_t>(static_cast<double>(end_ns_ - first_segment_ns_) * most / (1 - most));
    const std::uint64_t was = begin_ns_;
    begin_ns_ = std::max(was, first_segment_ns_ - std::min(first_segment_ns_, before));
    return begin_ns_ - was;
  }

 protected:
  void SeeSegment(const SegmentEvent& event) override {
    first_segment_ns_ = std::min(first_segment_ns_, Nanoseconds(event));
  }
  void SeeWindowOpen(const Event& event) override { begin_ns_ = std::min(begin_ns_, Nanoseconds(event)); }
  void SeeWindowClose(const Event& event) override { end_ns_ = std::max(end_ns_, Nanoseconds(event)); }

 private:
  std::uint64_t begin_ns_ = ~std::uint64_t{0}, end_ns_ = 0;
  std::uint64_t first_segment_ns_ = ~std::uint64_t{0};
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TIME_SELECTED_TIME_H_
