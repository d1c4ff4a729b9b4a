// Named facts, such as "why  FULL: ...", and the choice of the facts that fit into a number of lines.
#ifndef TOOLS_VIEW_OOM_FACT_LINES_H_
#define TOOLS_VIEW_OOM_FACT_LINES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/view/terminal/terminal.h"

namespace memoir {

// A fact is shown completely or not at all, because half a sentence may have another meaning.
struct OutOfMemoryFact {
  std::string text;      // one or more whole lines
  int leaves_first = 0;  // facts with the smallest number are left out first if not all fit; 0: never left out
};

// Returns "why          FULL: ..." and its continuation lines.
std::string FactLine(const Terminal& terminal, std::string_view name, Color color, const std::string& text);

std::string JoinFacts(const std::vector<OutOfMemoryFact>& facts);

bool FitsInLines(const std::vector<OutOfMemoryFact>& facts, std::size_t lines);
// Returns all facts if they fit into `lines` lines. Otherwise omits facts until the remaining facts fit together with
// `more`, and appends `more`. `more` is a line that names the place of the omitted facts.
std::string FitInLines(std::vector<OutOfMemoryFact> facts, std::size_t lines, const std::string& more);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_FACT_LINES_H_
