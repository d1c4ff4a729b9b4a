#include "tools/analyze/pass/window/window_spans.h"

#include <algorithm>

namespace memoir {
namespace {

std::uint64_t Distance(const TimeSpan& span, std::uint64_t ns) {
  if (ns < span.begin_ns) return span.begin_ns - ns;
  return ns > span.end_ns ? ns - span.end_ns : 0;
}

}  // namespace

void WindowSpans::Merge() {
  std::ranges::sort(spans_, {}, &TimeSpan::begin_ns);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < spans_.size(); ++i) {
    if (spans_[i].begin_ns <= spans_[kept].end_ns) {
      spans_[kept].end_ns = std::max(spans_[kept].end_ns, spans_[i].end_ns);
    } else {
      spans_[++kept] = spans_[i];
    }
  }
  if (!spans_.empty()) spans_.resize(kept + 1);
}

std::uint64_t WindowSpans::total_ns() const {
  std::uint64_t total = 0;
  for (const TimeSpan& span : spans_) total += span.end_ns - span.begin_ns;
  return total;
}

bool WindowSpans::Contains(std::uint64_t ns) const { return !spans_.empty() && Distance(Nearest(ns), ns) == 0; }

TimeSpan WindowSpans::Nearest(std::uint64_t ns) const {
  return *std::ranges::min_element(spans_, {}, [&](const TimeSpan& span) { return Distance(span, ns); });
}

}  // namespace memoir
