#include "tools/view/oom/fact_lines.h"

#include <algorithm>

#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

std::size_t CountLines(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

}  // namespace

std::string FactLine(const Terminal& terminal, std::string_view name, Color color, const std::string& text) {
  constexpr std::size_t kIndent = 17;  // as in the facts of a summary
  return Painted(terminal, color, PaddedRight(name, kIndent)) + Wrapped(text, terminal.width, kIndent) + "\n";
}

std::string JoinFacts(const std::vector<OutOfMemoryFact>& facts) {
  std::string text;
  for (const OutOfMemoryFact& fact : facts) text += fact.text;
  return text;
}

bool FitsInLines(const std::vector<OutOfMemoryFact>& facts, std::size_t lines) {
  return CountLines(JoinFacts(facts)) <= lines;
}

std::string FitInLines(std::vector<OutOfMemoryFact> facts, std::size_t lines, const std::string& more) {
  if (FitsInLines(facts, lines)) return JoinFacts(facts);
  int last = 0;
  for (const OutOfMemoryFact& fact : facts) last = std::max(last, fact.leaves_first);
  for (int leaves = 1; leaves <= last && CountLines(JoinFacts(facts) + more) > lines; ++leaves)
    std::erase_if(facts, [&](const OutOfMemoryFact& fact) { return fact.leaves_first == leaves; });
  return JoinFacts(facts) + more;
}

}  // namespace memoir
