// For each line and category, the maximum: the most bytes that the line's blocks of this category had at one instant in
// the selection.
//
// If a line grows at a time other than the device's peak, the blocks that are live at the peak do not show this growth.
// The maximum shows it. Each category has a separate maximum. For example, a line that keeps a tensor in an evaluation
// may have more bytes in training, as an activation. A maximum over all categories would not show the kept tensor.
#ifndef TOOLS_ANALYZE_COMPARE_FACTS_LINE_PEAKS_H_
#define TOOLS_ANALYZE_COMPARE_FACTS_LINE_PEAKS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/grouping/source_lines.h"

namespace memoir {

struct LinePeak {
  SourceLine line;
  std::string category;
  std::uint64_t bytes = 0;
};

// A line whose maximum of a category differs between A and B, while the blocks that are live at the peaks do not show
// the difference.
struct LineBelowPeak {
  SourceLine source;  // B's line; A's if B lacks it
  std::string category;
  std::uint64_t a = 0, b = 0;
  std::int64_t difference() const { return static_cast<std::int64_t>(b) - static_cast<std::int64_t>(a); }
};

// Follows the lines of one device.
class LinePeaks {
 public:
  using Key = std::pair<Group, Group>;  // line and category

  // `counts`: true if the change lies in the selection.
  void Add(std::uint64_t address, Key key, std::uint64_t bytes, bool counts) {
    blocks_[address] = {key, bytes};
    const std::uint64_t now = live_[key] += bytes;
    if (!counts) return;
    std::uint64_t& most = most_[key];
    most = std::max(most, now);
  }
  void Remove(std::uint64_t address) {
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    live_[found->second.key] -= found->second.bytes;
    blocks_.erase(found);
  }
  const std::map<Key, std::uint64_t>& most() const { return most_; }

 private:
  struct LineBlock {
    Key key;
    std::uint64_t bytes = 0;
  };
  absl::flat_hash_map<std::uint64_t, LineBlock> blocks_;  // by address
  std::map<Key, std::uint64_t> live_, most_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_FACTS_LINE_PEAKS_H_
