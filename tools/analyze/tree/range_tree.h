// Ranges merged by their path of names, over all threads, with what was allocated under each.
#ifndef TOOLS_ANALYZE_TREE_RANGE_TREE_H_
#define TOOLS_ANALYZE_TREE_RANGE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct RangeNode {
  enum class Kind : std::uint8_t { kRoot, kNamed, kOther, kDeeper };  // kOther: what the width cut off, kDeeper: depth
  std::string name;                                                   // kNamed only
  Kind kind = Kind::kNamed;
  std::uint64_t others = 0;  // kOther: how many siblings it stands for; kDeeper: how many ranges inside its parent
  RangeSource source = RangeSource::kFunction;
  std::uint32_t depth = 0;   // 0: the root
  std::uint32_t parent = 0;  // index; the root is its own
  std::uint64_t calls = 0;
  std::uint64_t self_allocations = 0;  // with this range innermost; kOther, kDeeper: at or under it
  std::uint64_t self_bytes = 0;
  std::uint64_t self_net_bytes = 0;   // of these, live at the end of the window
  std::uint64_t allocated_bytes = 0;  // at or under it
  std::uint64_t net_bytes = 0;
  std::uint64_t total_ns = 0;           // time in it, summed over calls
  std::vector<std::uint32_t> children;  // most allocated bytes first
};

struct RangeTree {
  std::vector<RangeNode> nodes;  // [0] is the root: its allocated_bytes is the window's total
  ReplayReport report;
};

struct RangeTreeOptions : Selection {
  static constexpr std::uint32_t kMostDepth = 1000;  // nodes are shown by recursion
  // Levels that are shown, and what is deeper in one row; 0: all. Of a window that a range opens the first is that
  // range: those around it do not count.
  std::uint32_t depth = 6;
  std::size_t width = 10;  // children per node; the rest become one
};

absl::StatusOr<RangeTree> AnalyzeRangeTree(const Capture& capture, const RangeTreeOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_RANGE_TREE_H_
