// Matches the lines of two captures of a program, even if an edit has moved the lines.
//
// Two files match if they have the same path, or if the ends of their paths agree in more names than with any other
// file. The last two files without a match also match, as for a copy of the script under another name. Within a
// function of the same name in such a file, lines match in this order:
//
//     1. lines with the same operators in the same modules, if both sides have the same number of them: in their order,
//        at any place. Exception: the lines moved by different distances, and their bytes match in another order
//     2. remaining lines with a common operator, at the place that matched lines predict: moved as many lines as the
//        nearest matched line above (or below, if no matched line is above)
//     3. in a function without moved lines: lines with the same number
//     4. lines between the same two matched lines, in order, if both sides have the same number of them and each pair
//        has a common operator
//     5. the only two lines left, if they have a common operator that ran at no other line of the function
//
// All other lines do not match.
#ifndef TOOLS_ANALYZE_COMPARE_MATCH_LINE_MATCH_H_
#define TOOLS_ANALYZE_COMPARE_MATCH_LINE_MATCH_H_

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
  std::set<std::string> marks;  // a OperatorKeyOf() for each operator and module that allocated at the line
  std::uint64_t bytes = 0;      // allocated at the line in the capture
};
// Returns a text that identifies an operator in a module. The numbers of layers are replaced, so alike layers have the
// same marks.
std::string OperatorKeyOf(std::string_view maker, std::string_view module_path);

// Returns pairs of indices in `a` and `b`. Each index occurs at most once.
std::vector<std::pair<std::size_t, std::size_t>> MatchLines(absl::Span<const SeenLine> a, absl::Span<const SeenLine> b);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MATCH_LINE_MATCH_H_
