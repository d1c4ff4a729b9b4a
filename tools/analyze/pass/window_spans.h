// The stretches of time that a process's windows cover, in nanoseconds since the start of the capture.
#ifndef TOOLS_ANALYZE_PASS_WINDOW_SPANS_H_
#define TOOLS_ANALYZE_PASS_WINDOW_SPANS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memoir {

struct Span {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;  // still inside
  bool operator==(const Span&) const = default;
};

class WindowSpans {
 public:
  void Add(Span span) { spans_.push_back(span); }
  void Add(const WindowSpans& other) { spans_.insert(spans_.end(), other.spans_.begin(), other.spans_.end()); }
  void Clear() { spans_.clear(); }
  // Spans that touch or overlap become one. The functions below want it done.
  void Merge();

  const std::vector<Span>& spans() const { return spans_; }  // by time
  std::uint64_t total_ns() const;
  bool Contains(std::uint64_t ns) const;
  // The span whose begin or end is closest. There must be one.
  Span Nearest(std::uint64_t ns) const;

 private:
  std::vector<Span> spans_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_WINDOW_SPANS_H_
