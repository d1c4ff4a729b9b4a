// Lines of facts, each with its name in front, and as many of them as there is room for.
#ifndef TOOLS_VIEW_OOM_FACT_LINES_H_
#define TOOLS_VIEW_OOM_FACT_LINES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/view/terminal/terminal.h"

namespace memoir {

// Shown whole or not at all: half a sentence says something else.
struct Fact {
  std::string text;      // lines
  int leaves_first = 0;  // where there is no room for all of them: the least first; 0: never
};

// "why          FULL: ..." and the lines that it takes.
std::string FactLine(const Terminal& terminal, std::string_view name, Color color, const std::string& text);

std::string Together(const std::vector<Fact>& facts);

bool Fit(const std::vector<Fact>& facts, std::size_t lines);
// Those that fit into so many lines. `more`: the line that says where the rest is; it is one of them.
std::string Fitted(std::vector<Fact> facts, std::size_t lines, const std::string& more);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_FACT_LINES_H_
