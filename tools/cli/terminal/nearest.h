// Finds the known word that a mistyped one probably meant. It is only named in messages, never used.
#ifndef TOOLS_CLI_TERMINAL_NEAREST_H_
#define TOOLS_CLI_TERMINAL_NEAREST_H_

#include <span>
#include <string>
#include <string_view>

namespace memoir {

// Returns the word of `known` with the smallest edit distance to `word`. Empty if all differ in more than a third of
// the letters. A word that begins with `word` counts as near.
std::string NearestWord(std::string_view word, std::span<const std::string> known);

// "; did you mean X?" or "".
std::string DidYouMean(std::string_view word, std::span<const std::string> known);

}  // namespace memoir

#endif  // TOOLS_CLI_TERMINAL_NEAREST_H_
