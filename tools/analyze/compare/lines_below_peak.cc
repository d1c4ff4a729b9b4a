#include "tools/analyze/compare/lines_below_peak.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace memoir {

std::vector<LineBelowPeak> LinesBelowPeak(const HeldDevice& a, const HeldDevice& b,
                                          const std::vector<MatchedPart>& parts, const MatchedNames& names) {
  using Key = std::pair<std::string, std::string>;  // line and category
  std::map<Key, LineBelowPeak> lines;
  for (const LinePeak& peak : a.line_peaks) {
    LineBelowPeak& line = lines[{names.LineKeyOf(ToString(peak.line)), peak.category}];
    line.source = peak.line;
    line.category = peak.category;
    line.a += peak.bytes;
  }
  for (const LinePeak& peak : b.line_peaks) {
    LineBelowPeak& line = lines[{ToString(peak.line), peak.category}];
    line.source = peak.line;
    line.category = peak.category;
    line.b += peak.bytes;
  }
  std::map<Key, std::int64_t> at_peak;
  for (const MatchedPart& part : parts) at_peak[{part.line_key, part.category}] += part.difference();
  const auto least = static_cast<std::int64_t>(std::max(a.bytes, b.bytes) / 100);
  std::vector<LineBelowPeak> below;
  for (const auto& [key, line] : lines) {
    const std::int64_t more = line.difference();
    const std::int64_t shown = at_peak[key];
    const bool is_shown = (shown > 0) == (more > 0) && 2 * std::abs(shown) >= std::abs(more);
    if (std::abs(more) > least && !is_shown) below.push_back(line);
  }
  std::ranges::stable_sort(below, std::greater(),
                           [](const LineBelowPeak& line) { return std::abs(line.difference()); });
  return below;
}

}  // namespace memoir
