// Which lines of two recordings are the same line of the program, also where an edit has moved them.
//
// Files match by their path, else by as much of its end as one pair alone has in common. Inside a function of such a
// file, whose name is the same, in this order:
//
//     1. lines at which the same operators ran in the same modules, where as many lines on each side have just those:
//        the same in their order, wherever they stand; but for lines that did not move together, where the bytes that
//        were allocated at them say otherwise
//     2. of what is left, lines with an operator in common that stand where the lines matched so far say: as many lines
//        moved as the nearest one above (where there is none, below)
//     3. in a function in which no line has moved: lines of the same number
//     4. between the same matched lines as many lines on each side that each have an operator in common: in their order
//     5. the only two lines left, where they have an operator in common that ran at no other line of the function
//
// All else is not the same: nothing is guessed.
#ifndef TOOLS_ANALYZE_COMPARE_LINE_MATCH_H_
#define TOOLS_ANALYZE_COMPARE_LINE_MATCH_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tools/analyze/grouping/source_lines.h"

namespace memoir {

struct SeenLine {
  SourceLine line;
  std::set<std::string> marks;  // MarkOf what allocated there
  std::uint64_t bytes = 0;      // allocated there in the recording
};
std::string MarkOf(std::string_view maker, std::string_view module_path);

// Numbers of lines in `a` and in `b`; each at most once.
std::vector<std::pair<std::size_t, std::size_t>> MatchLines(absl::Span<const SeenLine> a, absl::Span<const SeenLine> b);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_LINE_MATCH_H_
