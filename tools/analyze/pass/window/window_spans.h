// The windows of a process, that is, its time spans that the selection covers, in nanoseconds since the start of the
// capture.
#ifndef TOOLS_ANALYZE_PASS_WINDOW_WINDOW_SPANS_H_
#define TOOLS_ANALYZE_PASS_WINDOW_WINDOW_SPANS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memoir {

struct TimeSpan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;  // inclusive
  bool operator==(const TimeSpan&) const = default;
};

class WindowSpans {
 public:
  void Add(TimeSpan span) { spans_.push_back(span); }
  void Add(const WindowSpans& other) { spans_.insert(spans_.end(), other.spans_.begin(), other.spans_.end()); }
  void Clear() { spans_.clear(); }
  // Merges spans that touch or overlap. Call it before the functions below.
  void Merge();

  const std::vector<TimeSpan>& spans() const { return spans_; }  // by time
  std::uint64_t total_ns() const;
  bool Contains(std::uint64_t ns) const;
  // Returns the span that contains `ns` or is closest to it. There must be a span.
  TimeSpan Nearest(std::uint64_t ns) const;

 private:
  std::vector<TimeSpan> spans_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_WINDOW_WINDOW_SPANS_H_
