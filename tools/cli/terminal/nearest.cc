#include "tools/cli/terminal/nearest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

namespace memoir {
namespace {

// Returns the number of insertions, deletions, substitutions and swaps of neighbours between `a` and `b`.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({substitute, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

// Returns `word` in lower case, with "-" for "_", because these differences do not count.
std::string Folded(std::string_view word) {
  std::string folded(word);
  for (char& c : folded) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return folded;
}

}  // namespace

std::string NearestWord(std::string_view word, std::span<const std::string> known) {
  // A word of more than 64 letters is not a mistyped option, and computing its distance takes quadratic time.
  if (word.empty() || word.size() > 64) return "";
  const std::string folded = Folded(word);
  std::pair<std::size_t, std::string> best{std::max<std::size_t>(1, word.size() / 3) + 1, ""};
  for (const std::string& candidate : known) {
    const std::string folded_candidate = Folded(candidate);
    const bool begins = folded.size() >= 3 && folded_candidate.starts_with(folded);
    const std::size_t distance = begins ? 1 : EditDistance(folded, folded_candidate);
    if (distance < best.first) best = {distance, candidate};
  }
  return best.second;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> known) {
  const std::string nearest = NearestWord(word, known);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace memoir
