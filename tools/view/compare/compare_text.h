// Prints the comparison of two captures: the main cause first, then other differences of the captures, then the rows.
#ifndef TOOLS_VIEW_COMPARE_COMPARE_TEXT_H_
#define TOOLS_VIEW_COMPARE_COMPARE_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/compare/comparison.h"
#include "tools/model/capture.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

struct CompareTextOptions {
  std::size_t top = 10;  // rows of a table; 0: all, with equal layers in separate rows
  std::string at;        // the instant in words: "the peak", "the end", "mark:a", "1.5s"
  std::string chosen;    // the result of ChosenBlocksLine(); empty if all blocks are selected
  std::string more;      // a command that shows more
};

std::string RenderComparison(const Capture& a, const Capture& b, const Comparison& comparison,
                             const CompareTextOptions& options, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_COMPARE_COMPARE_TEXT_H_
