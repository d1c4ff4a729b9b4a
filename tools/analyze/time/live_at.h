// What is live at one instant: rows of a grouping, and the largest blocks. Two passes when the instant is the peak.
#ifndef TOOLS_ANALYZE_TIME_LIVE_AT_H_
#define TOOLS_ANALYZE_TIME_LIVE_AT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/at.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct LiveRow {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  SourceLine source;  // GroupBy::kLine and kCategoryLine only
  std::vector<GeneratedPlace> via;  // likewise: code that a compiler generated for it, which allocated
};

struct LiveBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;
  std::uint64_t allocated_ns = 0;
  std::string thread;
  std::string operator_name;  // "" outside of any; of compiled code its region
  std::string leaf_name;
  SourceLine line;         // that made it, of a backward node that its forward operator is of
  std::string range_name;  // innermost user range
  std::string module;      // path, or the root where that is empty; "": of none
  std::string category;    // by Memoir's rules: "activation (recomputed)"
  std::string parameter;   // that it is, or whose gradient or optimizer's state; "": of none
  bool before = false;     // from before the window, or from a keyframe
};

struct LiveDevice {
  std::string name;
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: of no rank
  std::uint64_t ns = 0;               // the instant
  std::uint64_t live_bytes = 0;       // == sum of rows
  std::uint64_t live_blocks = 0;
  std::vector<LiveRow> rows;  // largest first
  std::vector<LiveBlock> largest;
};

struct LiveAt {
  GroupBy by = GroupBy::kOperator;
  std::vector<LiveDevice> devices;
  std::string missing;  // as Summary's
  ReplayReport report;
};

struct LiveAtOptions : Selection {
  At at;
  GroupBy by = GroupBy::kOperator;
  std::size_t largest = 20;  // blocks per device
};

absl::StatusOr<LiveAt> AnalyzeLiveAt(const Capture& capture, const LiveAtOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TIME_LIVE_AT_H_
