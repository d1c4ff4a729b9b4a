// The live blocks at one instant: rows of a grouping, and the largest blocks. Needs two replays: the first finds the
// instant and the categories of all blocks, and the second collects the live blocks.
#ifndef TOOLS_ANALYZE_TIME_LIVE_BLOCK_TABLE_H_
#define TOOLS_ANALYZE_TIME_LIVE_BLOCK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct LiveRow {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  SourceLine source;  // GroupBy::kLine and kCategoryLine only
  // Lines of generated code that ran for the row's line and allocated its blocks; GroupBy::kLine and kCategoryLine
  // only.
  std::vector<GeneratedPlace> via;
};

struct LiveBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;
  std::uint64_t allocated_ns = 0;
  std::string thread;
  std::string operator_name;  // outermost operator; for compiled code its region; empty: no operator
  std::string leaf_name;      // innermost operator
  SourceLine line;            // line that allocated the block; in backward the forward operator's line
  std::string range_name;     // innermost user range
  std::string module;         // path, or the root if the path is empty; empty: no module
  std::string category;       // by Memoir's rules: "activation (recomputed)"
  // Name of a parameter, if the block holds this parameter, its gradient or its optimizer state. Otherwise empty.
  std::string parameter;
  bool before = false;  // true: allocated before the selection, or known only from a keyframe
};

struct LiveDevice {
  std::string name;
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: the process has no rank
  std::uint64_t ns = 0;               // the instant
  std::uint64_t live_bytes = 0;       // the sum of the rows
  std::uint64_t live_blocks = 0;
  std::vector<LiveRow> rows;  // largest first
  std::vector<LiveBlock> largest;
};

struct LiveBlockTable {
  GroupBy by = GroupBy::kOperator;
  std::vector<LiveDevice> devices;
  std::string missing;  // names information that the capture lacks; empty if it is complete
  ReplayReport report;
};

struct LiveBlockTableOptions : Selection {
  InstantChoice at;
  GroupBy by = GroupBy::kOperator;
  std::size_t largest = 20;  // number of blocks for each device
};

absl::StatusOr<LiveBlockTable> AnalyzeLiveBlockTable(const Capture& capture, const LiveBlockTableOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TIME_LIVE_BLOCK_TABLE_H_
