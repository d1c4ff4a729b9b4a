#include "tools/view/oom/fact_lines.h"

#include <algorithm>

#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

std::size_t CountLines(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

}  // namespace

std::string FactLine(const Terminal& terminal, std::string_view name, Color color, const std::string& text) {
  constexpr std::size_t kIndent = 17;  // as the facts of a summary
  return Painted(terminal, color, PaddedRight(name, kIndent)) + Wrapped(text, terminal.width, kIndent) + "\n";
}

std::string Together(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) text += fact.text;
  return text;
}

bool Fit(const std::vector<Fact>& facts, std::size_t lines) { return CountLines(Together(facts)) <= lines; }

std::string Fitted(std::vector<Fact> facts, std::size_t lines, const std::string& more) {
  if (Fit(facts, lines)) return Together(facts);
  int last = 0;
  for (const Fact& fact : facts) last = std::max(last, fact.leaves_first);
  for (int leaves = 1; leaves <= last && CountLines(Together(facts) + more) > lines; ++leaves)
    std::erase_if(facts, [&](const Fact& fact) { return fact.leaves_first == leaves; });
  return Together(facts) + more;
}

}  // namespace memoir
