// The allocated memory of a device at one instant of a replay, by line of the program and category. If the device is
// full, the largest rows show where to look first.
#ifndef TOOLS_ANALYZE_OOM_LINE_HOLDINGS_H_
#define TOOLS_ANALYZE_OOM_LINE_HOLDINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/model/capture.h"

namespace memoir {

struct LineHolding {
  SourceLine line;            // not known(): no stack was recorded
  std::string operator_name;  // as in OperatorHolding(); empty if the line is known
  CategoryNumber category = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// Returns the rows, largest first. `lines` caches the stacks of the replay.
std::vector<LineHolding> HoldingsByLine(const ReplayState& state, DeviceId device, const BlockCategories& categories,
                                        SourceLines& lines);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_LINE_HOLDINGS_H_
